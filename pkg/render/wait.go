package render

import "fmt"

// Wait is what came of waiting for a state.
type Wait struct {
	Meta
	ResourceKind string `json:"resourceKind,omitempty"` // schema or migration; left out where the resource was not there
	Namespace    string `json:"namespace"`
	Name         string `json:"name"`
	State        string `json:"state"` // that was waited for
	Reached      bool   `json:"reached"`
	Missing      string `json:"missing,omitempty"` // what stands between, where it was not reached
	// Resource as it was seen last.
	Resource *Resource `json:"resource,omitempty"`
}

// NewWait shows what came of waiting.
func NewWait(w Wait) *Wait {
	w.Meta = Meta{APIVersion: APIVersion, Kind: "WaitResult"}
	if w.Resource != nil {
		w.ResourceKind = w.Resource.ResourceKind
	}
	return &w
}

// Data is this view.
func (w *Wait) Data() any { return w }

// Names is the resource, where the state was reached.
func (w *Wait) Names() []string {
	if w.Resource == nil || !w.Reached {
		return nil
	}
	return []string{w.Resource.typeName()}
}

var states = map[string]string{
	"insync": "in sync", "awaiting-approval": "waiting for an approval", "applied": "applied", "suspended": "suspended", "idle": "idle", "deleted": "gone",
}

// StateWords spells a state that can be waited for, behind "is".
func StateWords(state string) string { return states[state] }

// Draw writes one line for a state that was reached. Everything else is an error, and errors are not the answer.
func (w *Wait) Draw(c *Canvas) {
	if !w.Reached {
		return
	}
	kind := ""
	if w.ResourceKind != "" {
		kind = w.ResourceKind + " "
	}
	text := fmt.Sprintf("%s %s%s/%s is %s", c.mark(Good), kind, w.Namespace, w.Name, states[w.State])
	if w.State == "awaiting-approval" && w.Resource != nil && w.Resource.Plan != nil {
		text += " of " + w.Resource.Plan.Name
	}
	c.println(text)
}
