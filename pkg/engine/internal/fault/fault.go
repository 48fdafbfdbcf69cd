// Package fault is the one error type that leaves pkg/engine.
package fault

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ptah-run/ptah/pkg/frame"
)

// Error is a typed refusal or failure. Message is written by Ptah and holds no credential, no SQL and no row; the wrapped cause may
// hold anything and is for errors.As and errors.Is only: it must never be printed.
type Error struct {
	Code    frame.Code
	Message string
	// MutationStarted says that the first changing statement was sent. It stays true after a confirmed rollback.
	MutationStarted bool
	// OutcomeUncertain says that nobody knows whether the changes were committed. False with MutationStarted means that the
	// transaction was rolled back, or never committed, so that nothing changed.
	OutcomeUncertain bool

	err error
}

// New writes an error with no cause. The message is cut to frame.MaxMessage bytes.
func New(code frame.Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: bound(fmt.Sprintf(format, args...))}
}

// Wrap is New with a cause.
func Wrap(err error, code frame.Code, format string, args ...any) *Error {
	e := New(code, format, args...)
	e.err = err
	return e
}

// Error is the message alone: the cause may hold a credential or a row.
func (e *Error) Error() string { return e.Message }

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.err }

// Prefix returns a copy of the error whose message says first what was being done.
func (e *Error) Prefix(doing string) *Error {
	c := *e
	c.Message = bound(doing + ": " + e.Message)
	return &c
}

// bound cuts a message at frame.MaxMessage without splitting a character.
func bound(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= frame.MaxMessage {
		return s
	}
	const tail = "…"
	cut := frame.MaxMessage - len(tail)
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + tail
}
