package render_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ptah-run/ptah/pkg/render"
)

func TestReflow(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"what fits stays": {"one\ntwo\n", "one\ntwo\n"},
		"a paragraph is filled anew": {
			"A bundle proves itself: whoever can write it can write another. Keep the\ndigest.\n\nNext.\n",
			"A bundle proves itself: whoever can\nwrite it can write another. Keep the\ndigest.\n\nNext.\n",
		},
		"the second column stays": {
			"  insync    the database is what the current artifact says\n            by a reading\n  idle      over\n",
			"  insync    the database is what the\n            current artifact says by a\n            reading\n  idle      over\n",
		},
		"flags": {
			"  -A, --all           Look in all namespaces, and say so\n      --every duration   How often\n",
			"  -A, --all           Look in all\n                      namespaces, and\n                      say so\n      --every duration   How often\n",
		},
		"a command is copied as it is": {
			"  kubectl ptah verify plans/ --digest sha256:99a821c0f52b1eb6d643633d5f8e\n",
			"  kubectl ptah verify plans/ --digest sha256:99a821c0f52b1eb6d643633d5f8e\n",
		},
		"prose that names a command is prose": {
			"Look at it first: \"kubectl ptah plan\" shows what would run.\n",
			"Look at it first: \"kubectl ptah plan\"\nshows what would run.\n",
		},
		"no room beside the first column": {
			"      --as-user-extra stringArray         User extras to impersonate, and more\n",
			"      --as-user-extra stringArray\n          User extras to impersonate,\n          and more\n",
		},
		"a word that does not fit beside the first column": {
			"  -o, --output string   One of text|wide|json|yaml|name\n",
			"  -o, --output string\n      One of text|wide|json|yaml|name\n",
		},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, render.Reflow(c.text, 40)) })
	}
}
