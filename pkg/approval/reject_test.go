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
	open, spent, stale := standing("open", false, false), standing("spent", true, false), standing("stale", false, true)
	cases := map[string]struct {
		in       approval.Rejecting
		refused  string
		withdraw []approval.Standing
	}{
		"nobody approved it":                    {approval.Rejecting{Waiting: true}, "", nil},
		"an open approval":                      {approval.Rejecting{Waiting: true, Approvals: []approval.Standing{open, stale}}, "", []approval.Standing{open}},
		"approved, and about to run":            {approval.Rejecting{Approvals: []approval.Standing{open}}, "", []approval.Standing{open}},
		"spent earlier, being read anew":        {approval.Rejecting{Approvals: []approval.Standing{open, spent}}, "", []approval.Standing{open}},
		"spent on the run that is claimed":      {approval.Rejecting{Apply: "op", Approvals: []approval.Standing{spent}}, "an Apply of this plan was claimed already (op); it is never abandoned", nil},
		"spent earlier, waiting again":          {approval.Rejecting{Waiting: true, Approvals: []approval.Standing{spent, open}}, "", []approval.Standing{open}},
		"claimed":                               {approval.Rejecting{Waiting: true, Apply: "op", Approvals: []approval.Standing{open}}, "an Apply of this plan was claimed already (op); it is never abandoned", nil},
		"runs without an approval":              {approval.Rejecting{Always: true}, "policy.apply is Always, so this plan needs no approval and a rejection would stop nothing; \"kubectl ptah suspend\" does", nil},
		"Always, and yet an approval is needed": {approval.Rejecting{Always: true, Waiting: true, Approvals: []approval.Standing{open}}, "", []approval.Standing{open}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := approval.Reject(c.in)
			assert.Equal(t, c.refused, r.Refused)
			assert.Equal(t, c.withdraw, r.Withdraw)
		})
	}
}

// Whatever is refused withdraws nothing, nothing spent is ever withdrawn, and nothing open survives a rejection that is not refused.
func TestRejectWithdrawsExactlyWhatIsOpen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := approval.Rejecting{Waiting: rapid.Bool().Draw(t, "waiting"), Always: rapid.Bool().Draw(t, "always"), Apply: rapid.SampledFrom([]string{"", "op"}).Draw(t, "apply")}
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
