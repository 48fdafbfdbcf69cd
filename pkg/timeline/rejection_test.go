package timeline_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/ptah-run/ptah/pkg/timeline"
)

func TestRejected(t *testing.T) {
	const text = "bob@example.com rejected plan ptah-plan-1 (sha256:1): drops a column. It is read. Approvals withdrawn: release by alice."
	at := func(minute int) time.Time { return start.Add(time.Duration(minute) * time.Minute) }
	plan := timeline.Plan{Resource: "u1", Name: "ptah-plan-1", Fingerprint: "sha256:1", StoredAt: at(1)}
	with := func(edit func(*timeline.Plan)) timeline.Plan { p := plan; edit(&p); return p }
	rejected := event("PtahSchema", "orders", "u1", 5, "PlanRejected", text)
	again := event("PtahSchema", "orders", "u1", 9, "PlanRejected", "carol rejected plan ptah-plan-1 (sha256:1): no. Approvals withdrawn: none.")
	first := &timeline.Rejection{By: "bob@example.com", At: at(5), Reason: "drops a column. It is read"}
	asked := func(minute int, who string) corev1.Event {
		return event("PtahSchema", "orders", "u1", minute, "PlanRejectionRequested", who+" is about to reject plan ptah-plan-1 (sha256:1): no. Not now. Approvals to withdraw: release by alice.")
	}
	begun := &timeline.Rejection{By: "bob", At: at(5), Reason: "no. Not now", Unconfirmed: true}
	for name, c := range map[string]struct {
		events []corev1.Event
		plan   timeline.Plan
		want   *timeline.Rejection
	}{
		"rejected":                      {[]corev1.Event{rejected}, plan, first},
		"by name alone":                 {[]corev1.Event{rejected}, with(func(p *timeline.Plan) { p.Fingerprint = "" }), first},
		"twice":                         {[]corev1.Event{again, rejected}, plan, &timeline.Rejection{By: "carol", At: at(9), Reason: "no"}},
		"another resource":              {[]corev1.Event{rejected}, with(func(p *timeline.Plan) { p.Resource = "u2" }), nil},
		"another plan":                  {[]corev1.Event{rejected}, with(func(p *timeline.Plan) { p.Name = "ptah-plan-2" }), nil},
		"a longer name":                 {[]corev1.Event{rejected}, with(func(p *timeline.Plan) { p.Name = "ptah-plan" }), nil},
		"another fingerprint":           {[]corev1.Event{rejected}, with(func(p *timeline.Plan) { p.Fingerprint = "sha256:2" }), nil},
		"before it was stored":          {[]corev1.Event{rejected}, with(func(p *timeline.Plan) { p.StoredAt = at(6) }), nil},
		"approved later":                {[]corev1.Event{rejected}, with(func(p *timeline.Plan) { p.ApprovedAt = at(6) }), nil},
		"approved before":               {[]corev1.Event{rejected}, with(func(p *timeline.Plan) { p.ApprovedAt = at(4) }), first},
		"asked for, never done":         {[]corev1.Event{asked(5, "bob")}, plan, begun},
		"asked for after another":       {[]corev1.Event{asked(5, "bob"), event("PtahSchema", "orders", "u1", 4, "PlanRejected", text)}, plan, begun},
		"asked for and done":            {[]corev1.Event{asked(5, "bob@example.com"), event("PtahSchema", "orders", "u1", 6, "PlanRejected", text)}, plan, &timeline.Rejection{By: "bob@example.com", At: at(6), Reason: first.Reason}},
		"asked for and done at once":    {[]corev1.Event{asked(5, "bob@example.com"), rejected}, plan, first},
		"done at once, the other order": {[]corev1.Event{rejected, asked(5, "bob@example.com")}, plan, first},
		"asked for, then approved":      {[]corev1.Event{asked(5, "bob")}, with(func(p *timeline.Plan) { p.ApprovedAt = at(6) }), nil},
		"asked for, of another plan":    {[]corev1.Event{asked(5, "bob")}, with(func(p *timeline.Plan) { p.Name = "ptah-plan-2" }), nil},
		"asked in the wrong words":      {[]corev1.Event{event("PtahSchema", "orders", "u1", 5, "PlanRejectionRequested", text)}, plan, nil},
		"done in the wrong words":       {[]corev1.Event{event("PtahSchema", "orders", "u1", 5, "PlanRejected", asked(5, "bob").Message)}, plan, nil},
		"a message that was cut": {
			[]corev1.Event{event("PtahSchema", "orders", "u1", 5, "PlanRejected", "bob rejected plan ptah-plan-1 (sha256:1): it is too...")},
			plan,
			&timeline.Rejection{By: "bob", At: at(5), Reason: "it is too..."},
		},
		"begun and not finished": {
			[]corev1.Event{rejected, event("PtahSchema", "orders", "u1", 6, "PlanRejected",
				"bob began to reject plan ptah-plan-1 (sha256:1): no. Approvals withdrawn: a by alice, not withdrawn: b by carol, c by dan.")},
			plan,
			&timeline.Rejection{By: "bob", At: at(6), Reason: "no", Unfinished: true, Standing: "b by carol, c by dan"},
		},
		"begun and finished later": {
			[]corev1.Event{again, event("PtahSchema", "orders", "u1", 6, "PlanRejected", "bob began to reject plan ptah-plan-1 (sha256:1): no. Approvals withdrawn: a by alice, not withdrawn: b by carol.")},
			plan,
			&timeline.Rejection{By: "carol", At: at(9), Reason: "no"},
		},
		"begun, of another plan": {[]corev1.Event{event("PtahSchema", "orders", "u1", 6, "PlanRejected", "bob began to reject plan ptah-plan-2 (sha256:2): no.")}, plan, nil},
		"another message":        {[]corev1.Event{event("PtahSchema", "orders", "u1", 5, "PlanRejected", "something else")}, plan, nil},
		"none":                   {nil, plan, nil},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, timeline.Rejected(c.events, c.plan))
		})
	}
}
