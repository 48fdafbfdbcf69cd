package render

import (
	"fmt"
	"strings"
	"time"

	"github.com/ptah-run/ptah/pkg/timeline"
)

// EventItem is one thing that happened.
type EventItem struct {
	FirstAt time.Time `json:"firstAt"`
	LastAt  time.Time `json:"lastAt"`
	Count   int32     `json:"count"`
	Type    string    `json:"type"` // Normal or Warning
	Object  string    `json:"object"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	From    string    `json:"from,omitempty"`
}

// EventList is what happened to one resource and what belongs to it, the oldest first.
type EventList struct {
	Meta
	ResourceKind string      `json:"resourceKind"`
	Namespace    string      `json:"namespace"`
	Name         string      `json:"name"`
	Items        []EventItem `json:"items"`
	// Unseen lists what could not be read; the answer is then partial.
	Unseen []Unseen `json:"unseen"`

	now      time.Time
	onlyRows map[int]bool
}

// NewEventList shows a timeline.
func NewEventList(kind, namespace, name string, entries []timeline.Entry, unseen []Unseen, now time.Time) *EventList {
	l := &EventList{
		Meta: Meta{APIVersion: APIVersion, Kind: "EventList"}, ResourceKind: kind, Namespace: namespace, Name: name,
		Items: make([]EventItem, 0, len(entries)), Unseen: unseen, now: now,
	}
	if l.Unseen == nil {
		l.Unseen = []Unseen{}
	}
	for _, e := range entries {
		item := EventItem{
			FirstAt: e.First, LastAt: e.Last, Count: e.Count, Type: "Normal", Object: strings.ToLower(e.Kind) + "/" + e.Name,
			Reason: e.Reason, Message: e.Message, From: e.From,
		}
		if e.Warning {
			item.Type = "Warning"
		}
		l.Items = append(l.Items, item)
	}
	return l
}

// Only draws these rows and no others, in the column widths of the whole list.
func (l *EventList) Only(rows map[int]bool) *EventList {
	l.onlyRows = rows
	return l
}

// Data is this view.
func (l *EventList) Data() any { return l }

// Names lists what the Events are about, each once.
func (l *EventList) Names() []string {
	var names []string
	seen := map[string]bool{}
	for _, item := range l.Items {
		if !seen[item.Object] {
			seen[item.Object] = true
			names = append(names, item.Object)
		}
	}
	return names
}

// Draw writes the table. An empty list draws nothing.
func (l *EventList) Draw(c *Canvas) {
	if len(l.Items) == 0 {
		return
	}
	columns := []column{{title: "LAST"}, {title: "TYPE"}, {title: "REASON"}, {title: "OBJECT", spare: 1}, {title: "MESSAGE", flexible: true}}
	if c.Wide {
		columns = append(columns, column{title: "FIRST"}, column{title: "COUNT"}, column{title: "FROM"})
	}
	t := c.table(columns...)
	if c.Wide {
		t.painter = t.painter.unbounded()
	}
	var hidden []int
	for i, item := range l.Items {
		t.rows = append(t.rows, l.row(c, item))
		if l.onlyRows != nil && !l.onlyRows[i] {
			hidden = append(hidden, i)
		}
	}
	t.drawExcept(&c.out, c.Headers, hidden)
}

func (l *EventList) row(c *Canvas, item EventItem) []cell {
	last := Age(l.now.Sub(item.LastAt))
	if item.Count > 1 && !c.Wide {
		last += fmt.Sprintf(" (x%d over %s)", item.Count, Age(item.LastAt.Sub(item.FirstAt)))
	}
	kind := cell{text: item.Type}
	if item.Type == "Warning" {
		kind.tone = Caution
	}
	row := []cell{{text: last}, kind, {text: Printable(item.Reason)}, {text: item.Object}, {text: oneLine(item.Message)}}
	if c.Wide {
		row = append(row, cell{text: Age(l.now.Sub(item.FirstAt))}, cell{text: fmt.Sprint(item.Count)}, cell{text: orNone(c, Printable(item.From))})
	}
	return row
}
