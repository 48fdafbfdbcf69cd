// Package explain is the catalogue of every word that Ptah uses to say how things are: condition types and their reasons, Events, failure
// codes and phases. For each it says what it means, who has to move, and what to run. The plugin's explain and the reference page are drawn
// from it; a test holds it to the constants of the API.
//
//go:generate go run ../../hack/reasons -out ../../docs/reference/reasons.md
package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/spelling"
	"github.com/ptah-run/ptah/pkg/waiting"
)

// Kind is what a word is used for. One word can be used for several things.
type Kind string

// Kinds, in the order in which they are listed.
const (
	Condition Kind = "condition"
	Reason    Kind = "reason"
	Failure   Kind = "failure"
	Event     Kind = "event"
	Phase     Kind = "phase"
)

var order = []Kind{Condition, Reason, Failure, Event, Phase}

// Entry explains one use of a word.
type Entry struct {
	Kind Kind
	Name string
	// Where it is found: the kinds of resource and, for a reason, the conditions.
	Where string
	// Meaning in one or two sentences.
	Meaning string
	// By is who has to move; nobody where there is nothing to do.
	By waiting.Party
	// Clears says how it goes away.
	Clears string
	// Command to run next, with NAME and NAMESPACE to be filled in; empty where there is nothing to run.
	Command string
}

// Commands that many entries share.
const (
	look    = "kubectl ptah status NAME -n NAMESPACE"
	plan    = "kubectl ptah plan NAME -n NAMESPACE"
	approve = "kubectl ptah approve NAME -n NAMESPACE"
	resume  = "kubectl ptah resume NAME -n NAMESPACE"
	events  = "kubectl ptah events NAME -n NAMESPACE"
	check   = "kubectl ptah preflight schema/NAME -n NAMESPACE"
	settle  = "kubectl ptah clear-unresolved NAME -n NAMESPACE"
	stalled = "kubectl ptah find-stalled -A"
	push    = "kubectl ptah push schema FILE... oci://REFERENCE"
	show    = "kubectl ptah migration NAME -n NAMESPACE"
)

const (
	nobody   = waiting.Nobody
	itself   = waiting.Ptah
	approver = waiting.Approver
	author   = waiting.Author
	operator = waiting.Operator
)

// All lists the catalogue: by kind, then by name.
func All() []Entry {
	all := slices.Concat(conditions, reasons, failures, eventReasons, phases)
	slices.SortStableFunc(all, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind)), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// Kinds lists the kinds in order.
func Kinds() []Kind { return slices.Clone(order) }

// Find lists the uses of a word; case does not count, and "Type/Reason" or "Type=Status/Reason", as conditions are often written, finds both.
func Find(word string) []Entry {
	var found []Entry
	for _, part := range parts(word) {
		for _, entry := range All() {
			if strings.EqualFold(entry.Name, part) {
				found = append(found, entry)
			}
		}
	}
	return found
}

func parts(word string) []string {
	kind, reason, both := strings.Cut(word, "/")
	kind, _, _ = strings.Cut(kind, "=")
	if !both {
		return []string{kind}
	}
	return []string{kind, reason}
}

// Near lists words that were probably meant.
func Near(word string) []string { return spelling.Near(word, Names()) }

// Names lists every word once, sorted.
func Names() []string {
	var names []string
	for _, entry := range All() {
		names = append(names, entry.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
