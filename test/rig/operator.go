package rig

import (
	"context"
	"fmt"
	"strings"
	"text/template"
	"time"
)

// Operator is where and how the chart is installed.
const (
	OperatorNamespace = "ptah-system"
	OperatorRelease   = "ptah"
)

// InstallOperator installs or upgrades the chart with the images of this build and waits until both readings that prove an
// installation hold: six established CRDs and an available Deployment.
func (r *Rig) InstallOperator(ctx context.Context, extra ...string) error {
	manager, imageDigest, ok := strings.Cut(r.Images["manager"], "@")
	if !ok {
		return fmt.Errorf("installing the operator: the image list holds no digest-pinned manager image")
	}
	args := []string{
		"upgrade", "--install", OperatorRelease, "charts/ptah-operator", "--namespace", OperatorNamespace, "--create-namespace",
		"--set", "image.repository=" + manager, "--set", "image.digest=" + imageDigest,
		"--set", "execution.runnerImage=" + r.Images["manager"], "--set", "execution.executorImage=" + r.Images["executor"],
		"--set", "execution.ptahVersion=0.1.0", "--wait", "--timeout", "3m",
	}
	if _, err := r.Must(ctx, "", "helm", append(args, extra...)...); err != nil {
		return err
	}
	_, err := r.Must(ctx, "", "kubectl", "wait", "--for=condition=Established", "--timeout=60s", "crd",
		"ptahschemas.operator.ptah.run", "ptahschemaplans.operator.ptah.run", "ptahschemaapprovals.operator.ptah.run",
		"ptahmigrations.operator.ptah.run", "ptahmigrationplans.operator.ptah.run", "ptahmigrationapprovals.operator.ptah.run")
	return err
}

// Schema is one PtahSchema with what it needs around it: a namespace, a Secret with the URL and an immutable policy.
type Schema struct {
	Namespace, Name, Reference, URL, Interval, Apply string
	// Engine is PostgreSQL unless said; SecretName is the schema's own Secret unless said, and then the caller makes it.
	Engine, SecretName string
	// RegistrySecret makes the registry access authenticated.
	RegistrySecret string
	// CoordinationKey is NAMESPACE/NAME unless said.
	CoordinationKey string
	// Policy is YAML inside of spec.policy's braces, beginning with a comma; Extra is YAML appended to the spec, indented by two.
	Policy, Extra    string
	AllowDestructive bool
	SharedRealm      bool
}

var schemaManifest = template.Must(template.New("schema").Parse(`apiVersion: v1
kind: Namespace
metadata: {name: {{.Namespace}}}
{{if .OwnSecret}}---
apiVersion: v1
kind: Secret
metadata: {name: {{.Name}}-database, namespace: {{.Namespace}}}
stringData: {url: "{{.URL}}"}
{{end}}---
apiVersion: v1
kind: ConfigMap
metadata: {name: schema-policy, namespace: {{.Namespace}}}
immutable: true
data:
  policy.yaml: |
    version: 1
    artifact_types: [application/vnd.stokaro.ptah.schema.v1]
---
apiVersion: operator.ptah.run/v1alpha1
kind: PtahSchema
metadata: {name: {{.Name}}, namespace: {{.Namespace}}}
spec:
  target:
    engine: {{.Engine}}
    coordinationKey: {{.CoordinationKey}}
{{if .SharedRealm}}    sharedRealm: true
{{end}}    urlFrom: {name: {{.SecretName}}, key: url}
  desired:
    ociRef: {{.Reference}}
    transport: {plainHTTP: true}
{{if .RegistrySecret}}    registryAuthFrom: {name: {{.RegistrySecret}}}
{{end}}    verificationPolicyFrom: {name: schema-policy, key: policy.yaml}
  interval: {{.Interval}}
  policy: {apply: {{.Apply}}, allowDestructive: {{.AllowDestructive}}{{.Policy}}}
{{.Extra}}`))

// OwnSecret says that the manifest carries the Secret.
func (s Schema) OwnSecret() bool { return s.SecretName == s.Name+"-database" }

// Manifest is the YAML that ApplySchema sends.
func (s Schema) Manifest() (string, error) {
	if s.Interval == "" {
		s.Interval = "10m"
	}
	if s.Apply == "" {
		s.Apply = "OnApproval"
	}
	if s.Engine == "" {
		s.Engine = "PostgreSQL"
	}
	if s.SecretName == "" {
		s.SecretName = s.Name + "-database"
	}
	if s.CoordinationKey == "" {
		s.CoordinationKey = s.Namespace + "/" + s.Name
	}
	var b strings.Builder
	if err := schemaManifest.Execute(&b, s); err != nil {
		return "", fmt.Errorf("writing the manifest of %s/%s: %w", s.Namespace, s.Name, err)
	}
	return b.String(), nil
}

// ApplySchema creates or updates the schema and its surroundings.
func (r *Rig) ApplySchema(ctx context.Context, s Schema) error {
	manifest, err := s.Manifest()
	if err != nil {
		return err
	}
	_, err = r.Must(ctx, manifest, "kubectl", "apply", "-f", "-")
	return err
}

// PushSchema publishes SQL files for PostgreSQL and returns the digest-pinned reference.
func (r *Rig) PushSchema(ctx context.Context, repository string, files ...string) (string, error) {
	return r.PushSchemaOn(ctx, r.DatabaseURL("postgres"), repository, files...)
}

// PushSchemaOn publishes SQL files that the server at devURL reads, and returns the digest-pinned reference.
func (r *Rig) PushSchemaOn(ctx context.Context, devURL, repository string, files ...string) (string, error) {
	args := append([]string{"push", "schema"}, files...)
	out, err := r.Must(ctx, "", "env", append([]string{"PTAH_DEV_URL=" + devURL, r.Bin + "/kubectl-ptah"},
		append(args, "oci://"+r.Registry+"/"+repository, "--plain-http")...)...)
	return strings.TrimSpace(out), err
}

// Field reads one jsonpath of an object; an absent field is "".
func (r *Rig) Field(ctx context.Context, namespace, kind, name, path string) (string, error) {
	return r.Must(ctx, "", "kubectl", "get", "-n", namespace, kind, name, "-o", "jsonpath={"+path+"}")
}

// WaitField polls until the field has the value, and returns the last value seen when time runs out.
func (r *Rig) WaitField(ctx context.Context, namespace, kind, name, path, want string, timeout time.Duration, tick func(seen string)) error {
	deadline := time.Now().Add(timeout)
	for {
		seen, err := r.Field(ctx, namespace, kind, name, path)
		if err == nil && seen == want {
			return nil
		}
		if time.Now().After(deadline) {
			if err == nil {
				err = context.DeadlineExceeded
			}
			return fmt.Errorf("waiting for %s %s/%s: %s is %q after %s, wanted %q (%w)", kind, namespace, name, path, seen, timeout, want, err)
		}
		if tick != nil {
			tick(seen)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// WaitWords polls until the field holds every word, and returns its text.
func (r *Rig) WaitWords(ctx context.Context, namespace, kind, name, path string, words []string, timeout time.Duration) (string, error) {
	deadline := time.Now().Add(timeout)
	for {
		seen, err := r.Field(ctx, namespace, kind, name, path)
		if err == nil && holdsAll(seen, words) {
			return seen, nil
		}
		if time.Now().After(deadline) {
			if err == nil {
				err = context.DeadlineExceeded
			}
			return seen, fmt.Errorf("waiting for %s %s/%s: %s is %q after %s, wanted the words %q (%w)", kind, namespace, name, path, seen, timeout, words, err)
		}
		time.Sleep(300 * time.Millisecond)
	}
}

func holdsAll(text string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// DeleteNamespace deletes a namespace and waits until it is gone.
func (r *Rig) DeleteNamespace(ctx context.Context, name string) error {
	_, err := r.Must(ctx, "", "kubectl", "delete", "namespace", name, "--ignore-not-found", "--timeout=120s")
	return err
}

// ManagerAccount is the name of the manager's ServiceAccount.
func (r *Rig) ManagerAccount(ctx context.Context) string {
	out, err := r.Must(ctx, "", "kubectl", "get", "deployment", "-n", OperatorNamespace, "-l", "app.kubernetes.io/component=controller", "-o", "jsonpath={.items[0].spec.template.spec.serviceAccountName}")
	if err != nil {
		return ""
	}
	return out
}
