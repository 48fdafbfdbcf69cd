package artifact

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/ptah-run/ptah/pkg/frame"
)

const sumPrefix = "h1:"

// sumEntry is one line of a sum file: a script and its hash.
type sumEntry struct{ name, hash string }

// sumFile is a parsed sum file: "h1:<base64>" over the entries, then "name h1:<base64>" per script, sorted by name.
type sumFile struct {
	total   string
	entries []sumEntry
}

// scheme is one of the two ways in which such files are computed.
type scheme struct {
	entries func(scripts []File) []sumEntry
	total   func(entries []sumEntry) string
}

// plain hashes every script by itself and the entry lines as they stand in the file; ptah.sum is written so.
var plain = scheme{
	entries: func(scripts []File) []sumEntry {
		var entries []sumEntry
		for _, f := range scripts {
			sum := sha256.Sum256(f.Data)
			entries = append(entries, sumEntry{f.Name, encodeSum(sum[:])})
		}
		return entries
	},
	total: func(entries []sumEntry) string {
		h := sha256.New()
		for _, e := range entries {
			h.Write([]byte(e.line()))
		}
		return encodeSum(h.Sum(nil))
	},
}

// chained hashes every script together with the names and contents of all before it, so that no script can be slipped in between;
// atlas.sum is written so.
var chained = scheme{
	entries: func(scripts []File) []sumEntry {
		var entries []sumEntry
		h := sha256.New()
		for _, f := range scripts {
			h.Write([]byte(f.Name))
			h.Write(f.Data)
			entries = append(entries, sumEntry{f.Name, encodeSum(h.Sum(nil))})
		}
		return entries
	},
	total: func(entries []sumEntry) string {
		h := sha256.New()
		for _, e := range entries {
			h.Write([]byte(e.name + strings.TrimPrefix(e.hash, sumPrefix)))
		}
		return encodeSum(h.Sum(nil))
	},
}

func encodeSum(sum []byte) string { return sumPrefix + base64.StdEncoding.EncodeToString(sum) }

func (e sumEntry) line() string { return e.name + " " + e.hash + "\n" }

// Sum writes the sum file of a directory in the way of its format. Only *.sql files count; the lint policy does not.
func Sum(d Directory) []byte {
	how := plain
	if d.Format == AtlasFormat {
		how = chained
	}
	entries := how.entries(scriptsOf(d.Files))
	var out bytes.Buffer
	out.WriteString(how.total(entries) + "\n")
	for _, e := range entries {
		out.WriteString(e.line())
	}
	return out.Bytes()
}

// scriptsOf keeps the order, which is by name.
func scriptsOf(files []File) []File {
	var scripts []File
	for _, f := range sortedByName(files) {
		if isScript(f.Name) {
			scripts = append(scripts, f)
		}
	}
	return scripts
}

// verifySum compares the sum file of a directory, if any, with its scripts. It reports whether there is one.
func verifySum(files []File, required bool) (bool, error) {
	var sums []File
	for _, f := range files {
		if f.Name == PtahSumFile || f.Name == AtlasSumFile {
			sums = append(sums, f)
		}
	}
	switch {
	case len(sums) > 1:
		return false, badDirectory("it has both %s and %s", PtahSumFile, AtlasSumFile)
	case len(sums) == 0 && required:
		return false, badDirectory("it has no sum file, and one is required")
	case len(sums) == 0:
		return false, nil
	}
	parsed, err := parseSum(sums[0].Data)
	if err != nil {
		return false, refuse(frame.CodeArtifactInvalid, "reading %s: %s", sums[0].Name, err)
	}
	if err := parsed.agrees(scriptsOf(files)); err != nil {
		return false, refuse(frame.CodeArtifactInvalid, "checking %s: %s", sums[0].Name, err)
	}
	return true, nil
}

// parseSum reads a sum file strictly. Its errors are ours and name the line.
func parseSum(data []byte) (sumFile, error) {
	text, ok := strings.CutSuffix(string(data), "\n")
	if !ok {
		return sumFile{}, fmt.Errorf("the last line is not ended")
	}
	lines := strings.Split(text, "\n")
	if len(lines) > MaxFiles+1 {
		return sumFile{}, fmt.Errorf("it has more than %d lines", MaxFiles+1)
	}
	if !isSum(lines[0]) {
		return sumFile{}, fmt.Errorf("line 1 is not h1: and a base64 SHA-256")
	}
	parsed := sumFile{total: lines[0]}
	for i, line := range lines[1:] {
		at := strings.LastIndexByte(line, ' ')
		if at <= 0 || !isSum(line[at+1:]) {
			return sumFile{}, fmt.Errorf("line %d is not a name, a blank, h1: and a base64 SHA-256", i+2)
		}
		entry := sumEntry{name: line[:at], hash: line[at+1:]}
		if i > 0 && parsed.entries[i-1].name >= entry.name {
			return sumFile{}, fmt.Errorf("line %d is out of order or repeated", i+2)
		}
		parsed.entries = append(parsed.entries, entry)
	}
	return parsed, nil
}

func isSum(s string) bool {
	encoded, ok := strings.CutPrefix(s, sumPrefix)
	if !ok {
		return false
	}
	sum, err := base64.StdEncoding.Strict().DecodeString(encoded)
	return err == nil && len(sum) == sha256.Size && !strings.ContainsAny(encoded, "\r\n")
}

// agrees checks the entries against the scripts and the first line against the entries, by whichever scheme the first line follows.
func (s sumFile) agrees(scripts []File) error {
	listed := map[string]bool{}
	for _, e := range s.entries {
		listed[e.name] = true
	}
	for _, f := range scripts {
		if !listed[f.Name] {
			return fmt.Errorf("%s is not listed", quoted(f.Name))
		}
		delete(listed, f.Name)
	}
	for _, e := range s.entries {
		if listed[e.name] {
			return fmt.Errorf("%s is listed and not there", quoted(e.name))
		}
	}
	how := plain
	if s.total == chained.total(s.entries) {
		how = chained
	}
	for i, want := range how.entries(scripts) {
		if s.entries[i] != want {
			return fmt.Errorf("%s is not the file that was hashed", quoted(want.name))
		}
	}
	if s.total != how.total(s.entries) {
		return fmt.Errorf("line 1 does not cover the entries")
	}
	return nil
}
