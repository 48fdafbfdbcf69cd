package declare_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/ptah-run/ptah/pkg/declare"
)

// seeds are the examples and everything that is refused.
func seeds(f *testing.F, suffix string) {
	f.Helper()
	for _, name := range []string{"shop.", "mysql."} {
		data, err := os.ReadFile("testdata/" + name + suffix)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, c := range faults {
		if strings.HasSuffix(c.name, suffix) && len(c.text) < 4096 {
			f.Add([]byte(c.text))
		}
	}
}

// check reads whatever comes. It must end, name a place for each fault, and render the same statements each time.
func check(t *testing.T, name string, data []byte) {
	t.Helper()
	for _, dialect := range []string{declare.Postgres, declare.MariaDB} {
		checkFor(t, dialect, name, data)
	}
}

func checkFor(t *testing.T, dialect, name string, data []byte) {
	t.Helper()
	files := []declare.File{{Name: name, Data: data}}
	tree, err := declare.Read(files, declare.Options{Dialect: dialect})
	if err != nil {
		var fault *declare.Error
		if !errors.As(err, &fault) || fault.At.File != name || fault.At.Line < 1 || fault.At.Column < 1 {
			t.Fatalf("an error without its place: %v", err)
		}
		return
	}
	first, err := tree.Render()
	if err != nil {
		return
	}
	again, err := declare.Read(append(files, files...), declare.Options{Dialect: dialect})
	if err == nil && name != "a.hcl" { // variables and locals would stand twice
		second, err := again.Render()
		if err != nil || len(first) != len(second) {
			t.Fatalf("the same file twice gives %d statements for %d: %v", len(second), len(first), err)
		}
	}
	for i := range first {
		if strings.ContainsRune(first[i].SQL, 0) || first[i].At.Line < 1 {
			t.Fatalf("statement %d: %q", i, first[i].SQL)
		}
		for _, offset := range []int{0, len(first[i].SQL) / 2, len(first[i].SQL)} {
			if first[i].Where(offset).Line < 1 {
				t.Fatalf("offset %d of %q has no place", offset, first[i].SQL)
			}
		}
	}
	if formatted, err := declare.Format(name, data); err == nil {
		if _, err := declare.Read([]declare.File{{Name: name, Data: formatted}}, declare.Options{Dialect: dialect}); err != nil {
			t.Fatalf("formatting breaks it: %v\n%s", err, formatted)
		}
	}
}

func FuzzYAML(f *testing.F) {
	seeds(f, "yaml")
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.yaml", data) })
}

func FuzzHCL(f *testing.F) {
	seeds(f, "hcl")
	f.Fuzz(func(t *testing.T, data []byte) { check(t, "a.hcl", data) })
}
