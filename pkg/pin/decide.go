package pin

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Verdict is what may become of a plan.
type Verdict string

// Verdicts.
const (
	MayGo Verdict = "may-go" // nothing names it and the policy does not keep it
	Kept  Verdict = "kept"   // pinned, or kept by the policy
	Busy  Verdict = "busy"   // nothing names it now, and something under way may name it
	// Unknown: nothing that could be read names it, and not everything could be read.
	Unknown Verdict = "could-not-tell"
)

// Policy is what a person wants to keep beyond what is pinned. The zero Policy keeps nothing more.
type Policy struct {
	// OlderThan keeps plans that are younger.
	OlderThan time.Duration
	// Keep is how many of each owner's plans that nothing pins stay, the newest first.
	Keep int
	// WhileOperating lets plans go whose owner is being worked on. It overrides no pin.
	WhileOperating bool
}

// World is everything that the decision reads.
type World struct {
	Plans  []Plan
	Pins   Pins
	Owners Owners
	Now    time.Time
	// Blind says, for a family of which not every pin could be read, what is missing. No plan of it may go then.
	Blind map[Family]string
}

// Decision is the verdict on one plan, with every pin that holds it.
type Decision struct {
	Plan    Plan
	Verdict Verdict
	Reason  string
	Pins    []Pin
	// Unresolved: the plan is, or may be, that of a run nobody accounted for.
	Unresolved bool
	// Left are the chunks of a deleted plan that were not deleted with it, and LeftSize their bytes: neither is gone.
	Left     []string
	LeftSize int64
}

// HeldBySpent reports a plan that nothing keeps but approvals which authorize nothing any more. A person may delete those, and the plan may go
// then.
func (d *Decision) HeldBySpent() bool {
	return d.Verdict == Kept && len(d.Pins) > 0 && !slices.ContainsFunc(d.Pins, func(p Pin) bool { return !p.Spent })
}

// Leave notes chunks of the plan that stay although it was deleted. One that it does not list was never counted.
func (d *Decision) Leave(chunks ...string) {
	for _, name := range chunks {
		i := slices.Index(d.Plan.Chunks, name)
		if i < 0 || slices.Contains(d.Left, name) {
			continue
		}
		d.Left = append(d.Left, name)
		if i < len(d.Plan.Sizes) {
			d.LeftSize += d.Plan.Sizes[i]
		}
	}
}

// Decide judges every plan, in the order given.
func Decide(w *World, policy Policy) []Decision {
	decisions := make([]Decision, len(w.Plans))
	for i, plan := range w.Plans {
		decisions[i] = judge(w, policy, plan)
	}
	keepNewest(decisions, policy.Keep)
	return decisions
}

// Judge is Decide for one plan, without Policy.Keep, which only a whole list can count.
func Judge(w *World, policy Policy, plan Plan) Decision { return judge(w, policy, plan) }

func judge(w *World, policy Policy, plan Plan) Decision {
	d := Decision{Plan: plan, Verdict: Kept, Pins: w.Pins.Of(plan)}
	d.Unresolved = slices.ContainsFunc(d.Pins, func(p Pin) bool { return p.Unresolved })
	owner, busy := w.Owners.busy(plan)
	_, alive := w.Owners.Of(plan.Family, plan.Owner)
	switch {
	case len(d.Pins) > 0:
		d.Reason = d.Pins[0].Text()
	case w.Now.Sub(plan.CreatedAt) < policy.OlderThan:
		d.Reason = "younger than --older-than"
	case w.Blind[plan.Family] != "":
		d.Verdict, d.Reason = Unknown, "could not tell: "+w.Blind[plan.Family]
	case busy && (!policy.WhileOperating || !plan.Stored):
		d.Verdict, d.Reason = Busy, owner.busyText()
	case !alive:
		d.Verdict, d.Reason = MayGo, fmt.Sprintf("nothing names it; its %s is gone", plan.Family)
	case !plan.Stored:
		d.Verdict, d.Reason = MayGo, "nothing names it; it was never published whole"
	default:
		d.Verdict, d.Reason = MayGo, "nothing names it"
	}
	return d
}

// Text says why, and by which field of which object.
func (p Pin) Text() string { return fmt.Sprintf("%s (%s)", p.Why, p.Where()) }

// Where is the field that pins, and the object when it is not the plan's own owner.
func (p Pin) Where() string {
	if p.By.Name == p.Owner.Name && (p.By.Kind == "PtahSchema" || p.By.Kind == "PtahMigration") {
		return p.Field
	}
	return p.Field + " of " + p.By.Kind + " " + p.By.Name
}

// keepNewest turns the newest plans of each owner that may go into kept ones.
func keepNewest(decisions []Decision, keep int) {
	if keep <= 0 {
		return
	}
	order := make([]int, 0, len(decisions))
	for i, d := range decisions {
		if d.Verdict == MayGo || d.Verdict == Busy {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return newer(decisions[a].Plan, decisions[b].Plan) })
	counted := map[string]int{}
	for _, i := range order {
		plan := decisions[i].Plan
		owner := string(plan.Family) + "/" + plan.Namespace + "/" + plan.Owner.Name + "/" + string(plan.Owner.UID)
		if counted[owner]++; counted[owner] <= keep {
			decisions[i].Verdict, decisions[i].Reason = Kept, fmt.Sprintf("among the %d newest of its %s that nothing names (--keep)", keep, plan.Family)
		}
	}
}

func newer(a, b Plan) int {
	return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.Name, b.Name))
}

// Finding is a pin that leads nowhere: the bytes that a live object names are gone.
type Finding struct {
	Pin  Pin
	Text string
}

// Dangling lists the pins that no plan of the world answers to, in a fixed order. An approval whose schema or migration is gone is none:
// its plan went with its owner.
func Dangling(w *World) []Finding {
	index := make(map[key]Plan, len(w.Plans))
	for _, plan := range w.Plans {
		index[key{plan.Family, plan.Namespace, plan.Name}] = plan
	}
	var findings []Finding
	for _, pin := range w.Pins.All() {
		if w.Blind[pin.Family] != "" {
			continue // a plan that was not read is not a plan that is gone
		}
		if _, alive := w.Owners.Of(pin.Family, pin.Owner); !alive {
			continue
		}
		if text := dangling(w, index, pin); text != "" {
			findings = append(findings, Finding{pin, text})
		}
	}
	slices.SortFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Pin.By.Namespace, b.Pin.By.Namespace), cmp.Compare(a.Pin.By.Kind, b.Pin.By.Kind),
			cmp.Compare(a.Pin.By.Name, b.Pin.By.Name), cmp.Compare(a.Pin.Field, b.Pin.Field))
	})
	return findings
}

func dangling(w *World, index map[key]Plan, pin Pin) string {
	where := fmt.Sprintf("%s %s/%s names plan %s in %s", pin.By.Kind, pin.By.Namespace, pin.By.Name, pin.Plan.Name, pin.Field)
	if pin.Plan.Name == "" {
		return danglingLoose(w, pin)
	}
	plan, found := index[key{pin.Family, pin.By.Namespace, pin.Plan.Name}]
	switch {
	case !found:
		return where + ", and no such plan is stored: it was deleted"
	case !pin.names(plan) || !pin.sameUID(plan):
		return fmt.Sprintf("%s with UID %s, and the stored plan of that name has UID %s: it was deleted and made again", where, pin.Plan.UID, plan.UID)
	case pin.Fingerprint != "" && pin.Fingerprint != plan.Fingerprint:
		return fmt.Sprintf("%s with fingerprint %s, and that plan has %s", where, pin.Fingerprint, plan.Fingerprint)
	default:
		return ""
	}
}

// Resolves says whether a plan is the one that a pin names, fingerprint included.
func (p Pin) Resolves(plan Plan) bool {
	return p.names(plan) && p.sameUID(plan) && (p.Fingerprint == "" || p.Fingerprint == plan.Fingerprint)
}

// danglingLoose judges records without a reference. One that says nothing of the plan cannot lead astray.
func danglingLoose(w *World, pin Pin) string {
	if pin.Fingerprint == "" || slices.ContainsFunc(w.Plans, pin.names) {
		return ""
	}
	return fmt.Sprintf("%s %s/%s records fingerprint %s in %s, and no stored plan has it: it was deleted",
		pin.By.Kind, pin.By.Namespace, pin.By.Name, pin.Fingerprint, pin.Field)
}
