// Package preflight decides, before anything is changed, whether a cluster is ready for a release of the operator, and whether a namespace is
// ready for one schema or migration. A check is data: a name and a pure function over a snapshot, every part of which is there, is not there, or
// could not be read. The plugin and the hooks of the chart make the same checks in the same order.
package preflight

import "strings"

// State says what is known about one part of a snapshot. The zero State is Unknown.
type State int

// States.
const (
	Unknown State = iota
	Present
	Absent
)

// Known is one part of a snapshot.
type Known[T any] struct {
	State State
	Value T
	Why   string // with Unknown: why it could not be read
}

// Have is a part that was read.
func Have[T any](value T) Known[T] { return Known[T]{State: Present, Value: value} }

// None is a part that was looked for and is not there.
func None[T any]() Known[T] { return Known[T]{State: Absent} }

// Unseen is a part that could not be read.
func Unseen[T any](why string) Known[T] { return Known[T]{Why: why} }

// why never is empty, so that no unknown part goes by without a word.
func (k Known[T]) why() string {
	if k.Why == "" {
		return "it was not read"
	}
	return k.Why
}

// Verdict of one check.
type Verdict string

// Verdicts.
const (
	Pass         Verdict = "pass"
	Fail         Verdict = "fail"
	CouldNotTell Verdict = "unknown"
)

// Finding is what a check has to say. Details are lines for people: what was seen, where; Fix says what to do about a Fail or a CouldNotTell.
type Finding struct {
	Verdict Verdict
	Details []string
	Fix     string
}

// Check is one question to a snapshot of type S.
type Check[S any] struct {
	ID    string // stable, for programs
	Title string
	Judge func(S) Finding
	// Gate ends the run where the check does not pass: the questions after it would have no meaning.
	Gate bool
}

// Result is an answered check.
type Result struct {
	ID, Title string
	Finding
}

// Run answers the checks in their order.
func Run[S any](checks []Check[S], snapshot S) []Result {
	results := make([]Result, 0, len(checks))
	for _, check := range checks {
		finding := check.Judge(snapshot)
		results = append(results, Result{ID: check.ID, Title: check.Title, Finding: finding})
		if check.Gate && finding.Verdict == Fail {
			break
		}
	}
	return results
}

// Summary counts verdicts.
type Summary struct{ Passed, Failed, Unknown int }

// Sum counts the results.
func Sum(results []Result) Summary {
	var s Summary
	for _, r := range results {
		switch r.Verdict {
		case Pass:
			s.Passed++
		case Fail:
			s.Failed++
		default:
			s.Unknown++
		}
	}
	return s
}

func pass(details ...string) Finding { return Finding{Verdict: Pass, Details: details} }

func fail(fix string, details ...string) Finding {
	return Finding{Verdict: Fail, Details: details, Fix: fix}
}

func unknown(fix string, details ...string) Finding {
	return Finding{Verdict: CouldNotTell, Details: details, Fix: fix}
}

// doubt collects what a check over several parts saw: what is wrong, and what could not be seen. Something wrong outweighs something unseen,
// and neither hides the other.
type doubt struct {
	bad, unseen []string
}

func (d *doubt) wrong(text string) { d.bad = append(d.bad, text) }
func (d *doubt) dark(text string)  { d.unseen = append(d.unseen, text) }

// finding is the verdict: good is what to say where nothing is wrong and everything was seen.
func (d *doubt) finding(fix, look string, good ...string) Finding {
	switch {
	case len(d.bad) > 0:
		return fail(fix, append(d.bad, d.unseen...)...)
	case len(d.unseen) > 0:
		return unknown(look, d.unseen...)
	default:
		return pass(good...)
	}
}

// most bounds how many findings of one kind are listed one by one.
const most = 20

func bounded(lines []string) []string {
	if len(lines) <= most {
		return lines
	}
	return append(lines[:most:most], "and "+count(len(lines)-most, "more", "more"))
}

func join(words []string) string { return strings.Join(words, ", ") }
