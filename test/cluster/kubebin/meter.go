package kubebin

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// linkTime is what linking costs besides compiling: hyperkube takes by far the longest.
var linkTime = map[string]time.Duration{"hyperkube": 25 * time.Second, "etcd": 4 * time.Second, "helm": 9 * time.Second}

// meter shows how far a build is: on a terminal one line that changes every second, elsewhere a line now and then.
type meter struct {
	w        io.Writer
	terminal bool
	started  time.Time
	quit     chan struct{}
	stopped  sync.WaitGroup

	mu         sync.Mutex
	unit       string
	links      []string // units still to be linked, the current one included
	downloaded int
	total      int // packages that must be compiled, 0 while unknown
	compiled   int
	compiling  time.Time // when the first package was done
}

func newMeter(w io.Writer) *meter {
	m := &meter{w: w, terminal: isTerminal(w), started: time.Now(), quit: make(chan struct{})}
	m.stopped.Go(m.run)
	return m
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

func (m *meter) run() {
	interval := 15 * time.Second
	if m.terminal {
		interval = time.Second
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-m.quit:
			return
		case <-ticker.C:
			m.show()
		}
	}
}

func (m *meter) show() {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := m.line(time.Now())
	if m.terminal {
		fmt.Fprintf(m.w, "\r\x1b[K%s", text)
		return
	}
	fmt.Fprintln(m.w, text)
}

func (m *meter) line(now time.Time) string {
	text := fmt.Sprintf("[%6s] ", now.Sub(m.started).Round(time.Second))
	switch {
	case m.total == 0 && m.downloaded > 0:
		return text + fmt.Sprintf("downloading modules, %d so far", m.downloaded)
	case m.total == 0 && m.unit == "":
		return text + "counting packages"
	case m.compiled >= m.total:
		return text + "linking " + m.unit
	}
	text += fmt.Sprintf("building %s: %d of %d packages", m.unit, m.compiled, m.total)
	if left, ok := m.estimate(now); ok {
		text += ", about " + roughly(left) + " left"
	}
	return text
}

// estimate assumes that the packages to come take as long as those done so far. It says nothing before it has seen
// enough of them: the first are small.
func (m *meter) estimate(now time.Time) (time.Duration, bool) {
	const enough = 100
	if m.compiled < enough && m.compiled < m.total/2 {
		return 0, false
	}
	left := now.Sub(m.compiling) / time.Duration(max(m.compiled, 1)) * time.Duration(m.total-m.compiled)
	for _, unit := range m.links {
		left += linkTime[unit]
	}
	return left, true
}

func roughly(left time.Duration) string {
	if left < 90*time.Second {
		return fmt.Sprintf("%d s", int(left.Seconds()/10+1)*10)
	}
	return fmt.Sprintf("%d min", int(left.Minutes()+0.5))
}

// plan counts the packages that are not in Go's build cache yet. Without that number the build still runs, it only
// cannot tell how long.
func (m *meter) plan(ctx context.Context, source string, units []unit) {
	total := 0
	for _, u := range units {
		m.mu.Lock()
		m.links = append(m.links, u.name)
		m.mu.Unlock()
	}
	packages := map[string][]string{}
	for _, u := range units {
		packages[u.dir] = append(packages[u.dir], u.pkg)
	}
	for dir, list := range packages {
		arguments := append([]string{"list", "-deps", "-f", "{{if and .Stale (ne .Name `main`)}}{{.ImportPath}}{{end}}"}, list...)
		cmd := exec.CommandContext(ctx, "go", arguments...)
		cmd.Dir = filepath.Join(source, dir)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
		stderr, err := cmd.StderrPipe()
		if err != nil {
			continue
		}
		m.stopped.Go(func() { m.watch(stderr) })
		output, err := cmd.Output()
		if err != nil {
			continue
		}
		total += len(strings.Fields(string(output)))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.total, m.compiling = total, time.Now()
}

func (m *meter) begin(unit string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.unit != "" && len(m.links) > 0 && m.links[0] != unit {
		m.links = m.links[1:]
	}
	m.unit = unit
}

// watch counts what the go command reports, and returns everything that is not a report: its complaints.
func (m *meter) watch(r io.Reader) string {
	var complaints strings.Builder
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		m.mu.Lock()
		switch {
		case strings.HasPrefix(line, "go: downloading "):
			m.downloaded++
		case isImportPath(line):
			m.compiled++
		default:
			complaints.WriteString(line + "\n")
		}
		m.mu.Unlock()
	}
	return complaints.String()
}

// isImportPath tells the report of a compiled package, a bare import path, from an error message.
func isImportPath(line string) bool {
	return line != "" && !strings.ContainsAny(line, " \t:#")
}

func (m *meter) finish() {
	m.stop()
	m.mu.Lock()
	defer m.mu.Unlock()
	fmt.Fprintf(m.w, "built %d packages in %s\n", m.compiled, time.Since(m.started).Round(time.Second))
}

func (m *meter) stop() {
	select {
	case <-m.quit:
		return
	default:
	}
	close(m.quit)
	m.stopped.Wait()
	if m.terminal {
		fmt.Fprint(m.w, "\r\x1b[K")
	}
}
