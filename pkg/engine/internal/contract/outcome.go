package contract

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ptah-run/ptah/pkg/engine/diff"
	"github.com/ptah-run/ptah/pkg/engine/internal/fault"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/engine/scope"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/plan"
)

// maxFindings bounds a drift report.
const maxFindings = 64

// driftReport is what a report's digest covers, as canonical JSON. The fingerprints tell two states with equal counts apart and name nothing.
type driftReport struct {
	FormatVersion int            `json:"format_version"`
	Dialect       string         `json:"dialect"`
	From          string         `json:"from_fingerprint"`
	To            string         `json:"to_fingerprint"`
	Highest       string         `json:"highest,omitempty"`
	Destructive   bool           `json:"destructive"`
	Findings      []diff.Finding `json:"findings"`
}

// Report counts the differences between a database and a declared schema.
func Report(live, desired *model.Database) (frame.Observed, error) {
	findings := diff.Compare(live, desired).Findings()
	r := driftReport{FormatVersion: 1, Dialect: live.Dialect, From: model.Fingerprint(live), To: model.Fingerprint(desired), Findings: findings}
	if len(findings) > 0 {
		r.Highest = findings[0].Severity
		r.Destructive = r.Highest == diff.Destructive
	}
	data, err := json.Marshal(r)
	if err != nil {
		return frame.Observed{}, fault.Wrap(err, frame.CodeInternal, "encoding the drift report")
	}
	sum := sha256.Sum256(append(data, '\n'))
	o := frame.Observed{Dialect: live.Dialect, ReportDigest: "sha256:" + hex.EncodeToString(sum[:]), Highest: r.Highest}
	for i, f := range findings {
		o.Total += f.Count
		if i < maxFindings {
			o.Findings = append(o.Findings, frame.Finding(f))
		}
	}
	o.Truncated = len(findings) > maxFindings
	return o, nil
}

// EncodeFault names the object whose statement may not stand in a plan, such as one with a literal that reads like a credential.
func EncodeFault(doc plan.Document, err error) error {
	if errors.Is(err, plan.ErrTooLarge) {
		return fault.Wrap(err, frame.CodePlanTooLarge, "the plan is larger than 8 MiB")
	}
	var problem *plan.DocumentError
	if errors.As(err, &problem) && problem.Statement >= 0 && problem.Statement < len(doc.Statements) {
		s := doc.Statements[problem.Statement]
		return fault.Wrap(err, frame.CodeUnsupportedObject, "%s (%s) cannot be planned: %s", s.Object, s.Kind, problem.Problem)
	}
	return fault.Wrap(err, frame.CodeInternal, "the plan is not a valid document: %s", DocumentProblem(err))
}

// DocumentProblem is pkg/plan's own text, which names statements by number and quotes nothing of them.
func DocumentProblem(err error) string {
	var problem *plan.DocumentError
	if errors.As(err, &problem) {
		return problem.Error()
	}
	return "unknown problem"
}

// maxNamed is how many objects a refusal names before it counts the rest.
const maxNamed = 6

// RefuseUnmodelled refuses what the model does not describe, by name.
func RefuseUnmodelled(where string, d *model.Database) error {
	if len(d.Unmodelled) == 0 {
		return nil
	}
	names := make([]string, len(d.Unmodelled))
	for i, o := range d.Unmodelled {
		names[i] = NameObject(o)
	}
	return fault.New(frame.CodeUnsupportedObject, "%s has objects that Ptah does not manage yet: %s; exclude them, or remove them", where, enumerate(names))
}

// RefuseSharedOrigins refuses a declared schema in which two of a kind are renamed from the same one: only a person can say which of them it became.
func RefuseSharedOrigins(desired *model.Database) error {
	tables := map[model.Name]string{}
	for i := range desired.Tables {
		t := &desired.Tables[i]
		old := model.Name{Schema: t.Schema, Name: t.RenamedFrom}
		if other, twice := tables[old]; twice && t.RenamedFrom != "" {
			return sharedOrigin(model.Object{Kind: model.KindTable, Schema: t.Schema, Name: t.Name.Name}, other, t.RenamedFrom)
		}
		tables[old] = t.Name.Name
		columns, indexes := map[string]string{}, map[string]string{}
		for j := range t.Columns {
			c := &t.Columns[j]
			if other, twice := columns[c.RenamedFrom]; twice && c.RenamedFrom != "" {
				return sharedOrigin(model.Object{Kind: "column", Schema: t.Schema, Table: t.Name.Name, Name: c.Name}, other, c.RenamedFrom)
			}
			columns[c.RenamedFrom] = c.Name
		}
		for j := range t.Indexes {
			x := &t.Indexes[j]
			if other, twice := indexes[x.RenamedFrom]; twice && x.RenamedFrom != "" {
				return sharedOrigin(model.Object{Kind: "index", Schema: t.Schema, Table: t.Name.Name, Name: x.Name}, other, x.RenamedFrom)
			}
			indexes[x.RenamedFrom] = x.Name
		}
	}
	return nil
}

func sharedOrigin(o model.Object, other, from string) error {
	return fault.New(frame.CodeUnsupportedObject, "%s and %q are both declared as renamed from %q: nobody but a person can say which of them it became", NameObject(o), other, from)
}

// NameObject names an object for a person.
func NameObject(o model.Object) string {
	table := fmt.Sprintf("%q", o.Table)
	if o.Schema != "" {
		table = fmt.Sprintf("%q.%q", o.Schema, o.Table)
	}
	switch {
	case o.Table != "" && o.Table != o.Name:
		return fmt.Sprintf("%s %q of table %s", o.Kind, o.Name, table)
	case o.Schema == "":
		return fmt.Sprintf("%s %q", o.Kind, o.Name)
	}
	return fmt.Sprintf("%s %q.%q", o.Kind, o.Schema, o.Name)
}

func enumerate(names []string) string {
	if len(names) <= maxNamed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), len(names)-maxNamed)
}

// CheckDrift reads what every dialect checks of the options: the scope and the threshold.
func CheckDrift(opts Options) (scope.Scope, error) {
	sc, err := scope.Parse(opts.Exclude)
	if err != nil {
		return sc, fault.Wrap(err, frame.CodeConfigurationInvalid, "%s", err)
	}
	switch opts.DriftSeverity {
	case "", DriftAll, DriftDestructive:
		return sc, nil
	}
	return sc, fault.New(frame.CodeConfigurationInvalid, "driftSeverity %q is unknown", opts.DriftSeverity)
}
