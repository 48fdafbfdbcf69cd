package main

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/executor"
)

func call(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = execute(context.Background(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestWrongUse(t *testing.T) {
	t.Setenv("PTAH_INTENT", "")
	for name, args := range map[string][]string{
		"nothing":          {},
		"unknown":          {"drop"},
		"group alone":      {"runner"},
		"unknown flag":     {"runner", "run", "--odd"},
		"surplus argument": {"runner", "run", "now"},
		"flag missing":     {"engine", "plan"},
		"no order":         {"runner", "run"},
		"no order, engine": {"engine", "apply", "--plan", "/nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := call(args...)
			assert.Equal(t, executor.ExitUsage, code)
			assert.Empty(t, stdout)
			assert.Regexp(t, `^error: [^\n]+\n$`, stderr)
		})
	}
}

func TestHelpNamesEveryCommandAndHidesTestFlags(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"runner", "--help"}, {"runner", "run", "--help"}, {"engine", "--help"}, {"engine", "apply", "--help"}} {
		code, stdout, stderr := call(args...)
		assert.Equal(t, executor.ExitOK, code)
		assert.NotEmpty(t, stdout)
		assert.Empty(t, stderr)
		assert.NotContains(t, stdout, "--root")
	}
}

func TestVersionIsJSON(t *testing.T) {
	code, stdout, stderr := call("engine", "version")
	require.Equal(t, executor.ExitOK, code, stderr)
	var v struct {
		Name            string
		ContractVersion int
		Engines         []string
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &v))
	assert.Equal(t, "ptah", v.Name)
	assert.Equal(t, executor.ContractVersion, v.ContractVersion)
	assert.Equal(t, []string{"postgres", "mysql"}, v.Engines)
}
