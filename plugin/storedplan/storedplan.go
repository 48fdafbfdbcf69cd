// Package storedplan reads a plan back the way the operator does: every chunk against its digest and size, joined in index order, the whole
// against the content digest and the plan object. Nothing unverified leaves it.
package storedplan

import (
	"context"
	"errors"
	"fmt"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/pkg/spelling"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
)

// parallel bounds how many chunks are read at once.
const parallel = 4

// Advice ends every message about stored bytes that are not what the plan object says.
const Advice = `the stored plan was altered or damaged; see "kubectl ptah plan --help"`

// Reader is what reading a plan needs from the cluster.
type Reader interface {
	ConfigMapBytes(ctx context.Context, namespace, name, key string) ([]byte, bool, error)
}

// Verified is a stored plan whose bytes were checked.
type Verified struct {
	Object *v1alpha1.PtahSchemaPlan
	Bytes  []byte // exactly as stored, closing newline included
	// Head is the document without its statements; an 8 MiB plan is not held twice.
	Head       plan.Document
	Statements int
	// Unproven says why the fingerprint, which an approval names, could not be formed again from what the object binds; "" when it was. The bytes
	// were checked all the same, against digests that the object names.
	Unproven string
}

// Document is the whole document.
func (v *Verified) Document() plan.Document {
	d := v.Head
	plan.Again(v.Bytes, func(_ int, s plan.Statement) { d.Statements = append(d.Statements, s) })
	return d
}

// Read fetches and checks the bytes of a plan. Errors name the chunk, what was expected and what was found.
func Read(ctx context.Context, reader Reader, object *v1alpha1.PtahSchemaPlan) (*Verified, error) {
	what := "plan " + object.Namespace + "/" + object.Name
	if len(object.Spec.Chunks) == 0 || len(object.Spec.Chunks) > plan.MaxChunks {
		return nil, fmt.Errorf("reading %s: it lists %d chunks, want 1 to %d; %s", what, len(object.Spec.Chunks), plan.MaxChunks, Advice)
	}
	data, err := join(ctx, reader, object)
	if err != nil {
		return nil, err
	}
	v := &Verified{Object: object, Bytes: data}
	v.Head, err = plan.Scan(data, func(int, plan.Statement) error { v.Statements++; return nil })
	if err != nil {
		return nil, fmt.Errorf("reading %s: its digests agree but it is not a plan document: %w; %s", what, err, Advice)
	}
	if err := agree(object, v); err != nil {
		return nil, fmt.Errorf("reading %s: %w; %s", what, err, Advice)
	}
	if version := object.Spec.ContractVersion; version != v1alpha1.SchemaPlanContractVersion {
		v.Unproven = fmt.Sprintf("the plan is of contract version %d, and this program forms fingerprints of version %d only", version, v1alpha1.SchemaPlanContractVersion)
	}
	return v, nil
}

// fetched is one chunk, or why there is none.
type fetched struct {
	data []byte
	err  error
}

// join reads the chunks, a few ahead of the one that is being joined, so that the plan is never held twice.
func join(ctx context.Context, reader Reader, object *v1alpha1.PtahSchemaPlan) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	chunks := object.Spec.Chunks
	ahead := make(chan struct{}, parallel)
	arrived := make([]chan fetched, len(chunks))
	for i := range arrived {
		arrived[i] = make(chan fetched, 1)
	}
	go func() {
		for i, ref := range chunks {
			select {
			case <-ctx.Done():
				return
			case ahead <- struct{}{}:
			}
			go func() {
				data, err := fetch(ctx, reader, object, ref)
				arrived[i] <- fetched{data, err}
			}()
		}
	}()
	next := 0
	var failure error
	data, err := plan.Join(object.Spec, func(v1alpha1.ChunkRef) ([]byte, error) {
		var chunk fetched
		select {
		case <-ctx.Done():
			chunk.err = context.Cause(ctx)
		case chunk = <-arrived[next]:
			<-ahead
		}
		next++
		failure = chunk.err
		return chunk.data, chunk.err
	})
	switch {
	case failure != nil:
		return nil, failure
	case err != nil:
		return nil, damaged("plan "+object.Namespace+"/"+object.Name, err)
	}
	return data, nil
}

// fetch reads one chunk. A chunk that is gone is damage of the plan, not an ordinary absence.
func fetch(ctx context.Context, reader Reader, object *v1alpha1.PtahSchemaPlan, ref v1alpha1.ChunkRef) ([]byte, error) {
	data, found, err := reader.ConfigMapBytes(ctx, object.Namespace, ref.Name, ref.Key)
	what := fmt.Sprintf("reading chunk %d of plan %s/%s", ref.Index, object.Namespace, object.Name)
	switch {
	case cluster.IsNotFound(err):
		return nil, fmt.Errorf("%s: ConfigMap %s does not exist; %s", what, ref.Name, Advice)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", what, err)
	case !found:
		return nil, fmt.Errorf("%s: ConfigMap %s has no key %q; %s", what, ref.Name, ref.Key, Advice)
	}
	return data, nil
}

// damaged words a failed check like every other message about damage.
func damaged(what string, err error) error {
	var damage *plan.DamageError
	if !errors.As(err, &damage) {
		return fmt.Errorf("reading %s: %w", what, err)
	}
	where := what
	if damage.Chunk != "" {
		where = "chunk " + damage.Chunk + " of " + what
	}
	return fmt.Errorf("reading %s: found %s, expected %s; %s", where, damage.Found, damage.Expected, Advice)
}

// agree compares what a plan object says about its document with the document. A person decides on the object's words.
func agree(object *v1alpha1.PtahSchemaPlan, v *Verified) error {
	spec, document := object.Spec, v.Head
	switch {
	case spec.Dialect != document.Dialect:
		return fmt.Errorf("the object says dialect %q and its bytes say %q", spec.Dialect, document.Dialect)
	case int(spec.StatementCount) != v.Statements:
		return fmt.Errorf("the object says %s and its bytes hold %d", spelling.Count(spec.StatementCount, "statement"), v.Statements)
	case spec.Destructive != document.Destructive:
		return fmt.Errorf("the object says destructive: %t and its bytes say %t", spec.Destructive, document.Destructive)
	}
	return bound(spec)
}

// bound computes the fingerprint again from what it binds. Plans of other contracts form it otherwise: Verified.Unproven says so.
func bound(spec v1alpha1.PtahSchemaPlanSpec) error {
	if spec.ContractVersion != v1alpha1.SchemaPlanContractVersion {
		return nil
	}
	inputs := plan.FingerprintInputs{SchemaUID: string(spec.SchemaRef.UID), ContentDigest: spec.ContentDigest, Bindings: spec.SchemaPlanBindings}
	if want := plan.Fingerprint(inputs); want != spec.Fingerprint {
		return fmt.Errorf("fingerprint %s expected %s from what the object binds", spec.Fingerprint, want)
	}
	return nil
}

// Current reads the plan object that status.plan names, and nothing else under that name.
func Current(ctx context.Context, client interface {
	SchemaPlan(ctx context.Context, namespace, name string) (*v1alpha1.PtahSchemaPlan, error)
}, schema *v1alpha1.PtahSchema,
) (*v1alpha1.PtahSchemaPlan, error) {
	record := schema.Status.Plan
	if record == nil {
		return nil, options.Nothingf("%s/%s has no current plan", schema.Namespace, schema.Name)
	}
	object, err := client.SchemaPlan(ctx, schema.Namespace, record.Name)
	if cluster.IsNotFound(err) {
		return nil, fmt.Errorf("reading plan %s/%s: status.plan names it and it does not exist; it was deleted", schema.Namespace, record.Name)
	}
	if err != nil {
		return nil, err
	}
	if object.UID != record.UID || object.Spec.Fingerprint != record.Fingerprint || object.Spec.ContentDigest != record.ContentDigest {
		return nil, fmt.Errorf("reading plan %s/%s: it is not the plan that status.plan names (UID, fingerprint or content digest differ); it was deleted and made again, or the schema has moved on: run the command again",
			schema.Namespace, record.Name)
	}
	return object, nil
}
