package plan

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/digest"
)

// Publication is a plan as it is stored: the object, not yet Ready, and the immutable ConfigMaps with its bytes, in order.
type Publication struct {
	Plan   *v1alpha1.PtahSchemaPlan
	Chunks []*corev1.ConfigMap
}

// Publish builds the objects of a plan from the exact bytes that were planned. The states' fingerprints come from the document; giving
// others in bindings is an error, and so is any other binding that is missing. Same inputs give the same objects.
func Publish(schema *v1alpha1.PtahSchema, data []byte, bindings v1alpha1.SchemaPlanBindings) (Publication, error) {
	spec, err := Spec(schema, data, bindings)
	if err != nil {
		return Publication{}, err
	}
	name, err := SchemaPlanName(spec.Fingerprint)
	if err != nil {
		return Publication{}, err
	}
	plan := &v1alpha1.PtahSchemaPlan{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PtahSchemaPlan"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: schema.Namespace, Name: name, Labels: labels(schema.Name, name), OwnerReferences: owners(schema),
		},
		Spec: spec,
	}
	return Publication{plan, ChunkConfigMaps(schema, plan, data)}, nil
}

// Spec is what a plan object says of the bytes: its fingerprint binds them and everything else to this one schema.
func Spec(schema *v1alpha1.PtahSchema, data []byte, bindings v1alpha1.SchemaPlanBindings) (v1alpha1.PtahSchemaPlanSpec, error) {
	d, err := Decode(data)
	if err != nil {
		return v1alpha1.PtahSchemaPlanSpec{}, fmt.Errorf("building plan of %s/%s: %w", schema.Namespace, schema.Name, err)
	}
	if bindings, err = withStates(bindings, d); err != nil {
		return v1alpha1.PtahSchemaPlanSpec{}, fmt.Errorf("building plan of %s/%s: %w", schema.Namespace, schema.Name, err)
	}
	inputs := FingerprintInputs{SchemaUID: string(schema.UID), ContentDigest: digest.Bytes(data), Bindings: bindings}
	if m := inputs.missing(); m != "" {
		return v1alpha1.PtahSchemaPlanSpec{}, fmt.Errorf("building plan of %s/%s: %s is missing", schema.Namespace, schema.Name, m)
	}
	spec := v1alpha1.PtahSchemaPlanSpec{
		SchemaRef:          v1alpha1.ObjectRef{Name: schema.Name, UID: schema.UID},
		Fingerprint:        Fingerprint(inputs),
		ContractVersion:    v1alpha1.SchemaPlanContractVersion,
		Dialect:            d.Dialect,
		Destructive:        Destructive(d),
		StatementCount:     int32(len(d.Statements)), //nolint:gosec // a statement takes bytes, and there are at most MaxSize of them
		Size:               int64(len(data)),
		ContentDigest:      inputs.ContentDigest,
		SchemaPlanBindings: bindings,
	}
	name, err := SchemaPlanName(spec.Fingerprint)
	if err != nil {
		return v1alpha1.PtahSchemaPlanSpec{}, err
	}
	spec.Chunks = Describe(name, data)
	return spec, nil
}

func withStates(b v1alpha1.SchemaPlanBindings, d Document) (v1alpha1.SchemaPlanBindings, error) {
	for _, state := range []struct {
		name  string
		field *string
		value string
	}{
		{"actualStateFingerprint", &b.ActualStateFingerprint, d.FromFingerprint},
		{"desiredStateFingerprint", &b.DesiredStateFingerprint, d.ToFingerprint},
	} {
		if *state.field != "" && *state.field != state.value {
			return b, fmt.Errorf("%s is %s, the document says %s", state.name, *state.field, state.value)
		}
		*state.field = state.value
	}
	return b, nil
}

// Verify proves that a stored plan is whole: the joined bytes decode, and everything that the object says of them, its fingerprint and its
// name included, is what Spec would say again. It returns the document.
func Verify(plan *v1alpha1.PtahSchemaPlan, data []byte) (Document, error) {
	d, err := Decode(data)
	if err != nil {
		return Document{}, fmt.Errorf("verifying plan %s/%s: %w", plan.Namespace, plan.Name, err)
	}
	spec := plan.Spec
	name, err := SchemaPlanName(spec.Fingerprint)
	if err != nil {
		return Document{}, fmt.Errorf("verifying plan %s/%s: %w", plan.Namespace, plan.Name, err)
	}
	fingerprint := Fingerprint(FingerprintInputs{string(spec.SchemaRef.UID), spec.ContentDigest, spec.SchemaPlanBindings})
	for _, c := range []struct{ what, recorded, found string }{
		{"contract version", digest.Int(int64(spec.ContractVersion)), digest.Int(v1alpha1.SchemaPlanContractVersion)},
		{"content digest", spec.ContentDigest, digest.Bytes(data)},
		{"fingerprint", spec.Fingerprint, fingerprint},
		{"name", plan.Name, name},
		{"dialect", spec.Dialect, d.Dialect},
		{"statement count", digest.Int(int64(spec.StatementCount)), digest.Int(int64(len(d.Statements)))},
		{"destructive flag", digest.Bool(spec.Destructive), digest.Bool(Destructive(d))},
		{"actual state fingerprint", spec.ActualStateFingerprint, d.FromFingerprint},
		{"desired state fingerprint", spec.DesiredStateFingerprint, d.ToFingerprint},
	} {
		if c.recorded != c.found {
			return Document{}, fmt.Errorf("verifying plan %s/%s: %w", plan.Namespace, plan.Name,
				&DamageError{"", c.what + " " + c.recorded, c.found})
		}
	}
	return d, nil
}

// ChunkConfigMaps builds the immutable ConfigMaps of a plan, in order. They belong to the schema, not to the plan (contract: Plan
// retention), so pruning a plan deletes them explicitly, by label.
func ChunkConfigMaps(schema *v1alpha1.PtahSchema, plan *v1alpha1.PtahSchemaPlan, data []byte) []*corev1.ConfigMap {
	immutable := true
	chunks := Split(data)
	out := make([]*corev1.ConfigMap, 0, len(chunks))
	for i, ref := range plan.Spec.Chunks {
		out = append(out, &corev1.ConfigMap{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: metav1.ObjectMeta{
				Namespace: schema.Namespace, Name: ref.Name, Labels: labels(schema.Name, plan.Name), OwnerReferences: owners(schema),
			},
			Immutable:  &immutable,
			BinaryData: map[string][]byte{ref.Key: chunks[i]},
		})
	}
	return out
}

// CheckChunk compares a stored ConfigMap with what the plan's chunk must be, ownership and immutability included.
func CheckChunk(schema *v1alpha1.PtahSchema, ref v1alpha1.ChunkRef, stored *corev1.ConfigMap) error {
	switch {
	case stored.Name != ref.Name:
		return &DamageError{ref.Name, "the name " + ref.Name, stored.Name}
	case stored.Immutable == nil || !*stored.Immutable:
		return &DamageError{ref.Name, "an immutable ConfigMap", "one that can be changed"}
	case !metav1.IsControlledBy(stored, schema):
		return &DamageError{ref.Name, "a ConfigMap owned by this schema", "another owner"}
	case len(stored.Data) != 0 || len(stored.BinaryData) != 1:
		return &DamageError{ref.Name, "the key " + ref.Key + " alone", fmt.Sprintf("%d keys", len(stored.Data)+len(stored.BinaryData))}
	}
	data, ok := stored.BinaryData[ref.Key]
	if !ok {
		return &DamageError{ref.Name, "the key " + ref.Key, "another key"}
	}
	return checkBytes(ref.Name, data, ref.Size, ref.Digest)
}

// Record is the schema's own copy of a published plan.
func Record(plan *v1alpha1.PtahSchemaPlan) v1alpha1.SchemaPlanRecord {
	return v1alpha1.SchemaPlanRecord{
		Name: plan.Name, UID: plan.UID, Fingerprint: plan.Spec.Fingerprint, ContentDigest: plan.Spec.ContentDigest,
		CreatedAt: plan.CreationTimestamp, Destructive: plan.Spec.Destructive, StatementCount: plan.Spec.StatementCount,
		SchemaPlanBindings: plan.Spec.SchemaPlanBindings,
	}
}

func labels(schemaName, planName string) map[string]string {
	return map[string]string{
		v1alpha1.ManagedByLabel: v1alpha1.ManagedByValue, v1alpha1.SchemaLabel: schemaName, v1alpha1.PlanLabel: planName,
	}
}

func owners(schema *v1alpha1.PtahSchema) []metav1.OwnerReference {
	return []metav1.OwnerReference{*metav1.NewControllerRef(schema, v1alpha1.GroupVersion.WithKind("PtahSchema"))}
}
