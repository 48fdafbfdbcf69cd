// Package binding is the execution binding: the seven components that evidence, plans and approvals rest on, the opaque epoch that names
// each transition between them, and the fence that keeps an old manager away from newer state.
package binding

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// StateVersion is the version of the stored-state semantics that this build writes and the newest that it reads.
const StateVersion = 2

// Identity is the seven components. Two identities are the same exactly when they are equal with ==.
type Identity = v1alpha1.ExecutionIdentity

var hex32 = regexp.MustCompile(`^[0-9a-f]{32}$`)

// Epoch names a transition from 128 random bits, given as 32 lower-case hex digits.
func Epoch(random string) (string, error) {
	if !hex32.MatchString(random) {
		return "", fmt.Errorf("naming execution epoch: want 32 lower-case hex digits, got %d characters", len(random))
	}
	return "v1-" + random, nil
}

// Next is the binding that holds under this identity: the current one where all seven components are the same, and otherwise a new one
// under newEpoch. An epoch never comes back, also not with a roll-back to an identical tuple.
func Next(current *v1alpha1.ExecutionBinding, id Identity, newEpoch string) (v1alpha1.ExecutionBinding, bool) {
	if current != nil && current.Epoch != "" && current.ExecutionIdentity == id {
		return *current, false
	}
	return v1alpha1.ExecutionBinding{Epoch: newEpoch, ExecutionIdentity: id}, true
}

// Changes names the components that differ, for a message; "binding" where there was none.
func Changes(current *v1alpha1.ExecutionBinding, id Identity) []string {
	if current == nil {
		return []string{"binding"}
	}
	c := current.ExecutionIdentity
	var out []string
	for _, m := range []struct {
		name    string
		changed bool
	}{
		{"controllerImage", c.ControllerImage != id.ControllerImage},
		{"controllerRevision", c.ControllerRevision != id.ControllerRevision},
		{"controllerStateVersion", c.ControllerStateVersion != id.ControllerStateVersion},
		{"ptahVersion", c.PtahVersion != id.PtahVersion},
		{"executorImage", c.ExecutorImage != id.ExecutorImage},
		{"runnerImage", c.RunnerImage != id.RunnerImage},
		{"runnerProtocolVersion", c.RunnerProtocolVersion != id.RunnerProtocolVersion},
	} {
		if m.changed {
			out = append(out, m.name)
		}
	}
	return out
}

// Validate refuses an identity with a missing or impossible component, naming it.
func Validate(id Identity) error {
	for _, m := range []struct {
		name string
		ok   bool
	}{
		{"controllerImage", id.ControllerImage != ""},
		{"controllerRevision", id.ControllerRevision != ""},
		{"controllerStateVersion", id.ControllerStateVersion >= 1},
		{"ptahVersion", id.PtahVersion != "" && len(id.PtahVersion) <= 128},
		{"executorImage", id.ExecutorImage != ""},
		{"runnerImage", id.RunnerImage != ""},
		{"runnerProtocolVersion", id.RunnerProtocolVersion >= 1},
	} {
		if !m.ok {
			return fmt.Errorf("checking execution identity: %s is missing or out of bounds", m.name)
		}
	}
	return nil
}

// NewerStateError refuses stored state that a newer manager wrote: its meaning is not known here.
type NewerStateError struct{ Stored, Ours int32 }

// Error says both versions.
func (e *NewerStateError) Error() string {
	return fmt.Sprintf("stored state has version %d, written by a newer manager; this manager reads up to %d", e.Stored, e.Ours)
}

// Fence refuses state versions above ours. Zero is a record older than the field and readable; a negative one is damage.
func Fence(ours int32, stored ...int32) error {
	if len(stored) == 0 {
		return nil
	}
	if newest := slices.Max(stored); newest > ours {
		return &NewerStateError{newest, ours}
	}
	if oldest := slices.Min(stored); oldest < 0 {
		return fmt.Errorf("checking stored state: version %d is malformed", oldest)
	}
	return nil
}

// SchemaVersions lists every state version that a schema's status carries.
func SchemaVersions(s *v1alpha1.PtahSchema) []int32 {
	var out []int32
	if b := s.Status.ExecutionBinding; b != nil {
		out = append(out, b.ControllerStateVersion)
	}
	if p := s.Status.Plan; p != nil {
		out = append(out, p.ControllerStateVersion)
	}
	if a := s.Status.Applied; a != nil {
		out = append(out, a.ControllerStateVersion)
	}
	if p := s.Status.PendingObservation; p != nil {
		out = append(out, p.Plan.ControllerStateVersion)
	}
	return out
}

// MigrationVersions lists every state version that a migration's status carries.
func MigrationVersions(m *v1alpha1.PtahMigration) []int32 {
	if b := m.Status.ExecutionBinding; b != nil {
		return []int32{b.ControllerStateVersion}
	}
	return nil
}
