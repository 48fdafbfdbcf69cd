package approval_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/approval"
)

func standing(name string, consumed, stale bool) approval.Standing {
	return approval.Standing{Ref: v1alpha1.ObjectRef{Name: name}, Approver: "bob", Consumed: consumed, Stale: stale}
}

func TestReject(t *testing.T) {
	const claimed = "an Apply of this plan was claimed already (op); it is never abandoned"
	open, spent, stale := standing("open", false, false), standing("spent", true, false), standing("stale", false, true)
	cases := map[string]struct {
		in       approval.Rejecting
		refused  string
		withdraw []approval.Standing
		policy   string
	}{
		"nobody approved it":               {approval.Rejecting{}, "", nil, ""},
		"an open approval":                 {approval.Rejecting{Approvals: []approval.Standing{open, stale}}, "", []approval.Standing{open}, ""},
		"spent earlier, being read anew":   {approval.Rejecting{Approvals: []approval.Standing{open, spent}}, "", []approval.Standing{open}, ""},
		"spent on the run that is claimed": {approval.Rejecting{Apply: "op", Approvals: []approval.Standing{spent}}, claimed, nil, ""},
		"claimed":                          {approval.Rejecting{Apply: "op", Approvals: []approval.Standing{open}}, claimed, nil, ""},
		"claimed, and runs without an approval": {approval.Rejecting{
			Apply: "op", Policy: v1alpha1.ApplyAlways, Demand: approval.NeedsNothing, Approvals: []approval.Standing{open},
		}, claimed, nil, ""},
		"runs without an approval": {
			approval.Rejecting{Policy: v1alpha1.ApplyAlways, Demand: approval.NeedsNothing, Approvals: []approval.Standing{open}},
			"spec.policy.apply is Always, and runs this plan without an approval: a rejection could stop nothing; \"kubectl ptah suspend\" does, or another policy", nil, "",
		},
		"Always, and destructive": {
			approval.Rejecting{Policy: v1alpha1.ApplyAlways, Approvals: []approval.Standing{open}},
			"",
			[]approval.Standing{open},
			"spec.policy.apply is Always: this plan is destructive and runs only with an approval, the next one that is not destructive runs without",
		},
		"Never": {
			approval.Rejecting{Policy: v1alpha1.ApplyNever, Demand: approval.Disabled, Approvals: []approval.Standing{open}},
			"",
			[]approval.Standing{open},
			"spec.policy.apply is Never, so that no plan runs, approved or not",
		},
		"disallowed": {
			approval.Rejecting{Policy: v1alpha1.ApplyAlways, Demand: approval.Disallowed},
			"", nil,
			"the plan is destructive and spec.policy.allowDestructive is false, so that it does not run, approved or not",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := approval.Reject(c.in)
			assert.Equal(t, c.refused, r.Refused)
			assert.Equal(t, c.withdraw, r.Withdraw)
			assert.Equal(t, c.policy, r.Policy)
		})
	}
}

// A migration knows nothing destructive: Always asks for nothing, whatever its condition said in the last pass.
func TestRequiredOfMigration(t *testing.T) {
	assert.Equal(t, approval.NeedsNothing, approval.RequiredOfMigration(v1alpha1.ApplyAlways))
	assert.Equal(t, approval.Disabled, approval.RequiredOfMigration(v1alpha1.ApplyNever))
	assert.Equal(t, approval.NeedsApproval, approval.RequiredOfMigration(v1alpha1.ApplyOnApproval))
	assert.Equal(t, approval.NeedsApproval, approval.RequiredOfMigration(""), "the default")
}

// Whatever is refused withdraws nothing, nothing spent is ever withdrawn, and nothing open survives a rejection that is not refused.
func TestRejectWithdrawsExactlyWhatIsOpen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := approval.Rejecting{Demand: rapid.SampledFrom([]approval.Demand{approval.NeedsApproval, approval.NeedsNothing, approval.Disabled, approval.Disallowed}).Draw(t, "demand"), Apply: rapid.SampledFrom([]string{"", "op"}).Draw(t, "apply")}
		open := 0
		for range rapid.IntRange(0, 5).Draw(t, "approvals") {
			a := standing("a", rapid.Bool().Draw(t, "consumed"), rapid.Bool().Draw(t, "stale"))
			if !a.Consumed && !a.Stale {
				open++
			}
			in.Approvals = append(in.Approvals, a)
		}
		r := approval.Reject(in)
		for _, a := range r.Withdraw {
			if a.Consumed || a.Stale {
				t.Fatalf("withdraws %+v", a)
			}
		}
		if r.Refused != "" && len(r.Withdraw) > 0 || r.Refused == "" && len(r.Withdraw) != open {
			t.Fatalf("%+v gives %+v", in, r)
		}
	})
}
