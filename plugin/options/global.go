package options

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/ptah-run/ptah/pkg/release"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/pkg/target"
	"github.com/ptah-run/ptah/plugin/cluster"
)

// Values of --color.
const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// Global is what every verb gets: where it reads and writes, what time it is, and how to reach the cluster.
type Global struct {
	genericiooptions.IOStreams
	// Clock tells the time; tests fix it.
	Clock func() time.Time
	// Getenv reads the environment.
	Getenv func(string) string
	// Screen is what the streams are connected to.
	Screen Screen
	// Patience is how long a command may be silent before it says on stderr what it is doing.
	Patience time.Duration
	// Connecting is called once, before the first request is made.
	Connecting func()
	// Config holds the kubeconfig flags.
	Config Kubeconfig

	color     string
	jq        string
	noHeaders bool

	saying  sync.Mutex
	connect sync.Once
	client  *cluster.Client
	failure error
}

// New gives the options of a process.
func New(streams genericiooptions.IOStreams, screen Screen, clock func() time.Time, getenv func(string) string) *Global {
	return &Global{IOStreams: streams, Clock: clock, Getenv: getenv, Screen: screen, Patience: time.Second, Connecting: func() {}, color: colorAuto}
}

// AddFlags adds the flags that all verbs have.
func (g *Global) AddFlags(flags *pflag.FlagSet) {
	g.Config.addFlags(flags)
	flags.StringVar(&g.color, "color", colorAuto, "Colour the text: auto (only on a terminal, and not with NO_COLOR set), always or never")
	flags.StringVar(&g.jq, "jq", "", "Filter the JSON output with a jq expression; implies -o json")
	flags.BoolVar(&g.noHeaders, "no-headers", false, "Print tables without their title row")
}

// Validate checks the flags that all verbs have, before anything is read.
func (g *Global) Validate() error {
	switch g.color {
	case colorAuto, colorAlways, colorNever:
	default:
		return Usagef("--color %q: want auto, always or never", g.color)
	}
	if g.jq == "" {
		return nil
	}
	if err := render.CheckJQ(g.jq); err != nil {
		return &ExitError{Code: Usage, Err: err}
	}
	return nil
}

// Cluster connects on first use. No request is made before a verb makes one.
func (g *Global) Cluster() (*cluster.Client, error) {
	g.connect.Do(func() {
		g.Connecting()
		config, err := g.Config.rest()
		if err != nil {
			g.failure = withoutCredentials(fmt.Errorf("reading the kubeconfig: %w", err))
			return
		}
		config.UserAgent = "kubectl-ptah/" + release.Version
		config.Wrap(g.watchRequests)
		g.client, g.failure = cluster.New(config)
		g.failure = withoutCredentials(g.failure)
	})
	return g.client, g.failure
}

// Namespace is the one that -n or the kubeconfig's context names.
func (g *Global) Namespace() (string, error) {
	namespace, err := g.Config.namespace()
	if err != nil {
		return "", withoutCredentials(fmt.Errorf("reading the namespace from the kubeconfig: %w", err))
	}
	return namespace, nil
}

// credentials are what stands before the @ of an address, in whatever state the address is.
var credentials = regexp.MustCompile(`://[^\s"]*@`)

// withoutCredentials takes credentials out of what others say of an address: a server or a proxy may carry its password in there.
func withoutCredentials(err error) error {
	if err == nil || !credentials.MatchString(err.Error()) {
		return err
	}
	return errors.New(credentials.ReplaceAllString(err.Error(), "://"+target.Redacted+"@"))
}

// Output is the -o flag of one verb.
type Output struct {
	value   string
	allowed []render.FormatKind
	global  *Global
}

// AddOutput gives a verb its -o flag with the formats that it prints, text first.
func (g *Global) AddOutput(flags *pflag.FlagSet, allowed ...render.FormatKind) *Output {
	output := &Output{allowed: allowed, global: g}
	flags.StringVarP(&output.value, "output", "o", "", "Output format: "+render.FormatList(allowed)+" (default text)")
	return output
}

// AddFormat is AddOutput for a verb whose -o says where to write a file.
func (g *Global) AddFormat(flags *pflag.FlagSet, allowed ...render.FormatKind) *Output {
	output := &Output{allowed: allowed, global: g}
	flags.StringVar(&output.value, "format", "", "Format of the answer: "+render.FormatList(allowed)+" (default text)")
	return output
}

// Allowed lists the formats, for completion.
func (o *Output) Allowed() []render.FormatKind { return o.allowed }

// Format checks and returns the chosen format; a wrong one is a usage error.
func (o *Output) Format() (render.Format, error) {
	format, err := render.ParseFormat(o.value, o.global.jq, o.allowed...)
	if err != nil {
		return render.Format{}, &ExitError{Code: Usage, Err: err}
	}
	return format, nil
}

// Print writes a view to stdout in the chosen format, whole or not at all.
func (o *Output) Print(view render.View) error {
	format, err := o.Format()
	if err != nil {
		return err
	}
	return render.Write(o.global.Out, view, render.Options{
		Format:    format,
		JQ:        o.global.jq,
		NoHeaders: o.global.noHeaders,
		Theme:     o.global.theme(o.global.Screen.Out),
	})
}

// PrintRows writes a table like Print, with or without its title row.
func (o *Output) PrintRows(view render.View, headers bool) error {
	format, err := o.Format()
	if err != nil {
		return err
	}
	theme := o.global.theme(o.global.Screen.Out)
	return render.Write(o.global.Out, view, render.Options{Format: format, NoHeaders: o.global.noHeaders || !headers, Theme: theme})
}

// Show draws a view as text on stderr: something to look at before a question, not the answer.
func (g *Global) Show(view render.View) error {
	return render.Write(g.ErrOut, view, render.Options{Format: render.Format{Kind: render.Text}, Theme: g.theme(g.Screen.ErrOut)})
}

// Note writes a line of advice to stderr.
func (g *Global) Note(tone render.Tone, format string, args ...any) {
	g.Say(render.Note(g.theme(g.Screen.ErrOut), tone, fmt.Sprintf(format, args...)) + "\n")
}

// Say writes to stderr. What cannot be said there has nowhere else to go.
func (g *Global) Say(text string) {
	g.saying.Lock()
	defer g.saying.Unlock()
	_, _ = io.WriteString(g.ErrOut, text)
}

// Next writes the command to run next to stderr.
func (g *Global) Next(format string, args ...any) {
	g.Note(render.Plain, "next: "+format, args...)
}
