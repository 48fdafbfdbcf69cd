package main

// The contract's own pipelines, which the plugin replaces.

const stalledRecipe = `kubectl get ptahschemas,ptahmigrations -A -o custom-columns=\
KIND:.kind,NS:.metadata.namespace,NAME:.metadata.name,\
PHASE:.status.phase,READY:'.status.conditions[?(@.type=="Ready")].status',\
NEXT:.status.nextReconciliationTime`

const chunkRecipe = `NS=` + largeNamespace + `
PLAN=$(kubectl -n "$NS" get ptahschema ` + largeName + ` -o jsonpath='{.status.plan.name}')
work=$(mktemp -d); cd "$work"
kubectl -n "$NS" get ptahschemaplan "$PLAN" -o json > "$PLAN.plan.json"
jq -r '.spec.chunks | sort_by(.index)[] | "\(.name) \(.key)"' "$PLAN.plan.json" |
  while read -r chunk key; do
    kubectl -n "$NS" get configmap "$chunk" -o json |
      jq -r --arg key "$key" '.binaryData[$key]' | base64 -d
  done > "$PLAN.sql"
printf 'exported sha256:%s\n' "$(sha256sum "$PLAN.sql" | cut -d' ' -f1)"
jq -r '"recorded  " + .spec.contentDigest' "$PLAN.plan.json"
rm -r "$work"`

const pinnedRecipe = `work=$(mktemp -d); cd "$work"
kubectl get ptahschemas,ptahmigrations -A -o json |
  jq -r '.items[] | .status as $s |
    ($s.plan.name // empty),
    ($s.pendingObservation.plan.name // empty),
    ($s.applied.planRef.name // empty),
    ($s.activeOperation.planRef.name // empty),
    ($s.unresolvedRun.planRef.name // empty)' |
  sort -u > pinned.txt
kubectl get ptahschemaapprovals,ptahmigrationapprovals -A \
  -o jsonpath='{range .items[*]}{.spec.planRef.name}{"\n"}{end}' |
  sort -u >> pinned.txt
kubectl get ptahschemaplans,ptahmigrationplans -A -o jsonpath='{range .items[*]}{.metadata.name}{"\n"}{end}' | sort -u | comm -23 - <(sort -u pinned.txt) | wc -l
rm -r "$work"`
