// Package timeline makes one story of the Events about a resource: its own, and those of its plans, approvals, Jobs and Pods, in the order of
// time, each thing once.
package timeline

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Entry is one thing that happened, once or many times.
type Entry struct {
	First, Last time.Time
	Count       int32
	Warning     bool
	Kind, Name  string // of what it is about
	Reason      string
	Message     string
	From        string // component that said so
}

// Telling says whether an entry is worth a line by default: what Ptah says about its own objects, and every warning. The rest is how Kubernetes makes
// Jobs and Pods.
func (e *Entry) Telling() bool { return e.Warning || strings.HasPrefix(e.Kind, "Ptah") }

// Scope is what belongs to one resource.
type Scope struct {
	Kind, Name string
	UID        types.UID
	// Owned are plans and approvals, by UID.
	Owned []types.UID
	// Jobs are names that the status remembers. More are found in the resource's own Events.
	Jobs []string
}

// SchemaScope reads a scope out of a PtahSchema.
func SchemaScope(schema *v1alpha1.PtahSchema) Scope {
	s := Scope{Kind: "PtahSchema", Name: schema.Name, UID: schema.UID}
	if op := schema.Status.ActiveOperation; op != nil {
		s.Jobs = append(s.Jobs, op.JobName)
	}
	if p := schema.Status.PendingObservation; p != nil {
		s.Jobs = append(s.Jobs, p.ApplyJobName)
	}
	return s
}

// MigrationScope reads a scope out of a PtahMigration.
func MigrationScope(migration *v1alpha1.PtahMigration) Scope {
	s := Scope{Kind: "PtahMigration", Name: migration.Name, UID: migration.UID}
	if op := migration.Status.ActiveOperation; op != nil {
		s.Jobs = append(s.Jobs, op.JobName)
	}
	if run := migration.Status.LastRun; run != nil {
		s.Jobs = append(s.Jobs, run.JobName)
	}
	if run := migration.Status.UnresolvedRun; run != nil {
		s.Jobs = append(s.Jobs, run.JobName)
	}
	return s
}

// jobName finds the names of operation Jobs in what the manager writes. A Job and its Events outlive the claim that names it.
var jobName = regexp.MustCompile(`\bptah-[a-z0-9]+-[a-z0-9.-]+-[0-9a-f]{16}\b`)

// podSuffix is what the Job controller appends to a Job's name, which it may have cut before.
var podSuffix = regexp.MustCompile(`^-?[a-z0-9]{5}$`)

// Merge picks the Events that belong to a resource and puts them in order, the oldest first. The same said again about the same object is
// one entry with a count.
func Merge(events []corev1.Event, scope Scope) []Entry {
	jobs := map[string]bool{}
	for _, job := range scope.Jobs {
		jobs[job] = job != ""
	}
	for i := range events {
		if scope.isResource(&events[i].InvolvedObject) {
			for _, job := range jobName.FindAllString(events[i].Message, -1) {
				jobs[job] = true
			}
		}
	}
	entries := map[string]*Entry{}
	for i := range events {
		if event := &events[i]; scope.owns(&event.InvolvedObject, jobs) {
			add(entries, entryOf(event))
		}
	}
	merged := make([]Entry, 0, len(entries))
	for _, entry := range entries {
		merged = append(merged, *entry)
	}
	slices.SortFunc(merged, func(a, b Entry) int {
		return cmp.Or(a.Last.Compare(b.Last), a.First.Compare(b.First), cmp.Compare(a.key(), b.key()))
	})
	return merged
}

func (s Scope) isResource(object *corev1.ObjectReference) bool {
	return object.Kind == s.Kind && object.Name == s.Name && object.UID == s.UID
}

func (s Scope) owns(object *corev1.ObjectReference, jobs map[string]bool) bool {
	switch object.Kind {
	case s.Kind:
		return s.isResource(object)
	case "Job":
		return jobs[object.Name]
	case "Pod":
		for job := range jobs {
			if rest, ok := strings.CutPrefix(object.Name, job); ok && podSuffix.MatchString(rest) {
				return true
			}
		}
		return false
	default:
		return object.UID != "" && slices.Contains(s.Owned, object.UID)
	}
}

func entryOf(event *corev1.Event) Entry {
	e := Entry{
		First: event.FirstTimestamp.UTC(), Last: event.LastTimestamp.UTC(), Count: max(event.Count, 1), Warning: event.Type == corev1.EventTypeWarning,
		Kind: event.InvolvedObject.Kind, Name: event.InvolvedObject.Name, Reason: event.Reason, Message: strings.TrimSpace(event.Message), From: event.Source.Component,
	}
	if e.From == "" {
		e.From = event.ReportingController
	}
	if s := event.Series; s != nil {
		e.Last, e.Count = s.LastObservedTime.UTC(), max(s.Count, e.Count)
	}
	// Events of the newer kind have one time only, and some have none but that of their object.
	fallback := firstOf(event.EventTime, event.CreationTimestamp)
	if event.FirstTimestamp.IsZero() {
		e.First = fallback
	}
	if e.Last.IsZero() || e.Last.Before(e.First) {
		e.Last = e.First
	}
	return e
}

func firstOf(at metav1.MicroTime, created metav1.Time) time.Time {
	if at.IsZero() {
		return created.UTC()
	}
	return at.UTC()
}

func add(entries map[string]*Entry, e Entry) {
	known, ok := entries[e.key()]
	if !ok {
		entries[e.key()] = &e
		return
	}
	known.Count += e.Count
	if e.First.Before(known.First) {
		known.First = e.First
	}
	if e.Last.After(known.Last) {
		known.Last = e.Last
	}
}

// key is what makes two Events the same.
func (e *Entry) key() string {
	kind := "n"
	if e.Warning {
		kind = "w"
	}
	return strings.Join([]string{e.Kind, e.Name, kind, e.Reason, e.Message, e.From}, "\x00")
}
