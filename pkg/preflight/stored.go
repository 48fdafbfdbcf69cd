package preflight

import (
	"fmt"
	"maps"
	"slices"
)

// judgeCRDs holds the six CRDs to the identity that a release stamped on them. Nothing without a whole identity is adopted, whatever its spec
// looks like.
func judgeCRDs(r Release) Finding {
	d := &doubt{}
	found, edited := 0, 0
	versions := map[int64]bool{}
	for _, name := range r.Candidate.Chart.CRDs() {
		live, ok := r.CRDs[name]
		switch {
		case !ok || live.State == Unknown:
			d.dark(name + ": " + live.why())
		case live.State == Absent && r.Purpose == Upgrade:
			d.wrong(name + " is missing")
		case live.State == Present:
			found++
			drifted := judgeCRD(d, name, live.Value, r.Candidate.Chart.Stamps[name], versions)
			if drifted {
				edited++
			}
		}
	}
	if len(versions) > 1 {
		d.wrong(fmt.Sprintf("they carry different schema versions: %v", slices.Sorted(maps.Keys(versions))))
	}
	return d.finding("keep the managers offline and restore the identity that the release which made the CRD stamped on it, or back up the CRDs and their objects and reinstall from the first release; no value accepts an unknown schema",
		"ask somebody who may read CRDs", crdSummary(r, found, edited, versions)...)
}

func crdSummary(r Release, found, edited int, versions map[int64]bool) []string {
	total := len(r.Candidate.Chart.CRDs())
	if found == 0 {
		return []string{"none is left over from an earlier release"}
	}
	text := fmt.Sprintf("%d of %d", found, total)
	for v := range versions {
		text += fmt.Sprintf(", schema version %d, digests agree", v)
	}
	lines := []string{text}
	if edited > 0 {
		lines = append(lines, fmt.Sprintf("%s edited after a release wrote it: --force-conflicts takes the chart's spec back", count(edited, "was", "were")))
	}
	return lines
}

// judgeCRD reports whether the live spec differs from the stamped one, which an upgrade repairs.
func judgeCRD(d *doubt, name string, live CRD, ours Stamp, versions map[int64]bool) (drifted bool) {
	stamp, problem := stampOf(live.Annotations)
	if problem != "" {
		d.wrong(name + " " + problem)
		return false
	}
	versions[stamp.Version] = true
	if live.Deleting {
		d.wrong(name + " is being deleted")
	}
	switch {
	case stamp.Version > ours.Version:
		d.wrong(fmt.Sprintf("%s has schema version %d, newer than the candidate's %d", name, stamp.Version, ours.Version))
	case stamp.Version == ours.Version && stamp.Digest != ours.Digest:
		d.wrong(fmt.Sprintf("%s has the candidate's schema version %d and another digest: two releases claim one version", name, stamp.Version))
	case stamp.StateVersion > ours.StateVersion:
		d.wrong(fmt.Sprintf("%s has controller state version %d, newer than the candidate's %d", name, stamp.StateVersion, ours.StateVersion))
	}
	for _, v := range live.Stored {
		if !slices.Contains(ours.Stored, v) {
			d.wrong(fmt.Sprintf("%s has objects stored as %s, which the candidate does not know", name, v))
		}
	}
	return live.LiveDigest != "" && live.LiveDigest != stamp.Digest
}

// judgeState looks for state that a newer manager wrote: its meaning is not known to the candidate.
func judgeState(r Release) Finding {
	d := &doubt{}
	scanned := 0
	for _, resource := range slices.Sorted(maps.Keys(r.Stored)) {
		known := r.Stored[resource]
		switch known.State {
		case Unknown:
			d.dark(resource + ": " + known.why())
		case Present:
			scanned++
			for _, s := range known.Value {
				switch {
				case s.Version > r.Versions:
					d.wrong(fmt.Sprintf("%s %s/%s has state version %d, the candidate reads up to %d", resource, s.Namespace, s.Name, s.Version, r.Versions))
				case s.Version < 0:
					d.wrong(fmt.Sprintf("%s %s/%s has the malformed state version %d", resource, s.Namespace, s.Name, s.Version))
				}
			}
		}
	}
	d.bad = bounded(d.bad)
	good := fmt.Sprintf("the candidate reads all of it (up to version %d)", r.Versions)
	if scanned == 0 {
		good = "there is none"
	}
	return d.finding("use a release that reads this state; it does not get readable by trying again", "ask somebody who may list these kinds in all namespaces", good)
}

// judgeWork says what is under way. An upgrade takes running operations over; an uninstall leaves nobody to account for them.
func judgeWork(r Release) Finding {
	d := &doubt{}
	var running, applying, proofs, unresolved []string
	for _, resource := range slices.Sorted(maps.Keys(r.Work)) {
		known := r.Work[resource]
		if known.State == Unknown {
			d.dark(resource + ": " + known.why())
		}
		for _, w := range known.Value {
			name := w.Kind + " " + w.Namespace + "/" + w.Name
			switch {
			case w.Operation != "" && w.Mutating && w.Dispatched:
				applying = append(applying, name+" runs an "+w.Operation)
			case w.Operation != "":
				running = append(running, name+" is at "+w.Operation)
			}
			if w.ProofOwed {
				proofs = append(proofs, name+" owes a proof of its last Apply")
			}
			if w.UnresolvedRun != "" {
				unresolved = append(unresolved, fmt.Sprintf("%s carries a run that nobody accounted for (%s); its record goes over with the resource", name, w.UnresolvedRun))
			}
		}
	}
	if r.Purpose == Uninstall {
		d.bad = bounded(append(applying, proofs...))
		return d.finding("suspend the resource and wait until it stands still: without a manager nobody finds out what the run did", "ask somebody who may list these kinds in all namespaces",
			append([]string{"no Apply is under way" + andRunning(running)}, bounded(unresolved)...)...)
	}
	busy := slices.Concat(applying, proofs, unresolved)
	text := "nothing is under way"
	if n := len(running) + len(applying); n > 0 {
		text = count(n, "operation is", "operations are") + " under way; the new manager takes over"
	}
	return d.finding("", "ask somebody who may list these kinds in all namespaces", append([]string{text}, bounded(busy)...)...)
}

func andRunning(running []string) string {
	if len(running) == 0 {
		return ""
	}
	return fmt.Sprintf("; %s that only read stop with the manager", count(len(running), "operation", "operations"))
}
