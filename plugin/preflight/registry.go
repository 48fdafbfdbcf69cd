package preflight

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/artifact"
	"github.com/ptah-run/ptah/pkg/frame"
	checks "github.com/ptah-run/ptah/pkg/preflight"
)

// This file is the only one of the verb that reads documents about a registry and asks the registry itself.

// patience bounds how long a registry may take: an answer that needs longer is no answer to "is it reachable from here".
const patience = 15 * time.Second

// anonymously is how the registry is asked without the Secret's credential.
const anonymously = "anonymously"

func readDocuments(ctx context.Context, r *checks.Resource, secrets map[string]checks.Known[corev1.Secret], ca, policy checks.Known[corev1.ConfigMap], ask bool) {
	r.Secrets = map[string]checks.Known[checks.Secret]{}
	for name, found := range secrets {
		r.Secrets[name] = keysOf(found)
	}
	r.Policy = document(policy, r.Source.VerificationPolicyFrom.Key, func(data []byte) error {
		_, err := artifact.ParsePolicy(data)
		return err
	})
	options := artifact.Options{Timeout: patience, UserAgent: "kubectl-ptah"}
	var bundle []byte
	if t := r.Source.Transport; t != nil {
		options.PlainHTTP = t.PlainHTTP
		if t.CAFrom != nil {
			r.CA = document(ca, t.CAFrom.Key, func(data []byte) error {
				bundle = data
				_, err := artifact.New(artifact.Options{CAPEM: data})
				return err
			})
			options.CAPEM = bundle
		}
	}
	note := anonymously
	if auth := r.Source.RegistryAuthFrom; auth != nil {
		secret := secrets[auth.Name]
		r.Grant = grant(r.Source, secret, bundle, r.CA)
		if secret.State == checks.Present && r.Grant.State == checks.Present && r.Grant.Value == "" {
			options.Credential, note = credential(*auth, secret.Value), "with the Secret's credential"
		}
	}
	if ask {
		r.Artifact = resolve(ctx, r.Source.OCIRef, options, note, r.Source.RegistryAuthFrom == nil || note != anonymously)
	}
}

func document(found checks.Known[corev1.ConfigMap], key string, check func([]byte) error) checks.Known[checks.Document] {
	out := checks.Known[checks.Document]{State: found.State, Why: found.Why}
	if found.State != checks.Present {
		return out
	}
	value, ok := found.Value.Data[key]
	out.Value = checks.Document{HasKey: ok, Immutable: found.Value.Immutable != nil && *found.Value.Immutable}
	if ok {
		if err := check([]byte(value)); err != nil {
			out.Value.Problem = err.Error()
		}
	}
	return out
}

// grant asks what operation Pods will ask: whether the owner of the credential allows this registry and this transport.
func grant(source v1alpha1.Source, secret checks.Known[corev1.Secret], bundle []byte, ca checks.Known[checks.Document]) checks.Known[string] {
	if secret.State != checks.Present {
		return checks.Known[string]{State: secret.State, Why: secret.Why}
	}
	use := artifact.Use{Reference: source.OCIRef, Authenticated: true, CA: bundle}
	if t := source.Transport; t != nil {
		use.PlainHTTP = t.PlainHTTP
		if t.CAFrom != nil && bundle == nil {
			return checks.Unseen[string]("the CA that it has to grant is not readable" + because(ca.Why))
		}
	}
	data := secret.Value.Data
	err := artifact.CheckGrant(artifact.Grants{
		Registry: string(data[v1alpha1.RegistryGrantKey]), AllowPlainHTTP: string(data[v1alpha1.AllowPlainHTTPGrantKey]), CASHA256: string(data[v1alpha1.CASHA256GrantKey]),
	}, use)
	if err != nil {
		return checks.Have(err.Error())
	}
	return checks.Have("")
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// credential goes to the registry that the Secret grants, and nowhere else.
func credential(auth v1alpha1.RegistryAuth, secret corev1.Secret) artifact.Credential {
	value := func(key, fallback string) string {
		if key == "" {
			key = fallback
		}
		return string(secret.Data[key])
	}
	if auth.Mode == v1alpha1.RegistryAuthDockerConfigJSON {
		return artifact.Credential{DockerConfigJSON: []byte(value(auth.DockerConfigJSONKey, corev1.DockerConfigJsonKey))}
	}
	if token := value(auth.TokenKey, "token"); token != "" {
		return artifact.Credential{Token: token}
	}
	return artifact.Credential{Username: value(auth.UsernameKey, "username"), Password: value(auth.PasswordKey, "password")}
}

// resolve asks the registry. Some registries hide what exists from whoever may not read it, so that "not found" is an answer only to a question
// that was asked as the operation Pods will ask it.
func resolve(ctx context.Context, reference string, options artifact.Options, how string, asked bool) checks.Known[checks.Artifact] {
	client, err := artifact.New(options)
	if err != nil {
		return checks.Unseen[checks.Artifact](err.Error())
	}
	found, err := client.Resolve(ctx, reference)
	if artifact.CodeOf(err) == frame.CodeArtifactNotFound && asked {
		return checks.None[checks.Artifact]()
	}
	if err != nil {
		return checks.Unseen[checks.Artifact](strings.TrimPrefix(err.Error(), "resolving "+reference+": ") + " (asked " + how + ")")
	}
	return checks.Have(checks.Artifact{Digest: found.Digest, Type: found.ArtifactType})
}
