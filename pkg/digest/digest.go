// Package digest is the one notation for every SHA-256 that Ptah compares: "sha256:" and 64 lower-case hex digits, over bytes or over a
// labelled, length-prefixed tuple.
package digest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
)

const prefix = "sha256:"

// Bytes is the digest of exactly these bytes.
func Bytes(data []byte) string {
	sum := sha256.Sum256(data)
	return prefix + hex.EncodeToString(sum[:])
}

// Tuple is the digest of a labelled tuple. The label names the tuple and its version. Label, member count and the length of every
// member go into the hash, so no two different tuples share their bytes: ("a", "bc") and ("ab", "c") differ.
func Tuple(label string, members ...string) string {
	h := sha256.New()
	write := func(s string) {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	write(label)
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(members)))
	h.Write(n[:])
	for _, m := range members {
		write(m)
	}
	return prefix + hex.EncodeToString(h.Sum(nil))
}

// List folds a list of any length into one tuple member.
func List(items []string) string { return Tuple("list-v1", items...) }

// Int writes a number as a tuple member.
func Int(n int64) string { return strconv.FormatInt(n, 10) }

// Bool writes a truth value as a tuple member.
func Bool(b bool) string { return strconv.FormatBool(b) }

// Valid reports whether s is in the notation of this package.
func Valid(s string) bool {
	h, ok := strings.CutPrefix(s, prefix)
	return ok && len(h) == 2*sha256.Size && lowerHex(h)
}

// Hex returns the 64 hex digits of a digest; "" where s is none.
func Hex(s string) string {
	if !Valid(s) {
		return ""
	}
	return s[len(prefix):]
}

func lowerHex(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
