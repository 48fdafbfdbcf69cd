package export

import (
	"bytes"
	"errors"
	"strings"

	"github.com/ptah-run/ptah/pkg/declare"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// unreadable reads what was written and names what the reader refuses, by where it stands.
func unreadable(d *model.Database, file string, data []byte) []string {
	dialect := declare.Postgres
	if d.Dialect == model.MySQL {
		dialect = d.Server
	}
	tree, err := declare.Read([]declare.File{{Name: file, Data: data}}, declare.Options{Dialect: dialect})
	if err == nil {
		_, err = tree.Render()
	}
	if err == nil {
		return nil
	}
	faults := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		faults = joined.Unwrap()
	}
	var out []string
	for _, fault := range faults {
		var e *declare.Error
		if !errors.As(fault, &e) {
			return append(out, fault.Error())
		}
		out = append(out, place(data, e.At.Line)+" ("+e.Text+")")
	}
	return out
}

// place is what the object of a line is called: its block, or its section and key.
func place(data []byte, line int) string {
	lines := bytes.Split(data, []byte("\n"))
	object := ""
	for i := min(line, len(lines)) - 1; i >= 0; i-- {
		text := string(lines[i])
		switch inside := strings.TrimLeft(text, " "); {
		case inside == text && strings.HasSuffix(text, "{"):
			return strings.TrimSuffix(text, " {")
		case inside == text && strings.HasSuffix(text, ":"):
			return strings.TrimSpace(strings.TrimSuffix(text, ":") + " " + object)
		case len(text)-len(inside) == 2 && object == "":
			object, _, _ = strings.Cut(strings.TrimPrefix(inside, "- name: "), ": ")
			object = strings.TrimSuffix(object, ":")
		}
	}
	return "what is declared"
}
