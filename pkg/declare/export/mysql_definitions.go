package export

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ptah-run/ptah/pkg/declare"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// heads are the beginnings of definitions as the servers print them. One that begins in another way, with a definer say, cannot be declared.
var (
	viewHead    = regexp.MustCompile("(?s)^CREATE ALGORITHM=(UNDEFINED|MERGE|TEMPTABLE) SQL SECURITY (DEFINER|INVOKER) VIEW `(?:[^`]|``)*` AS (.*)$")
	viewEnd     = regexp.MustCompile(`(?s)^(.*) WITH (CASCADED|LOCAL) CHECK OPTION$`)
	triggerHead = regexp.MustCompile("(?s)^CREATE TRIGGER `(?:[^`]|``)*` (BEFORE|AFTER) (INSERT|UPDATE|DELETE) ON `(?:[^`]|``)*` FOR EACH ROW (.*)$")
	routineHead = regexp.MustCompile("(?s)^CREATE (?:FUNCTION|PROCEDURE) `(?:[^`]|``)*`(.*)$")
	eventHead   = regexp.MustCompile("(?s)^CREATE EVENT `(?:[^`]|``)*` ON SCHEDULE (.*?) ON COMPLETION (NOT )?PRESERVE (ENABLE|DISABLE ON SLAVE|DISABLE ON REPLICA|DISABLE)(?: COMMENT ('(?:[^'\\\\]|''|\\\\.)*'))? DO (.*)$")
	trait       = regexp.MustCompile(`^    (?:(DETERMINISTIC)|(NO SQL|READS SQL DATA|MODIFIES SQL DATA)|SQL SECURITY (INVOKER)|COMMENT ('(?:[^'\\]|''|\\.)*'))\n`)
)

// definitionsMySQL writes views, routines, triggers and events.
func (w *writer) definitionsMySQL(root *node, d *model.Database) {
	sections := map[string]*node{}
	for _, kind := range definitionKinds {
		sections[kind] = newMapping()
	}
	for i := range d.Definitions {
		def := &d.Definitions[i]
		one, ok := definition(d, def)
		if settings := slices.ContainsFunc(def.Properties, func(p model.Property) bool { return p.Name != "order" }); !ok || settings {
			w.object(def.Object)
			continue
		}
		if def.Kind == "trigger" { // whose name has no schema
			sections[def.Kind].put(def.Name, one)
		} else {
			sections[def.Kind].putObject(named(model.Name{Name: def.Name}), one)
		}
	}
	for _, kind := range definitionKinds {
		root.section(kind+"s", sections[kind])
	}
}

var definitionKinds = []string{"function", "procedure", "view", "trigger", "event"}

func definition(all *model.Database, d *model.Definition) (*node, bool) {
	switch d.Kind {
	case "view":
		return view(d)
	case "trigger":
		return trigger(all, d)
	case "function", "procedure":
		return routine(d)
	case "event":
		return event(d)
	}
	return nil, false
}

func view(d *model.Definition) (*node, bool) {
	m := newMapping()
	head := viewHead.FindStringSubmatch(d.Create)
	if head == nil {
		return m, false
	}
	if head[1] != "UNDEFINED" {
		m.putText("algorithm", head[1])
	}
	if head[2] != "DEFINER" {
		m.putText("security", head[2])
	}
	body := head[3]
	if end := viewEnd.FindStringSubmatch(body); end != nil {
		body = end[1]
		m.putText("with_check", end[2])
	}
	m.putText("body", body)
	var needs []string
	for _, dep := range d.DependsOn {
		needs = append(needs, part(dep.Name))
	}
	m.putTexts("depends_on", needs)
	return m, true
}

// trigger follows the one before it among those of the same table, time and event.
func trigger(all *model.Database, d *model.Definition) (*node, bool) {
	m := newMapping()
	head := triggerHead.FindStringSubmatch(d.Create)
	if head == nil {
		return m, false
	}
	m.put("table", referenceNode(reference{kind: "table", Name: model.Name{Name: d.Table}}))
	m.putText("timing", head[1])
	m.putText("event", head[2])
	before := ""
	for i := range all.Definitions {
		o := &all.Definitions[i]
		other := triggerHead.FindStringSubmatch(o.Create)
		if o.Kind == d.Kind && o.Table == d.Table && other != nil && other[1] == head[1] && other[2] == head[2] && order(o) == order(d)-1 {
			before = o.Name
		}
	}
	if order(d) > 1 && before == "" {
		return m, false
	}
	m.putText("follows", before)
	m.putText("body", head[3])
	return m, true
}

func order(d *model.Definition) int {
	for _, p := range d.Properties {
		if p.Name == "order" {
			n := 0
			for _, digit := range p.Set {
				n = n*10 + int(digit-'0')
			}
			return n
		}
	}
	return 0
}

func routine(d *model.Definition) (*node, bool) {
	m := newMapping()
	head := routineHead.FindStringSubmatch(d.Create)
	if head == nil {
		return m, false
	}
	params, rest, ok := inParentheses(head[1], true)
	if !ok {
		return m, false
	}
	m.putText("params", params)
	if d.Kind == "function" {
		var returns string
		returns, rest, ok = strings.Cut(rest, "\n")
		returns, known := strings.CutPrefix(returns, " RETURNS ")
		if !ok || !known {
			return m, false
		}
		m.putText("returns", returns)
	} else if rest, ok = strings.CutPrefix(rest, "\n"); !ok {
		return m, false
	}
	for {
		t := trait.FindStringSubmatch(rest)
		if t == nil {
			break
		}
		m.putFlag("deterministic", t[1] != "")
		m.putText("data_access", t[2])
		m.putText("security", t[3])
		m.putText("comment", unliteral(t[4]))
		rest = rest[len(t[0]):]
	}
	m.putText("body", rest)
	return m, rest != ""
}

// inParentheses cuts behind the parenthesis that closes the first one.
func inParentheses(text string, mysql bool) (inner, rest string, ok bool) {
	for i := range len(text) {
		if text[i] == ')' && declare.Balanced(text[:i+1], mysql) {
			return text[1:i], text[i+1:], text[0] == '('
		}
	}
	return "", "", false
}

func event(d *model.Definition) (*node, bool) {
	m := newMapping()
	head := eventHead.FindStringSubmatch(d.Create)
	if head == nil {
		return m, false
	}
	m.putText("schedule", head[1])
	m.putFlag("preserve", head[2] == "")
	if head[3] != "ENABLE" {
		m.putText("status", head[3])
	}
	m.putText("comment", unliteral(head[4]))
	m.putText("body", head[5])
	return m, true
}
