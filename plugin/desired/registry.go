package desired

import (
	"fmt"
	"net"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ptah-run/ptah/pkg/artifact"
	"github.com/ptah-run/ptah/pkg/release"
	"github.com/ptah-run/ptah/plugin/options"
)

const (
	caFileEnv = "PTAH_OCI_CA_FILE"
	maxCAFile = 1 << 20
)

// Registry says how to speak to a registry. Credentials come from the Docker configuration.
type Registry struct {
	PlainHTTP bool
	caFile    string
}

// AddFlags adds what a person can say about a registry.
func (r *Registry) AddFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&r.PlainHTTP, "plain-http", false, "Speak plain HTTP to the registry (default: only to a loopback address)")
	flags.StringVar(&r.caFile, "ca-file", "", "PEM file with certificate authorities to trust besides the system's (default $"+caFileEnv+")")
}

// Complete decides on the transport where the person did not.
func (r *Registry) Complete(reference artifact.Reference, flags *pflag.FlagSet) {
	if !flags.Changed("plain-http") {
		r.PlainHTTP = isLoopback(reference.Host)
	}
}

func isLoopback(host string) bool {
	name := host
	if bare, _, err := net.SplitHostPort(host); err == nil {
		name = bare
	}
	address := net.ParseIP(strings.Trim(name, "[]"))
	return name == "localhost" || (address != nil && address.IsLoopback())
}

// Connect makes the registry client. It makes no request.
func (r *Registry) Connect(global *options.Global) (*artifact.Client, error) {
	settings := artifact.Options{
		PlainHTTP:  r.PlainHTTP,
		Credential: artifact.Credential{FromDocker: true},
		UserAgent:  "kubectl-ptah/" + release.Version,
	}
	file := r.caFile
	if file == "" {
		file = global.Getenv(caFileEnv)
	}
	if file != "" && !r.PlainHTTP {
		pem, err := readBounded(file, maxCAFile)
		if err != nil {
			return nil, fmt.Errorf("reading certificate authorities: %w", err)
		}
		settings.CAPEM = pem
	}
	client, err := artifact.New(settings)
	if err != nil {
		return nil, fmt.Errorf("preparing access to the registry: %w", err)
	}
	return client, nil
}
