package engine_test

import (
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ptah-run/ptah/pkg/engine/internal/pgtest"
)

// dump is what pg_dump says of a database, one block for each object, sorted, and the columns of a table too: their order is no difference.
// It knows nothing of our reader: what both overlook, nobody sees. The result is nil where there is no pg_dump for the server.
func dump(t testing.TB, s *pgtest.Server, url string) []string {
	t.Helper()
	version, err := exec.Command("pg_dump", "--version").Output()
	if err != nil {
		t.Log("no pg_dump: install the package postgresql-client")
		return nil
	}
	number := regexp.MustCompile(`\d+`).FindString(string(version))
	if major, err := strconv.Atoi(number); err != nil || major < s.Major() {
		t.Logf("pg_dump %s cannot read the server", number)
		return nil
	}
	out, err := exec.Command("pg_dump", "--schema-only", "--no-owner", "--no-privileges", "--dbname="+url).CombinedOutput() //nolint:gosec // a server of the test
	require.NoError(t, err, "%s", out)
	var blocks []string
	for block := range strings.SplitSeq(string(out), "\n-- Name: ") {
		_, sql, _ := strings.Cut(block, "\n--\n") // behind the heading
		lines := slices.DeleteFunc(strings.Split(sql, "\n"), func(line string) bool {
			return line == "" || strings.HasPrefix(line, "--") || strings.HasPrefix(line, `\`) || strings.HasPrefix(line, "SET default_") || strings.HasPrefix(line, "SELECT pg_catalog.set_config")
		})
		if len(lines) > 0 && strings.HasSuffix(lines[0], " (") && strings.Contains(lines[0], "TABLE ") {
			for i := range lines {
				lines[i] = strings.TrimSuffix(lines[i], ",")
				if options, found := strings.CutPrefix(lines[i], "WITH ("); found {
					lines[i] = "WITH (" + strings.Join(slices.Sorted(slices.Values(strings.Split(strings.TrimSuffix(options, ");"), ", "))), ", ")
				}
			}
			slices.Sort(lines)
		}
		blocks = append(blocks, strings.Join(lines, "\n"))
	}
	slices.Sort(blocks)
	return blocks
}

// assertSameDump leaves out the blocks that name one of what is ignored.
func assertSameDump(t testing.TB, want, got, ignored []string) {
	t.Helper()
	without := func(all, others []string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(b string) bool {
			_, found := slices.BinarySearch(others, b)
			return found || slices.ContainsFunc(ignored, func(name string) bool { return strings.Contains(b, name) })
		})
	}
	assert.Empty(t, without(want, got), "declared, and not in the dump")
	assert.Empty(t, without(got, want), "in the dump, and not declared")
}

// dumpDiffers are the probes after which pg_dump tells a difference that the model leaves out on purpose, and which.
var dumpDiffers = map[string]string{
	"public comment":             "a schema public without a comment and one with the comment of initdb are the same",
	"inherit check of both":      "whether a child declares for itself what it inherits anyway",
	"inherit check of both goes": "the same",
	"inherit ends":               "the same",
	"part attached":              "the name of a partition's index that belongs to an index of the parent",
}
