package render

// Results of changing spec.suspend.
const (
	SuspensionSuspended = "suspended"
	SuspensionResumed   = "resumed"
	SuspensionUnchanged = "unchanged"
	SuspensionDryRun    = "dry-run"
)

// Suspension is what setting or clearing spec.suspend does, or did.
type Suspension struct {
	Meta
	Action   string   `json:"action"`             // suspend or resume
	Result   string   `json:"result"`             // suspended, resumed, unchanged or dry-run; empty before the question
	DryRun   string   `json:"dryRun,omitempty"`   // client or server
	InFlight string   `json:"inFlight,omitempty"` // what runs or is owed
	Writing  bool     `json:"writing"`            // an Apply may be changing the database at this moment
	Effects  []string `json:"effects"`
	// Resource as it was read, or as the server stored it.
	Resource *Resource `json:"resource"`
}

// NewSuspension shows a change of spec.suspend.
func NewSuspension(s Suspension) *Suspension {
	s.Meta = Meta{APIVersion: APIVersion, Kind: "Suspension"}
	if s.Effects == nil {
		s.Effects = []string{}
	}
	return &s
}

// Data is this view.
func (s *Suspension) Data() any { return s }

// Names is the resource.
func (s *Suspension) Names() []string { return []string{s.Resource.typeName()} }

// Draw writes what will happen before the question, and one line of what was done after it.
func (s *Suspension) Draw(c *Canvas) {
	what := s.Resource.ResourceKind + " " + s.Resource.Namespace + "/" + s.Resource.Name
	switch s.Result {
	case "":
		s.drawEffects(c, what)
	case SuspensionUnchanged:
		state := "is not suspended"
		if s.Action == "suspend" {
			state = "is suspended already"
		}
		c.println(what + " " + state + "; nothing was changed")
	case SuspensionDryRun:
		c.println(what + " would be " + map[string]string{"suspend": "suspended", "resume": "resumed"}[s.Action] + " (dry run by the " + s.DryRun + ")")
	default:
		c.println(c.mark(Good) + " " + what + " is " + s.Result)
	}
}

func (s *Suspension) drawEffects(c *Canvas, what string) {
	f := c.fields()
	label := map[string]string{"suspend": "Suspend", "resume": "Resume"}[s.Action]
	f.line(label, c.paint(Strong, what))
	f.line("Phase", c.paint(phaseTone(s.Resource.Phase), Printable(s.Resource.Phase)))
	inFlight := "nothing"
	if s.InFlight != "" {
		inFlight = s.InFlight
		if s.Writing {
			inFlight = c.mark(Caution) + " " + inFlight + ", and may be changing the database now"
		}
	}
	f.line("In flight", inFlight)
	f.line("What happens", s.Effects...)
}
