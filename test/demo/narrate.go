package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ptah-run/ptah/test/rig"
)

// narrator tells what the demo does while it does it.
type narrator struct {
	rig     *rig.Rig
	out     io.Writer
	started time.Time
	step    int
	// live says that out is a terminal, so a progress line may be rewritten in place.
	live bool
}

// Step opens a chapter.
func (n *narrator) Step(title, why string) {
	n.step++
	n.printf("\n[%s] %d. %s\n", n.elapsed(), n.step, title)
	for _, line := range strings.Split(why, "\n") {
		n.printf("        %s\n", line)
	}
}

// Saw reports an observation.
func (n *narrator) Saw(format string, args ...any) {
	n.printf("[%s]    ✓ %s\n", n.elapsed(), fmt.Sprintf(format, args...))
}

// printf writes to the reader's terminal; a reader that is gone is nobody to tell.
func (n *narrator) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(n.out, format, args...)
}

func (n *narrator) elapsed() string {
	d := time.Since(n.started)
	return fmt.Sprintf("%02d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

// Show runs a command that must exit with the code, and prints the command and what it printed.
func (n *narrator) Show(ctx context.Context, code int, args ...string) error {
	n.printf("        $ %s\n", display(args))
	res, err := n.rig.Run(ctx, "", args[0], args[1:]...)
	if err != nil {
		return err
	}
	for _, text := range []string{res.Stdout, res.Stderr} {
		for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
			if text != "" {
				n.printf("        | %s\n", line)
			}
		}
	}
	if res.Code != code {
		return fmt.Errorf("running %s: exit %d, expected %d", display(args), res.Code, code)
	}
	return nil
}

// display writes a command the way a person types it: `kubectl ptah`, and no password.
func display(args []string) string {
	shown := make([]string, len(args))
	for i, arg := range args {
		if at := strings.LastIndex(arg, "@"); strings.HasPrefix(arg, "postgres://") && at > 0 {
			arg = "postgres://…" + arg[at:]
		}
		if strings.ContainsAny(arg, " ;'\"*()") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		shown[i] = arg
	}
	return strings.Replace(strings.Join(shown, " "), "kubectl-ptah", "kubectl ptah", 1)
}

// Wait polls a field of the demo's schema and shows a progress line at least every two seconds.
func (n *narrator) Wait(ctx context.Context, what, path, want string, timeout time.Duration) error {
	began, last, lastSeen := time.Now(), time.Now(), ""
	err := n.rig.WaitField(ctx, namespace, "ptahschema", name, path, want, timeout, func(string) {
		phase, _ := n.rig.Field(ctx, namespace, "ptahschema", name, ".status.phase")
		if time.Since(last) < 2*time.Second && phase == lastSeen {
			return
		}
		last, lastSeen = time.Now(), phase
		n.progress(fmt.Sprintf("[%s]    … waiting for %s: phase %s, %ds", n.elapsed(), what, or(phase, "none yet"), int(time.Since(began).Seconds())))
	})
	if n.live {
		n.printf("\r\033[K")
	}
	if err != nil {
		return err
	}
	n.Saw("%s, after %.1fs", what, time.Since(began).Seconds())
	return nil
}

func (n *narrator) progress(line string) {
	if n.live {
		n.printf("\r\033[K%s", line)
		return
	}
	n.printf("%s\n", line)
}

func or(text, fallback string) string {
	if text == "" {
		return fallback
	}
	return text
}
