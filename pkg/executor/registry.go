package executor

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/artifact"
	"github.com/ptah-run/ptah/pkg/frame"
	"github.com/ptah-run/ptah/pkg/intent"
)

// Registry authentication modes of an intent.
const (
	authEnvironment  = "Environment"
	authDockerConfig = "DockerConfigJSON"
)

const maxDockerConfig = 1 << 20 // bytes; a Secret cannot hold more

// source is the artifact of the intent, which every operation but a schema Apply has.
func (s *stage) source() (*intent.Artifact, error) {
	a := s.intent.Artifact
	if a == nil {
		return nil, refuse(frame.CodeConfigurationInvalid, "reading the order: %s needs an artifact", s.intent.Operation)
	}
	switch a.AuthMode {
	case "", authEnvironment, authDockerConfig:
		return a, nil
	default:
		return nil, refuse(frame.CodeConfigurationInvalid, "reading the order: the registry authentication mode is not known")
	}
}

// prepare needs nothing but the grants. The checks come first, so that nothing is installed for an operation that may not run.
func (s *stage) prepare(_ context.Context) error {
	switch s.intent.Operation {
	case intent.Observe, intent.Plan, intent.History:
		if err := s.guardSource(); err != nil {
			return err
		}
	case intent.Apply:
		if s.intent.Artifact != nil { // a migration; a schema plan needs no registry
			if err := s.guardSource(); err != nil {
				return err
			}
		}
	default:
		return refuse(frame.CodeConfigurationInvalid, "preparing: %s has no prepare stage", s.intent.Operation)
	}
	return install(s.Layout.RunnerBinary())
}

// guardSource checks the grants and leaves the CA snapshot that they were checked against.
func (s *stage) guardSource() error {
	a, err := s.source()
	if err != nil {
		return err
	}
	ca, err := s.checkedCA(a, a.ResolvedReference)
	if err != nil || ca == nil {
		return err
	}
	return writeAtomically(s.Layout.CA(), "the CA snapshot", ca, 0o444)
}

// checkedCA reads the custom CA once, nil where there is none, and checks the grants over exactly these bytes.
func (s *stage) checkedCA(a *intent.Artifact, reference string) ([]byte, error) {
	var ca []byte
	if a.CustomCA {
		data, err := readBounded(s.Layout.CASource(), "the custom CA (transport.caFrom)", maxCA, frame.CodeConfigurationInvalid)
		if err != nil {
			return nil, err
		}
		ca = append([]byte{}, data...) // never nil: an empty value must be seen as one
	}
	grants := artifact.Grants{
		Registry:       s.Getenv(v1alpha1.GrantRegistryEnv),
		AllowPlainHTTP: s.Getenv(v1alpha1.GrantAllowPlainHTTPEnv),
		CASHA256:       s.Getenv(v1alpha1.GrantCASHA256Env),
	}
	err := artifact.CheckGrant(grants, artifact.Use{Reference: reference, Authenticated: a.AuthMode != "", PlainHTTP: a.PlainHTTP, CA: ca})
	return ca, err
}

// client opens the registry. A mode that is set but yields no credential is refused, never taken for anonymous.
func (s *stage) client(a *intent.Artifact, ca []byte) (*artifact.Client, error) {
	credential, err := s.credential(a)
	if err != nil {
		return nil, err
	}
	return artifact.New(artifact.Options{PlainHTTP: a.PlainHTTP, CAPEM: ca, Credential: credential})
}

func (s *stage) credential(a *intent.Artifact) (artifact.Credential, error) {
	switch a.AuthMode {
	case authEnvironment:
		c := artifact.Credential{
			Username: s.Getenv(v1alpha1.RegistryUsernameEnv), Password: s.Getenv(v1alpha1.RegistryPasswordEnv), Token: s.Getenv(v1alpha1.RegistryTokenEnv),
		}
		if c.Username == "" && c.Password == "" && c.Token == "" {
			return c, refuse(frame.CodeRegistryUnauthorized, "reading the registry Secret: it has neither user name and password nor a token under the configured keys")
		}
		return c, nil
	case authDockerConfig:
		data, err := readBounded(s.Layout.DockerConfig(), "the Docker configuration of the registry Secret", maxDockerConfig, frame.CodeRegistryUnauthorized)
		if err != nil {
			return artifact.Credential{}, err
		}
		s.protectDockerConfig(data)
		if len(data) == 0 {
			return artifact.Credential{}, refuse(frame.CodeRegistryUnauthorized, "reading the registry Secret: the Docker configuration is empty")
		}
		return artifact.Credential{DockerConfigJSON: data}, nil
	default:
		return artifact.Credential{}, nil
	}
}

// protectDockerConfig registers every credential in the document, whatever its state.
func (s *stage) protectDockerConfig(data []byte) {
	var document struct {
		Auths map[string]struct{ Password, Auth, IdentityToken, RegistryToken string } `json:"auths"`
	}
	if json.Unmarshal(data, &document) != nil {
		return // refused later, with a text of ours
	}
	for _, entry := range document.Auths {
		for _, secret := range []string{entry.Password, entry.Auth, entry.IdentityToken, entry.RegistryToken} {
			s.protect(secret)
		}
		// auth is base64 of user:password; the password alone must not be shown either.
		if plain, err := base64.StdEncoding.DecodeString(entry.Auth); err == nil {
			_, password, _ := strings.Cut(string(plain), ":")
			s.protect(password)
		}
	}
}

// guardedClient is for Resolve and Verify, which have no init containers: the grants are checked in this process, before any request.
func (s *stage) guardedClient(reference func(*intent.Artifact) string) (*artifact.Client, *intent.Artifact, error) {
	a, err := s.source()
	if err != nil {
		return nil, nil, err
	}
	ca, err := s.checkedCA(a, reference(a))
	if err != nil {
		return nil, nil, err
	}
	client, err := s.client(a, ca)
	return client, a, err
}

func (s *stage) resolve(ctx context.Context) error {
	client, a, err := s.guardedClient(func(a *intent.Artifact) string { return a.RequestedReference })
	if err != nil {
		return err
	}
	resolved, err := client.Resolve(ctx, a.RequestedReference)
	if err != nil {
		return err
	}
	s.frame.Resolve = &resolved
	return nil
}

func (s *stage) verify(ctx context.Context) error {
	policy, err := s.policy()
	if err != nil {
		return err
	}
	client, a, err := s.guardedClient(func(a *intent.Artifact) string { return a.ResolvedReference })
	if err != nil {
		return err
	}
	verified, err := client.Verify(ctx, artifact.Verification{
		Requested: a.RequestedReference, Resolved: a.ResolvedReference, Kind: a.Kind, Policy: policy,
	})
	if err != nil {
		return err
	}
	s.frame.Verify = &verified
	return nil
}

// policy reads the policy and holds it to the bytes that the manager bound.
func (s *stage) policy() (artifact.Policy, error) {
	if s.intent.Policy == nil {
		return artifact.Policy{}, refuse(frame.CodeConfigurationInvalid, "reading the order: Verify needs a policy")
	}
	data, err := readBounded(s.Layout.Policy(), "the verification policy", artifact.MaxPolicy, frame.CodePolicyInvalid)
	if err != nil {
		return artifact.Policy{}, err
	}
	policy, err := artifact.ParsePolicy(data)
	if err != nil {
		return artifact.Policy{}, err
	}
	if policy.Digest != s.intent.Policy.Digest {
		return artifact.Policy{}, refuse(frame.CodePolicyInvalid, "reading the verification policy: its bytes are not those that the manager bound; was the ConfigMap replaced?")
	}
	return policy, nil
}

// fetch trusts the CA snapshot of prepare, never the projection, which may have changed in between.
func (s *stage) fetch(ctx context.Context) error {
	a, err := s.source()
	if err != nil {
		return err
	}
	var ca []byte
	if a.CustomCA {
		if ca, err = readBounded(s.Layout.CA(), "the CA snapshot", maxCA, frame.CodeConfigurationInvalid); err != nil {
			return err
		}
	}
	client, err := s.client(a, ca)
	if err != nil {
		return err
	}
	return client.Fetch(ctx, a.ResolvedReference, a.Kind, s.Layout.Artifact())
}

// writeAtomically leaves either nothing or the whole file.
func writeAtomically(path, role string, data []byte, mode os.FileMode) error {
	failed := refuse(frame.CodeConfigurationInvalid, "writing %s: its volume is missing, full or read-only", role)
	temporary, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return failed
	}
	defer func() { _ = os.Remove(temporary.Name()) }()
	_, err = temporary.Write(data)
	if closeErr := temporary.Close(); err != nil || closeErr != nil {
		return failed
	}
	if os.Chmod(temporary.Name(), mode) != nil || os.Rename(temporary.Name(), path) != nil {
		return failed
	}
	return nil
}
