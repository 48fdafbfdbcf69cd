package convergence

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
)

// Object is the part of a PtahSchema or PtahMigration that the verdict needs, under the API's own names, so that a reader can decode
// nothing else. Unknown fields are left alone: what an older or newer operator does not record stays zero.
type Object struct {
	Metadata Metadata `json:"metadata"`
	Spec     Spec     `json:"spec"`
	Status   Status   `json:"status"`
}

// Metadata of an object.
type Metadata struct {
	Namespace         string     `json:"namespace"`
	Name              string     `json:"name"`
	UID               string     `json:"uid"`
	Generation        int64      `json:"generation"`
	CreationTimestamp time.Time  `json:"creationTimestamp"`
	DeletionTimestamp *time.Time `json:"deletionTimestamp"`
}

// Spec is what the author asked for.
type Spec struct {
	Suspend   bool      `json:"suspend"`
	Execution Execution `json:"execution"`
}

// Execution bounds an operation.
type Execution struct {
	ActiveDeadlineSeconds int64 `json:"activeDeadlineSeconds"`
}

// Status is what the manager last wrote.
type Status struct {
	Phase                  string      `json:"phase"`
	ObservedGeneration     int64       `json:"observedGeneration"`
	NextReconciliationTime *time.Time  `json:"nextReconciliationTime"`
	Conditions             []Condition `json:"conditions"`
	ActiveOperation        *Operation  `json:"activeOperation"`
}

// Condition without its times and its message.
type Condition struct {
	Type   string `json:"type"`
	Status string `json:"status"`
	Reason string `json:"reason"`
}

// Operation is the claim of what is running.
type Operation struct {
	Type      string    `json:"type"`
	Attempt   int32     `json:"attempt"`
	JobName   string    `json:"jobName"`
	StartedAt time.Time `json:"startedAt"`
}

// OfSchema takes from a PtahSchema what the verdict needs.
func OfSchema(s *v1alpha1.PtahSchema) *Object {
	o := of(&s.ObjectMeta, s.Spec.Suspend, s.Spec.Execution, s.Status.Conditions, s.Status.NextReconciliationTime)
	o.Status.Phase, o.Status.ObservedGeneration = string(s.Status.Phase), s.Status.ObservedGeneration
	if op := s.Status.ActiveOperation; op != nil {
		o.Status.ActiveOperation = &Operation{Type: string(op.Type), Attempt: op.Attempt, JobName: op.JobName, StartedAt: op.StartedAt.Time}
	}
	return o
}

// OfMigration takes from a PtahMigration what the verdict needs.
func OfMigration(m *v1alpha1.PtahMigration) *Object {
	o := of(&m.ObjectMeta, m.Spec.Suspend, m.Spec.Execution, m.Status.Conditions, m.Status.NextReconciliationTime)
	o.Status.Phase, o.Status.ObservedGeneration = string(m.Status.Phase), m.Status.ObservedGeneration
	if op := m.Status.ActiveOperation; op != nil {
		o.Status.ActiveOperation = &Operation{Type: string(op.Type), Attempt: op.Attempt, JobName: op.JobName, StartedAt: op.StartedAt.Time}
	}
	return o
}

func of(meta *metav1.ObjectMeta, suspend bool, execution v1alpha1.Execution, conditions []metav1.Condition, next *metav1.Time) *Object {
	o := &Object{
		Metadata: Metadata{
			Namespace: meta.Namespace, Name: meta.Name, UID: string(meta.UID), Generation: meta.Generation, CreationTimestamp: meta.CreationTimestamp.Time,
		},
		Spec: Spec{Suspend: suspend, Execution: Execution{ActiveDeadlineSeconds: execution.ActiveDeadlineSeconds}},
	}
	if meta.DeletionTimestamp != nil {
		o.Metadata.DeletionTimestamp = &meta.DeletionTimestamp.Time
	}
	if next != nil {
		o.Status.NextReconciliationTime = &next.Time
	}
	for _, c := range conditions {
		o.Status.Conditions = append(o.Status.Conditions, Condition{Type: c.Type, Status: string(c.Status), Reason: c.Reason})
	}
	return o
}
