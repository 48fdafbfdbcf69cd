package render_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/plan"
	"github.com/ptah-run/ptah/pkg/render"
)

var now = time.Date(2026, 11, 29, 5, 4, 0, 0, time.UTC)

func TestParseFormat(t *testing.T) {
	allowed := []render.FormatKind{render.Text, render.JSON, render.JSONPath, render.SQL}
	for name, c := range map[string]struct {
		value, jq string
		want      render.Format
		problem   string
	}{
		"nothing is text":           {want: render.Format{Kind: render.Text}},
		"jq alone is JSON":          {jq: ".", want: render.Format{Kind: render.JSON}},
		"jq of JSON":                {value: "json", jq: ".", want: render.Format{Kind: render.JSON}},
		"an argument":               {value: "jsonpath={.a=1}", want: render.Format{Kind: render.JSONPath, Arg: "{.a=1}"}},
		"unknown":                   {value: "xml", problem: `unknown output format "xml": this command prints text|json|jsonpath=…|sql`},
		"known, but not here":       {value: "yaml", problem: "unknown output format"},
		"missing argument":          {value: "jsonpath", problem: "needs its argument"},
		"empty argument":            {value: "jsonpath=", problem: "want jsonpath=…"},
		"argument without need":     {value: "json=x", problem: "want json"},
		"jq of what is not JSON":    {value: "sql", jq: ".", problem: "--jq filters JSON"},
		"upper case is not a thing": {value: "JSON", problem: "unknown output format"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := render.ParseFormat(c.value, c.jq, allowed...)
			if c.problem != "" {
				assert.ErrorContains(t, err, c.problem)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestAge(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": 0, "119s": 119 * time.Second, "2m": 2 * time.Minute, "59m": time.Hour - time.Second, "1h": time.Hour, "2h11m": 2*time.Hour + 11*time.Minute,
		"1d": 24 * time.Hour, "6d23h": 7*24*time.Hour - time.Hour, "7d": 7 * 24 * time.Hour, "729d": 729 * 24 * time.Hour, "2y": 730 * 24 * time.Hour, "2y1d": 731 * 24 * time.Hour,
	} {
		assert.Equal(t, want, render.Age(d))
		assert.Equal(t, want, render.Age(-d), "a clock that is ahead shows a size, not a sign")
	}
	assert.Equal(t, "never", render.Stamp(time.Time{}, now))
	assert.Equal(t, "2026-11-29 05:08 UTC (in 4m)", render.Stamp(now.Add(4*time.Minute), now))
	assert.Equal(t, "2026-11-29 03:04 UTC (2h ago)", render.Stamp(now.Add(-2*time.Hour).In(time.FixedZone("x", 3600)), now))
}

func TestPrintableTakesTheTeethOutOfTerminals(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                   "plain",
		"two\nlines\tand tab":     "two\nlines\tand tab",
		"\x1b[2Jcleared":          `\x1b[2Jcleared`,
		"\u009b31m":               `\x9b31m`,
		"user\u202egnp.exe":       `user\u202egnp.exe`,
		"zero\u200bwidth":         `zero\u200bwidth`,
		"over\rwritten\x7f":       `over\x0dwritten\x7f`,
		"naïve – ✓ 漢字 stays":      "naïve – ✓ 漢字 stays",
		string([]byte{'a', 0xff}): `a\ufffd`,
	} {
		assert.Equal(t, want, render.Printable(text))
	}
}

// What a database says never reaches the terminal as a command to it.
func TestSQLCannotDriveTheTerminal(t *testing.T) {
	view := planView(plan.Statement{SQL: "COMMENT ON TABLE a IS '\x1b]0;owned\x07'", Severity: "safe", Reason: "reason\x1b[31m\nSELECT 1", Object: "a"})
	text, err := render.Render(view, render.Options{Format: render.Format{Kind: render.Text}})
	require.NoError(t, err)
	assert.NotContains(t, string(text), "\x1b")
	assert.Contains(t, string(text), `--   reason\x1b[31m SELECT 1`, "a line break in the planner's words must not end the comment")
}

func planView(statements ...plan.Statement) *render.Plan {
	view := &render.Plan{Namespace: "app", Schema: "orders", Name: "ptah-plan-1", Role: render.RoleCurrent, Document: plan.Document{Dialect: "postgres", Statements: statements}}
	return view.WithBytes([]byte("{}\n"), now)
}

func TestHazards(t *testing.T) {
	add := plan.Statement{Severity: "safe", Kind: "add_column", Object: "a.b.c", Table: "a.b", Lock: "ACCESS EXCLUSIVE"}
	drop := plan.Statement{Severity: "destructive", Kind: "drop_column", Object: "a.b.d", Table: "a.b", Lock: "ACCESS EXCLUSIVE", Hazard: "loses data"}
	concurrent := plan.Statement{Severity: "safe", Kind: "create_index", Object: "a.i", Table: "a.b", Lock: "SHARE UPDATE EXCLUSIVE", Tx: "none"}
	for name, c := range map[string]struct {
		statements []plan.Statement
		want       []string
	}{
		"none":           {[]plan.Statement{{Severity: "safe"}}, nil},
		"a short lock":   {[]plan.Statement{add}, []string{"1 statement takes the ACCESS EXCLUSIVE lock on a.b (short: catalog only)"}},
		"grouped":        {[]plan.Statement{add, add, add}, []string{"3 statements take the ACCESS EXCLUSIVE lock on a.b (short: catalog only)"}},
		"outside of tx":  {[]plan.Statement{concurrent}, []string{"1 statement runs outside of a transaction and cannot be rolled back"}},
		"a cost alone":   {[]plan.Statement{{Severity: "warning", Hazard: "rewrites the table"}}, []string{"1 statement has a cost: rewrites the table"}},
		"worst is first": {[]plan.Statement{add, drop}, []string{"1 statement is destructive: drop column a.b.d", "1 statement takes the ACCESS EXCLUSIVE lock on a.b (short: catalog only)", "1 statement takes the ACCESS EXCLUSIVE lock on a.b (loses data)"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, hazard := range render.Hazards(plan.Document{Statements: c.statements}) {
				got = append(got, hazard.Text)
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestJQ(t *testing.T) {
	list := render.NewStatusList([]*render.Resource{{Name: "b", Generation: 1 << 60}, {Name: "a"}}, nil, now, false)
	filter := func(expression string) (string, error) {
		out, err := render.Render(list, render.Options{Format: render.Format{Kind: render.JSON}, JQ: expression})
		return string(out), err
	}
	for expression, want := range map[string]string{
		".items[].name":              "b\na\n",
		".items[0].generation":       "1152921504606846976\n",
		".items | map(.name) | sort": "[\"a\",\"b\"]\n",
		".nothing":                   "null\n",
		"empty":                      "",
		".items[] | select(.name == \"a\") | {name}": "{\"name\":\"a\"}\n",
	} {
		got, err := filter(expression)
		require.NoError(t, err, expression)
		assert.Equal(t, want, got, expression)
	}
	_, err := filter(".items | error")
	assert.ErrorContains(t, err, `running jq expression ".items | error"`)
	assert.ErrorContains(t, render.CheckJQ(".["), "parsing jq expression")
	assert.ErrorContains(t, render.CheckJQ("nosuch"), "compiling jq expression")
}

// Tables fit the terminal that they are told about, for any width that people have.
func TestTablesFitTheirTerminal(t *testing.T) {
	next := now.Add(-131 * time.Minute)
	list := render.NewStatusList([]*render.Resource{{
		Namespace: "app", ResourceKind: "migration", Name: "ledger", Phase: "VerifyingConvergence", Ready: "Unknown", NextReconciliation: &next,
		CreatedAt: now.Add(-90 * 24 * time.Hour), WaitingFor: render.Waiting{Text: strings.Repeat("a long story ", 12)},
	}}, nil, now, true)
	for columns := 80; columns <= 240; columns++ {
		text, err := render.Render(list, render.Options{Format: render.Format{Kind: render.Text}, Theme: render.Theme{Unicode: true, Width: columns}})
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			assert.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), columns, line)
		}
	}
}

// Every field that a program can meet stands in the reference.
func TestEveryFieldIsDocumented(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "cli-json.md"))
	require.NoError(t, err)
	reference := string(data)
	for _, view := range []any{render.Plan{}, render.Status{}, render.StatusList{}, render.Approval{}, render.PushResult{}, render.Version{}, render.Schema{}, render.Comparison{}, render.FormatResult{}} {
		for _, name := range fieldNames(reflect.TypeOf(view), map[reflect.Type]bool{}) {
			found := strings.Contains(reference, "`"+name+"`") || strings.Contains(reference, "`"+name+"[]`")
			assert.True(t, found, "field %s of %T is missing in docs/reference/cli-json.md", name, view)
		}
	}
}

func fieldNames(kind reflect.Type, seen map[reflect.Type]bool) []string {
	for kind.Kind() == reflect.Pointer || kind.Kind() == reflect.Slice {
		kind = kind.Elem()
	}
	if kind.Kind() != reflect.Struct || seen[kind] || !strings.Contains(kind.PkgPath(), "pkg/render") {
		return nil
	}
	seen[kind] = true
	var names []string
	for i := range kind.NumField() {
		field := kind.Field(i)
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && field.IsExported() {
			names = append(names, name)
		}
		names = append(names, fieldNames(field.Type, seen)...)
	}
	return names
}

func TestDocumentsSayWhatTheyAre(t *testing.T) {
	for kind, view := range map[string]render.View{
		"Plan": planView(plan.Statement{SQL: "SELECT 1", Severity: "safe"}), "ResourceStatus": render.NewStatus(&render.Resource{ResourceKind: "schema"}, now),
		"StatusList": render.NewStatusList(nil, nil, now, false), "PushResult": render.NewPushResult(render.PushResult{}), "Version": render.NewVersion(render.Client{}, nil, nil),
	} {
		data, err := json.Marshal(view.Data())
		require.NoError(t, err)
		var head render.Meta
		require.NoError(t, json.Unmarshal(data, &head))
		assert.Equal(t, render.Meta{APIVersion: render.APIVersion, Kind: kind}, head)
	}
}

// A suspension holds the proof that an Apply owes: nothing is late then, and no time of a next look is true.
func TestProofThatASuspensionHolds(t *testing.T) {
	long := now.Add(-3 * time.Hour)
	r := &render.Resource{
		Namespace: "app", ResourceKind: render.KindSchema, Name: "shop", Phase: "VerifyingConvergence", Ready: "False", NextReconciliation: &long, CreatedAt: long,
		Suspended: true, PendingProof: &render.Proof{Outcome: "ApplySucceeded", Plan: "p"},
	}
	draw := func(view render.View) string {
		text, err := render.Render(view, render.Options{Format: render.Format{Kind: render.Text}, Theme: render.Theme{Unicode: true, Width: 160}})
		require.NoError(t, err)
		return string(text)
	}
	assert.NotContains(t, draw(render.NewStatusList([]*render.Resource{r}, nil, now, true)), "late")
	one := draw(render.NewStatus(r, now))
	assert.Contains(t, one, "VerifyingConvergence, suspended (spec.suspend)")
	assert.Contains(t, one, "once it is resumed")

	r.Operation = &render.Operation{Type: "Observe", Dispatched: true, StartedAt: now.Add(-time.Second)}
	assert.NotContains(t, draw(render.NewStatus(r, now)), "once it is resumed", "its reading runs, and goes on")
	r.Operation, r.Suspended = nil, false
	assert.Contains(t, draw(render.NewStatusList([]*render.Resource{r}, nil, now, true)), "3h late")
}
