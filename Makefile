# Ptah: build, test and try. `make help` lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

export CGO_ENABLED := 0
export GOTOOLCHAIN := local
# One set of build flags for everything, so that binaries, images and tests share the build cache.
export GOFLAGS := -trimpath -buildvcs=false

VERSION  ?= 0.1.0
REVISION ?= $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
TOOLS    := go tool -modfile=hack/tools/go.mod
CLUSTER_TOOL := bin/ptah-cluster

.PHONY: help
help: ## Show this help
	@awk 'BEGIN {FS = ":.*## "; print "Ptah: PostgreSQL schemas from OCI artifacts, converged on Kubernetes.\n"} /^[a-z-]+:.*## / {printf "  \033[1m%-16s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: build cluster-up images ## Run the main job on a local real cluster and tell what it does
	go build -o bin/demo ./test/demo
	$(CLUSTER_TOOL) exec -- $(CURDIR)/bin/demo

.PHONY: test
test: cluster-up test-unit sim test-cluster test-release test-e2e ## Run every test, from unit tests to the product on a real cluster

.PHONY: verify
verify: generate fmt lint lint-rules ## Regenerate, format and lint, then demand a clean tree
	go vet ./...
	@git diff --exit-code --stat || { echo "verify: generated or formatted files are out of date; commit what changed above" >&2; exit 1; }

PLATFORM := $(shell go env GOOS)_$(shell go env GOARCH)

.PHONY: build
build: ## Build bin/{manager,executor,kubectl-ptah} and the completion helper
	go build -o bin/ptah-images ./hack/images
	bin/ptah-images --binaries-only --platform $(subst _,/,$(PLATFORM)) --version '$(VERSION)' --revision '$(REVISION)'
	for name in manager executor kubectl-ptah; do ln -sf $(PLATFORM)/$$name bin/$$name; done
	ln -sf kubectl-ptah bin/kubectl_complete-ptah

.PHONY: images
images: build cluster-tool ## Assemble the OCI images without Docker, push them to the local registry, print digests
	eval "$$($(CLUSTER_TOOL) env)"; bin/ptah-images --registry "$$PTAH_REGISTRY_HOST/ptah" --version '$(VERSION)' --revision '$(REVISION)' --output json bin/images.json

.PHONY: generate
generate: ## Regenerate deep copies, CRDs and the reference pages
	go generate ./...

.PHONY: fmt
fmt: bin/golangci-lint ## Format the code (gofumpt, gci)
	bin/golangci-lint fmt ./...

.PHONY: lint
lint: bin/golangci-lint ## Lint the code
	bin/golangci-lint run ./...

.PHONY: lint-rules
lint-rules: bin/golangci-lint ## Prove that every import rule fires on its bad fixture
	GOLANGCI_LINT=$(CURDIR)/bin/golangci-lint go test -count=1 ./hack/lint

bin/golangci-lint: hack/tools/go.mod
	go build -modfile=hack/tools/go.mod -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

# Vet runs with the linter, once, and not again in front of every test.
GOTEST := $(CURDIR)/bin/gotestsum --format pkgname-and-test-fails --hide-summary=skipped

bin/gotestsum: hack/tools/go.mod
	go build -modfile=hack/tools/go.mod -o $@ gotest.tools/gotestsum

.PHONY: test-unit
test-unit: bin/gotestsum cluster-build ## Unit tests, and tests against a real API server and a real PostgreSQL
	@mkdir -p bin/reports
	KUBEBUILDER_ASSETS="$$($(CLUSTER_TOOL) assets)" $(GOTEST) --jsonfile bin/reports/unit.json -- -vet=off -p 2 -timeout 45m $$(go list ./... | grep -v -e /test/e2e -e /test/bench)

.PHONY: sim
sim: ## Walk every interleaving of the operation lifecycle within a bound, and catch every deliberate bug in it
	go run ./test/sim/check -states 3000000 -mutants $(SIM_FLAGS)

# How many pairs of schemas the long run draws for each engine.
ENGINE_PAIRS := 2000

.PHONY: test-engine
test-engine: bin/gotestsum ## The engine on PostgreSQL 14 to 18 and on MariaDB, with 2,000 generated pairs of schemas on PostgreSQL 18 and on MariaDB (hours)
	@mkdir -p bin/reports
	@command -v pgbouncer >/dev/null || echo "test-engine: without PgBouncer the tests of poolers are skipped and the generated pairs take twice as long" >&2
	@rm -f bin/reports/pairs.txt
	go build -o bin/ptah-postgres ./hack/postgres
	export PTAH_TEST_TALLY=$(CURDIR)/bin/reports/pairs.txt; failed=0; \
	for major in 18 17 16 15 14; do \
		pairs=100; [ $$major != 18 ] || pairs=$(ENGINE_PAIRS); \
		PTAH_TEST_PG_BIN="$$(bin/ptah-postgres $$major)" PTAH_TEST_PAIRS=$$pairs $(GOTEST) --jsonfile bin/reports/engine-$$major.json -- -vet=off -count=1 -timeout 240m \
			$$(go list ./pkg/engine/... | grep -v internal/mysql) || failed=1; \
	done; \
	PTAH_TEST_MYSQL_PAIRS=$(ENGINE_PAIRS) $(GOTEST) --jsonfile bin/reports/engine-mariadb.json -- -vet=off -count=1 -timeout 240m ./pkg/engine/internal/mysql || failed=1; \
	cat bin/reports/pairs.txt; exit $$failed

.PHONY: test-cases
test-cases: ## Schemas of real projects the whole way, on PostgreSQL 15 and 18 and MariaDB; PTAH_TEST_CASES is the directory that holds them
	@[ -d "$$PTAH_TEST_CASES" ] || { echo "test-cases: point PTAH_TEST_CASES at a directory of real schemas" >&2; exit 1; }
	go build -o bin/ptah-postgres ./hack/postgres
	for major in 15 18; do PTAH_TEST_PG_BIN="$$(bin/ptah-postgres $$major)" go test -vet=off -count=1 -v -timeout 120m $(CASES_FLAGS) ./pkg/engine/cases; done

.PHONY: test-cluster
test-cluster: bin/gotestsum cluster-build ## Tests of the local cluster itself
	@mkdir -p bin/reports
	cd test/cluster && $(GOTEST) --jsonfile $(CURDIR)/bin/reports/cluster.json -- -vet=off -timeout 30m ./...

RELEASE_TOOLS := bin/krew bin/validate-krew-manifest bin/cyclonedx-gomod

bin/krew bin/validate-krew-manifest: hack/release/tools/go.mod
	go build -modfile=hack/release/tools/go.mod -o $@ sigs.k8s.io/krew/cmd/$(@F)

bin/cyclonedx-gomod: hack/release/tools/go.mod
	go build -modfile=hack/release/tools/go.mod -o $@ github.com/CycloneDX/cyclonedx-gomod/cmd/$(@F)

.PHONY: test-release
test-release: bin/gotestsum $(RELEASE_TOOLS) ## Pack the plugin, check the krew manifest, install it with krew; have Prometheus judge the alerting rules
	@mkdir -p bin/reports
	cd hack/alerts && $(GOTEST) --jsonfile $(CURDIR)/bin/reports/alerts.json -- -vet=off -count=1 ./...
	PTAH_RELEASE_TOOLS=$(CURDIR)/bin $(GOTEST) --jsonfile bin/reports/release.json -- -vet=off -count=1 -run Krew ./hack/release

.PHONY: release
release: $(RELEASE_TOOLS) ## Archives of the plugin for six platforms, SBOMs, SHA256SUMS and the krew manifest, in bin/release
	go run ./hack/release -version '$(VERSION)' -revision '$(REVISION)'

.PHONY: test-images
test-images: build cluster-tool ## Images that only the end-to-end tests use: a manager that dies where it is told to, an executor that lies
	eval "$$($(CLUSTER_TOOL) env)"; bin/ptah-images --only manager-failpoints,executor-idle --registry "$$PTAH_REGISTRY_HOST/ptah" --version '$(VERSION)' --revision '$(REVISION)' --output json bin/images-test.json

.PHONY: test-e2e
test-e2e: bin/gotestsum build cluster-up images test-images ## The product on the real cluster
	@mkdir -p bin/reports
	@command -v jq >/dev/null || { echo "installing jq, which the contract's own commands need"; apt-get update -q >/dev/null && apt-get install -yq --no-install-recommends jq >/dev/null; }
	go test -vet=off -c -o bin/e2e.test ./test/e2e
	$(GOTEST) --jsonfile bin/reports/e2e.json --raw-command -- go tool test2json -t -p github.com/ptah-run/ptah/test/e2e $(CLUSTER_TOOL) exec -- $(CURDIR)/bin/e2e.test -test.v=test2json -test.timeout 60m -test.parallel 4 -test.skip '$(LIFECYCLE)'

# The product under every attack on the real cluster: a quarter of an hour and more, because uncertain runs are waited out. pkg/controller and
# test/sim do the same against a bare API server and in the model in every run.
LIFECYCLE := ^Test(ManagerKilledAtEveryWriteOfAnApply|ApplyJobDeleted|ApplyPod|Lease|ExecutorThatDoesNothing|TwoSchemasOnOneRealm|SuspendedDuring|DeletedDuring)

.PHONY: test-lifecycle
test-lifecycle: build cluster-up images test-images ## An Apply under attack on the real cluster: Job, Pod, network, Lease, realm, suspension, deletion, manager, executor (half an hour)
	go test -vet=off -c -o bin/e2e.test ./test/e2e
	$(CLUSTER_TOOL) exec -- $(CURDIR)/bin/e2e.test -test.v -test.timeout 60m -test.parallel 4 -test.run '$(LIFECYCLE)'

.PHONY: bench
bench: build cluster-up images bench-next bench-plugin bench-engine bench-lifecycle ## Benchmarks: cold start, memory, requests, Leases; the plugin against kubectl and jq
	go build -o bin/bench ./test/bench/coldstart
	$(CLUSTER_TOOL) exec -- $(CURDIR)/bin/bench

.PHONY: bench-next
bench-next: ## One decision of the lifecycle, by itself and with the schema family, against encoding the resource once
	go test -vet=off -run '^$$' -bench Next -benchtime 2000x ./test/sim ./test/sim/lifecycle

.PHONY: bench-plugin
bench-plugin: build cluster-build ## The plugin against the contract's own kubectl and jq pipelines, on one API server
	go build -o bin/measure ./test/bench/measure
	go build -o bin/bench-plugin ./test/bench/plugin
	KUBEBUILDER_ASSETS="$$($(CLUSTER_TOOL) assets)" bin/bench-plugin

.PHONY: bench-engine
bench-engine: ## The engine beside a well-known library on a database of 2,000 tables: time and memory (3 minutes)
	go build -o bin/measure ./test/bench/measure
	go build -C test/bench/engine -o $(CURDIR)/bin/bench-engine .
	bin/bench-engine

.PHONY: bench-probes
bench-probes: ## What the engine and a well-known library make of single differences on real servers; writes docs/reference/engine-probes.md (10 minutes)
	go build -o bin/ptah-postgres ./hack/postgres
	go build -C test/bench/engine -o $(CURDIR)/bin/bench-probes ./probes
	PATH="$$(bin/ptah-postgres 18):$$PATH" bin/bench-probes -o docs/reference/engine-probes.md

.PHONY: bench-lifecycle
bench-lifecycle: build cluster-build ## 500 schemas on a real API server: cold start against bare Jobs, memory, requests, how late Leases are renewed (20 minutes)
	go build -o bin/bench-lifecycle ./test/bench/lifecycle
	KUBEBUILDER_ASSETS="$$($(CLUSTER_TOOL) assets)" bin/bench-lifecycle

.PHONY: cluster-tool
cluster-tool:
	go build -C test/cluster -o $(CURDIR)/$(CLUSTER_TOOL) ./cmd/ptah-cluster

.PHONY: cluster-build
cluster-build: cluster-tool ## Build the Kubernetes binaries into the cache (15 to 25 minutes the first time on 2 cores)
	$(CLUSTER_TOOL) build

.PHONY: cluster-up
cluster-up: cluster-tool ## Start a real single-node Kubernetes and a throw-away PostgreSQL, in namespaces of their own
	$(CLUSTER_TOOL) up
	$(CLUSTER_TOOL) postgres up --log-statement all >/dev/null

.PHONY: cluster-down
cluster-down: cluster-tool ## Stop it and leave nothing behind
	$(CLUSTER_TOOL) down
