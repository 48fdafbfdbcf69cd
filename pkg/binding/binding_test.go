package binding_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/binding"
)

func identity() binding.Identity {
	return binding.Identity{
		ControllerImage: "m@sha256:1", ControllerRevision: "abc", ControllerStateVersion: 2, PtahVersion: "0.1.0",
		ExecutorImage: "e@sha256:2", RunnerImage: "r@sha256:3", RunnerProtocolVersion: 1,
	}
}

func TestEpoch(t *testing.T) {
	e, err := binding.Epoch(strings.Repeat("0f", 16))
	require.NoError(t, err)
	assert.Equal(t, "v1-"+strings.Repeat("0f", 16), e)
	for _, bad := range []string{"", strings.Repeat("0f", 15), strings.Repeat("0F", 16), strings.Repeat("zz", 16), strings.Repeat("0f", 17)} {
		_, err := binding.Epoch(bad)
		require.Error(t, err)
	}
}

func TestEveryMemberOpensAnEpoch(t *testing.T) {
	first, changed := binding.Next(nil, identity(), "v1-a")
	require.True(t, changed)
	same, changed := binding.Next(&first, identity(), "v1-b")
	require.False(t, changed)
	assert.Equal(t, first, same)

	typ := reflect.TypeOf(identity())
	require.Equal(t, 7, typ.NumField(), "the contract names seven members")
	for i := range typ.NumField() {
		t.Run(typ.Field(i).Name, func(t *testing.T) {
			id := identity()
			switch f := reflect.ValueOf(&id).Elem().Field(i); f.Kind() {
			case reflect.String:
				f.SetString(f.String() + "x")
			default:
				f.SetInt(f.Int() + 1)
			}
			moved, changed := binding.Next(&first, id, "v1-b")
			require.True(t, changed)
			assert.Equal(t, "v1-b", moved.Epoch)
			require.Len(t, binding.Changes(&first, id), 1)
			assert.True(t, strings.EqualFold(typ.Field(i).Name, binding.Changes(&first, id)[0]))

			back, changed := binding.Next(&moved, identity(), "v1-c")
			require.True(t, changed, "a roll-back is a transition too")
			assert.Equal(t, "v1-c", back.Epoch)
			assert.Equal(t, first.ExecutionIdentity, back.ExecutionIdentity)
		})
	}
}

func TestValidateNamesWhatIsMissing(t *testing.T) {
	require.NoError(t, binding.Validate(identity()))
	id := identity()
	id.RunnerImage = ""
	require.ErrorContains(t, binding.Validate(id), "runnerImage")
	id = identity()
	id.PtahVersion = strings.Repeat("x", 129)
	require.ErrorContains(t, binding.Validate(id), "ptahVersion")
	require.ErrorContains(t, binding.Validate(binding.Identity{}), "controllerImage")
}

func TestFence(t *testing.T) {
	require.NoError(t, binding.Fence(2))
	require.NoError(t, binding.Fence(2, 0, 1, 2), "missing is legacy and readable")
	err := binding.Fence(2, 1, 3)
	var newer *binding.NewerStateError
	require.ErrorAs(t, err, &newer)
	assert.Equal(t, binding.NewerStateError{Stored: 3, Ours: 2}, *newer)
	require.ErrorContains(t, binding.Fence(2, -1), "malformed")
}

func TestSchemaVersionsReachesEveryRecord(t *testing.T) {
	var s v1alpha1.PtahSchema
	assert.Empty(t, binding.SchemaVersions(&s))
	id := func(v int32) v1alpha1.ExecutionIdentity {
		return v1alpha1.ExecutionIdentity{ControllerStateVersion: v}
	}
	record := func(v int32) v1alpha1.SchemaPlanRecord {
		var r v1alpha1.SchemaPlanRecord
		r.ControllerStateVersion = v
		return r
	}
	planned, pending := record(2), record(4)
	s.Status.ExecutionBinding = &v1alpha1.ExecutionBinding{ExecutionIdentity: id(1)}
	s.Status.Plan = &planned
	s.Status.Applied = &v1alpha1.AppliedRecord{ExecutionIdentity: id(3)}
	s.Status.PendingObservation = &v1alpha1.PendingObservation{Plan: pending}
	assert.Equal(t, []int32{1, 2, 3, 4}, binding.SchemaVersions(&s))
	assert.Empty(t, binding.MigrationVersions(&v1alpha1.PtahMigration{}))
}
