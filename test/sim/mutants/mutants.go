// Package mutants holds deliberate bugs of the operation lifecycle. Each is one change of pkg/operation that somebody could make by mistake;
// the model checker must catch every one, or it proves less than it says.
package mutants

// Mutant is one bug: Old stands exactly once in File and New takes its place.
type Mutant struct {
	Name, File, Old, New string
	// Faults is how many hostile moves it takes to show. With two, the search begins wherever a kind run leads that met one.
	Faults int
}

// Arguments tell the checker where to look for the bug.
func (m Mutant) Arguments() []string {
	if m.Faults > 1 {
		return []string{"-detours", "-states", "900000"}
	}
	return []string{"-midway", "-states", "300000"}
}

// All is the list. A guard that another guard covers completely is not in it: the binding is judged again before a dispatch although the order of the
// rules leaves no other one there, and a proof looks for Pods of its Apply although it begins only when none can write.
var All = []Mutant{
	{
		"create without the dispatch marker", "advance.go",
		"	if !c.Dispatched {\n		nd, nc := d, c\n		nc.Dispatched = true",
		"	if false {\n		nd, nc := d, c\n		nc.Dispatched = true",
		1,
	},
	{
		"create again after a crash", "advance.go",
		"if c.Dispatched && s.Permit != c.ID {", "if c.Dispatched && s.Permit != c.ID && s.Job.State == Present {",
		1,
	},
	{
		"forget the Lease's epoch", "advance.go",
		"rel == leaseOurs && (s.Lease.Value.Epoch == c.LeaseEpoch)", "rel == leaseOurs && c.LeaseEpoch != \"\"",
		1,
	},
	{
		"dispatch under a Lease that ends before the run", "advance.go",
		"	if c.ExecutionNotAfter.IsZero() {\n		return true", "	if true {\n		return true",
		1,
	},
	{
		"authorize on a cached resource", "advance.go",
		"func authorize(s *Snapshot, d Durable, c Claim) Step {\n	if !s.Resource.Fresh {", "func authorize(s *Snapshot, d Durable, c Claim) Step {\n	if false {",
		2,
	},
	{
		"authorize on a cached census", "advance.go",
		"	if !s.Census.Fresh {", "	if false {",
		1,
	},
	{
		"dispatch while suspended", "advance.go",
		"	case s.Resource.Suspended:\n		return \"spec.suspend is true\"", "",
		1,
	},
	{
		"dispatch while being deleted", "advance.go",
		"	case s.Resource.Deleting:\n		return \"the resource is being deleted\"", "",
		1,
	},
	{
		"dispatch in a contested realm", "advance.go",
		"	case s.Census.Value.Contested:\n		return \"the realm is contested\"", "",
		1,
	},
	{
		"dispatch on inputs that moved", "advance.go",
		"	if ok, moved := s.Family.Current(c); !ok {\n		return moved\n	}\n	return \"\"", "	return \"\"",
		1,
	},
	{
		"dispatch after the window", "advance.go",
		"	if !s.Now.Before(c.DispatchNotAfter) {", "	if false {",
		1,
	},
	{
		"create before the approval is spent", "advance.go",
		"	case a.Consume != nil && !c.Dispatched:\n		return markApproval(s, *a.Consume)\n	case a.Consume != nil:", "	case a.Consume != nil:\n		return nil\n	case false:",
		1,
	},
	{
		"run on an authorization that was revoked", "advance.go",
		"	case a.Revoked != \"\":", "	case false:",
		1,
	},
	{
		"acquire the Lease for a claim that a cache remembers", "advance.go",
		"	if !s.Resource.Fresh {\n		return ReadFresh{Parts: PartResource}\n	}\n	return AcquireLease{", "	return AcquireLease{",
		1,
	},
	{
		"do not notice a broken Lease", "advance.go",
		"	if running && !c.ContinuityLost {", "	if running && !c.ContinuityLost && rel == leaseForeign {",
		1,
	},
	{
		"believe a result across a broken Lease", "supervise.go",
		"	case c.ContinuityLost:\n		ev.Kind", "	case c.ContinuityLost && !read:\n		ev.Kind",
		1,
	},
	{
		"account before the Pod has stopped", "supervise.go",
		"	if s.Pods.State == Present && !stopped(pods) {", "	if s.Pods.State == Present && !stopped(pods) && s.Job.State == Unread {",
		1,
	},
	{
		"take a Pod that is gone for one that stopped", "supervise.go",
		"	quiet := read || (s.Pods.State == Present && len(pods) > 0)", "	quiet := true",
		1,
	},
	{
		"record without a proof", "supervise.go",
		"		nd.Proof = proofOf(c, j)", "		nd.Owed = owe(c, c.LeaseEpoch)",
		1,
	},
	{
		"keep the claim beside its record", "supervise.go",
		"	nd := d\n	nd.Claim = nil\n	switch {", "	nd := d\n	switch {",
		1,
	},
	{
		"release the Lease of a run that may still write", "supervise.go",
		"&& c.LeaseEpoch != \"\" && !leavesLease(s, c, ev, j):", "&& c.LeaseEpoch != \"\":",
		1,
	},
	{
		"prove before the uncertain run is over", "proof.go",
		"	if s.Now.Before(p.ObserveAfter) {\n		return proofPause(s, p, \"waiting until no Pod of the Apply can write any more\")\n	}\n	if step := quietApply(s, d, p); step != nil {\n		return step\n	}\n	if d.Claim != nil {",
		"	if step := quietApply(s, d, p); step != nil {\n		return step\n	}\n	if d.Claim != nil {",
		2,
	},
	{
		"go on with a proof after its Lease was broken", "proof.go",
		"	if rel == leaseOurs && s.Lease.Value.Epoch == p.LeaseEpoch {", "	if rel == leaseOurs {",
		1,
	},
	{
		"delete while the run may write", "proof.go",
		"	if step != nil {\n		return step\n	}\n	nd := d\n	nd.Proof = nil", "	nd := d\n	nd.Proof = nil",
		2,
	},
	{
		"delete before a dispatched run is accounted for", "next.go",
		"	{\"dispatched mutating operation\", dispatchedMutation},\n	{\"deletion\", deletion},", "	{\"deletion\", deletion},\n	{\"dispatched mutating operation\", dispatchedMutation},",
		1,
	},
	{
		"start something else while a proof is owed", "next.go",
		"	{\"proof owed\", owedProof},\n", "",
		1,
	},
	{
		"never hand an owed Lease back", "next.go",
		"	{\"lock release owed\", owedRelease},\n", "",
		1,
	},
	{
		"forget the Lease of a claim that is given up", "next.go",
		"			nd.Owed = owe(c, s.Lease.Value.Epoch)", "			nd.Owed = nil",
		1,
	},
	{
		"claim before the finalizer", "next.go",
		"	if !s.Resource.Finalizer {\n		return AddFinalizer{}\n	}", "",
		1,
	},
	{
		"keep the old execution binding", "next.go",
		"	{\"execution binding changed\", bindingChange},\n", "",
		1,
	},
	{
		"take a Lease without an epoch for ours", "snapshot.go",
		"	if acquired(lease, holder) {", "	if lease.Value.Holder == holder {",
		1,
	},
	{
		"poll a Lease that was stolen", "advance.go",
		"	if c.Realm != \"\" && acquired(s.Lease, c.Holder) {", "	if c.Realm != \"\" && s.Lease.State == Present {",
		1,
	},
}
