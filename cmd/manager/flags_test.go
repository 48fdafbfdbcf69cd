package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A manager that cannot name its images by digest does not start, and says which flag is at fault.
func TestIdentityIsRequired(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("a", 64)
	good := []string{
		"--controller-image=r/manager" + digest, "--executor-image=r/executor" + digest, "--runner-image=r/manager" + digest,
		"--ptah-version=1", "--controller-revision=abc", "--coordination-namespace=ptah",
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"complete":       {good, ""},
		"mutable tag":    {append(good[:len(good):len(good)], "--executor-image=r/executor:latest"), "--executor-image must be pinned by digest"},
		"tag and digest": {append(good[:len(good):len(good)], "--executor-image=r/executor:1"+digest), ""},
		"no runner":      {append(good[:len(good):len(good)], "--runner-image="), "--runner-image must be pinned by digest"},
		"no revision":    {append(good[:len(good):len(good)], "--controller-revision="), "--controller-revision is required"},
		"no namespace":   {append(good[:len(good):len(good)], "--coordination-namespace="), "--coordination-namespace is required"},
		"no worker":      {append(good[:len(good):len(good)], "--workers=0"), "--workers must be at least 1"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &flags{}
			cmd := newCommand()
			cmd.ResetFlags()
			f.register(cmd.Flags())
			require.NoError(t, cmd.ParseFlags(c.args))
			id, err := f.identity()
			if c.want != "" {
				require.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, int32(2), id.ControllerStateVersion)
		})
	}
}
