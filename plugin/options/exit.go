// Package options holds what every verb of the plugin shares: streams, clock, screen, cluster and output flags, and the exit codes.
// Nothing here or in a verb ends the process; main does, with the code that CodeOf gives.
package options

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ptah-run/ptah/plugin/cluster"
)

// Code is an exit status of the plugin. All verbs share one table.
type Code int

// Exit codes.
const (
	// Done: done, or for a question the good answer.
	Done Code = 0
	// Failed: could not do or could not look: API, permission, digest mismatch, partial list.
	Failed Code = 1
	// Usage: wrong command line.
	Usage Code = 2
	// Nothing: nothing there to show.
	Nothing Code = 3
	// Findings: looked, and there are findings.
	Findings Code = 4
	// Refused: refused for safety: identity changed, in flight, pinned, confirmation missing.
	Refused Code = 5
	// TimedOut: waiting ran out of time.
	TimedOut Code = 124
)

// ExitTable is the table of exit codes as help prints it.
const ExitTable = `Exit codes:

      0  done; for a question: the good answer
      1  could not do or could not look (API, permission, digest mismatch, partial list)
      2  wrong command line
      3  nothing there to show (no such resource, no current plan, no such stored plan)
      4  looked, and there are findings
      5  refused for safety (identity changed, in flight, pinned, confirmation missing)
    124  waiting ran out of time`

// ExitError is an error that chooses its exit code. Without an Err the verb has already said what there was to say.
type ExitError struct {
	Code Code
	Err  error
}

// Error is the message of what it wraps.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap gives what it wraps.
func (e *ExitError) Unwrap() error { return e.Err }

// Silent reports whether the error has nothing left to print.
func (e *ExitError) Silent() bool { return e.Err == nil }

// Usagef is a wrong command line.
func Usagef(format string, args ...any) error { return exitf(Usage, format, args...) }

// Nothingf is an absence: what was asked for does not exist.
func Nothingf(format string, args ...any) error { return exitf(Nothing, format, args...) }

// Refusedf is a refusal for safety. Nothing was changed.
func Refusedf(format string, args ...any) error { return exitf(Refused, format, args...) }

func exitf(code Code, format string, args ...any) error {
	return &ExitError{Code: code, Err: fmt.Errorf(format, args...)}
}

// Failing joins the errors of one look at several things. What is merely absent is left out where something else went wrong: an absence is an
// answer only when everything could be seen.
func Failing(errs ...error) error {
	bad := slices.DeleteFunc(slices.Clone(errs), cluster.IsNotFound)
	if err := errors.Join(bad...); err != nil {
		return err
	}
	return errors.Join(errs...)
}

// CodeOf gives the exit code of a verb's result: 0 for no error, 3 where the object that was named does not exist, 1 for an error that chose
// none.
func CodeOf(err error) Code {
	var exit *ExitError
	switch {
	case err == nil:
		return Done
	case errors.As(err, &exit):
		return exit.Code
	case cluster.IsNotFound(err):
		return Nothing
	default:
		return Failed
	}
}
