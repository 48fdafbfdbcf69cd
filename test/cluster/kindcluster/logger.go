package kindcluster

import (
	"fmt"
	"io"

	"sigs.k8s.io/kind/pkg/log"
)

// logger passes kind's messages for users on and drops its debugging.
type logger struct{ w io.Writer }

func (l logger) Warn(message string)                 { fmt.Fprintln(l.w, message) }
func (l logger) Warnf(format string, values ...any)  { fmt.Fprintf(l.w, format+"\n", values...) }
func (l logger) Error(message string)                { fmt.Fprintln(l.w, message) }
func (l logger) Errorf(format string, values ...any) { fmt.Fprintf(l.w, format+"\n", values...) }

func (l logger) V(level log.Level) log.InfoLogger {
	if level > 0 {
		return log.NoopInfoLogger{}
	}
	return info(l)
}

type info struct{ w io.Writer }

func (i info) Info(message string)                { fmt.Fprintln(i.w, message) }
func (i info) Infof(format string, values ...any) { fmt.Fprintf(i.w, format+"\n", values...) }
func (i info) Enabled() bool                      { return true }
