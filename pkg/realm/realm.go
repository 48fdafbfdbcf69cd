// Package realm decides who may work on one physical database: its credential-free name, the census of who claims it, and every step of
// the Lease under which claimants take turns. It decides over values; the caller reads and writes them.
package realm

import (
	"fmt"
	"strings"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/digest"
)

// NormaliseEngine maps spec.target.engine to the engine's internal name; false where this build has no such engine.
func NormaliseEngine(api string) (string, bool) {
	switch strings.ToLower(api) {
	case "postgresql":
		return "postgres", true
	case "mysql":
		return "mysql", true
	}
	return "", false
}

// Digest is the coordination digest: who shares it shares a database. The engine is the normalised name, the key exactly as written; the
// namespace is no part of it (contract: One database, one manager).
func Digest(engine, key string) string { return digest.Tuple("ptah-realm-v1", engine, key) }

// LeaseName is the name of the realm's Lease in the coordination namespace.
func LeaseName(coordinationDigest string) (string, error) {
	hex := digest.Hex(coordinationDigest)
	if hex == "" {
		return "", fmt.Errorf("naming database lease: %q is not a digest", coordinationDigest)
	}
	return v1alpha1.RealmLeasePrefix + hex[:40], nil
}

// Claimant is one resource of either family, as the census counts it.
type Claimant struct {
	UID       string
	Name      string // kind/name -n namespace, for a person who may list it; no verdict rests on it
	Digest    string // coordination digest
	Shared    bool   // spec.target.sharedRealm
	Suspended bool
	Deleted   bool // has a deletion timestamp
}

// claims reports whether the resource can run anything: one that cannot, claims nothing.
func (c Claimant) claims() bool { return !c.Suspended && !c.Deleted }

// Rivals are the others of a list that claim self's database.
func Rivals(self Claimant, others []Claimant) []Claimant {
	var rivals []Claimant
	seen := map[string]bool{self.UID: true}
	for _, c := range others {
		if seen[c.UID] || c.Digest != self.Digest || !c.claims() {
			continue
		}
		seen[c.UID] = true
		rivals = append(rivals, c)
	}
	return rivals
}

// Verdict is what the census says to one claimant.
type Verdict struct {
	Contested  bool // RealmConflict: no Job may run
	Claimants  int  // how many claim the database, self included
	Undeclared int  // how many of them have not declared the claim shared
}

// Judge counts who claims self's database. Self always counts, even where a stale list has not seen it yet, and counts as it is given here
// rather than as listed. More than one claimant and one undeclared block all of them.
func Judge(self Claimant, others []Claimant) Verdict {
	var v Verdict
	count := func(c Claimant) {
		v.Claimants++
		if !c.Shared {
			v.Undeclared++
		}
	}
	if self.claims() {
		count(self)
	}
	for _, c := range Rivals(self, others) {
		count(c)
	}
	v.Contested = v.Claimants > 1 && v.Undeclared > 0
	return v
}

// Message says it for a condition: counts only, never another resource's name.
func (v Verdict) Message() string {
	if !v.Contested {
		return ""
	}
	verb := "have"
	if v.Undeclared == 1 {
		verb = "has"
	}
	return fmt.Sprintf("%d resources claim this database and %d of them %s not declared spec.target.sharedRealm: true", v.Claimants, v.Undeclared, verb)
}
