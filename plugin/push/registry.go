package push

import (
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ptah-run/ptah/pkg/artifact"
	"github.com/ptah-run/ptah/pkg/release"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/options"
)

const (
	caFileEnv = "PTAH_OCI_CA_FILE"
	maxCAFile = 1 << 20
)

// registryOptions are what both kinds of push have.
type registryOptions struct {
	global    *options.Global
	output    *options.Output
	plainHTTP bool
	caFile    string
	version   string
	generated bool

	reference artifact.Reference
	tagged    string // what is pushed to: the reference with its final tag
}

// completeReference checks the reference and decides on tag and transport.
func (o *registryOptions) completeReference(text string, flags *pflag.FlagSet) error {
	if _, err := o.output.Format(); err != nil {
		return err
	}
	if !strings.HasPrefix(text, "oci://") {
		return options.Usagef("the last argument is where to publish: want oci://host/repository:tag")
	}
	reference, err := artifact.ParseReference(text)
	if err != nil {
		return &options.ExitError{Code: options.Usage, Err: err}
	}
	switch {
	case reference.Digest != "":
		return options.Usagef("%s carries a digest: the digest follows from the content, publish to a tag", text)
	case o.version != "" && o.generated:
		return options.Usagef("--version and --generated-version exclude each other")
	case (o.version != "" || o.generated) && reference.Tag != "":
		return options.Usagef("%s carries a tag: leave it out, or leave out --version and --generated-version", text)
	}
	if o.generated {
		if o.version, err = generatedVersion(o.global.Clock(), rand.Reader); err != nil {
			return err
		}
	}
	if o.version != "" {
		if reference, err = artifact.ParseReference(text + ":" + o.version); err != nil {
			return options.Usagef("--version %q: %w", o.version, err)
		}
	}
	if !flags.Changed("plain-http") {
		o.plainHTTP = isLoopback(reference.Host)
	}
	o.reference, o.tagged = reference, reference.String()
	return nil
}

// generatedVersion is v, the time in UTC, and 40 random bits: a tag that is written once.
func generatedVersion(now time.Time, random io.Reader) (string, error) {
	var bits [5]byte
	if _, err := io.ReadFull(random, bits[:]); err != nil {
		return "", fmt.Errorf("making a version: %w", err)
	}
	suffix := strings.ToLower(base32.StdEncoding.EncodeToString(bits[:]))
	return "v" + now.UTC().Format("20060102150405") + "-" + suffix, nil
}

func isLoopback(host string) bool {
	name := host
	if bare, _, err := net.SplitHostPort(host); err == nil {
		name = bare
	}
	address := net.ParseIP(strings.Trim(name, "[]"))
	return name == "localhost" || (address != nil && address.IsLoopback())
}

// connect makes the registry client. It makes no request.
func (o *registryOptions) connect() (*artifact.Client, error) {
	settings := artifact.Options{
		PlainHTTP:  o.plainHTTP,
		Credential: artifact.Credential{FromDocker: true},
		UserAgent:  "kubectl-ptah/" + release.Version,
	}
	file := o.caFile
	if file == "" {
		file = o.global.Getenv(caFileEnv)
	}
	if file != "" && !o.plainHTTP {
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

func (o *registryOptions) pushOptions() artifact.PushOptions {
	return artifact.PushOptions{
		Annotations: artifact.AnnotationsFrom(o.global.Getenv, release.Version),
		WriteOnce:   o.version != "",
	}
}

// print shows what was published.
func (o *registryOptions) print(pinned, artifactType string, files []artifact.File) error {
	_, digest, _ := strings.Cut(pinned, "@")
	result := render.PushResult{Reference: pinned, Tagged: o.tagged, Digest: digest, ArtifactType: artifactType, Files: []string{}}
	for _, file := range files {
		result.Files = append(result.Files, file.Name)
		result.Size += int64(len(file.Data))
	}
	return o.output.Print(render.NewPushResult(result))
}

// next says where the printed reference goes. A registry without TLS has to be allowed by name, in the resource too.
func (o *registryOptions) next(field, kind string) {
	text := fmt.Sprintf("set %s.ociRef of a %s to the printed reference", field, kind)
	if o.plainHTTP {
		text += fmt.Sprintf(", and %s.transport.plainHTTP to true: this registry was spoken to over plain HTTP", field)
	}
	o.global.Next("%s", text)
}

// progress writes a line to stderr.
func (o *registryOptions) progress(format string, args ...any) {
	o.global.Note(render.Dim, format, args...)
}

// readBounded reads a regular file of at most limit bytes.
func readBounded(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	return data, nil
}
