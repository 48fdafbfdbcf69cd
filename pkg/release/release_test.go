package release

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDescribePrefersTheStamp(t *testing.T) {
	t.Cleanup(func() { Revision = "" })
	Revision = "0123abc"
	assert.Equal(t, "0123abc", Describe())
}

func TestFromSettings(t *testing.T) {
	cases := map[string]struct {
		settings []debug.BuildSetting
		want     string
	}{
		"nothing recorded": {nil, "unknown"},
		"clean tree":       {[]debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "false"}}, "abc"},
		"changed tree":     {[]debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}}, "abc-dirty"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, fromSettings(tc.settings)) })
	}
}
