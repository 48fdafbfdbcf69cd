package push

import (
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ptah-run/ptah/pkg/artifact"
	"github.com/ptah-run/ptah/pkg/release"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/desired"
	"github.com/ptah-run/ptah/plugin/options"
)

// registryOptions are what both kinds of push have.
type registryOptions struct {
	global    *options.Global
	output    *options.Output
	registry  desired.Registry
	version   string
	generated bool

	tagged string // what is pushed to: the reference with its final tag
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
	o.registry.Complete(reference, flags)
	o.tagged = reference.String()
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
	if o.registry.PlainHTTP {
		text += fmt.Sprintf(", and %s.transport.plainHTTP to true: this registry was spoken to over plain HTTP", field)
	}
	o.global.Next("%s", text)
}

// progress writes a line to stderr.
func (o *registryOptions) progress(format string, args ...any) {
	o.global.Note(render.Dim, format, args...)
}
