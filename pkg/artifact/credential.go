package artifact

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"

	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"github.com/ptah-run/ptah/pkg/frame"
)

// maxDockerConfig bounds a Docker configuration document: a Kubernetes Secret cannot hold more.
const maxDockerConfig = 1 << 20

// Credential is how Ptah authenticates. At most one form is set; the zero value is anonymous.
type Credential struct {
	Username, Password string
	// Token is a bearer token, or an identity token that the registry's token service exchanges for one; both are tried.
	Token string
	// DockerConfigJSON is the content of a .dockerconfigjson. It must have an entry for the registry.
	DockerConfigJSON []byte
	// FromDocker uses the invoking user's Docker configuration, its credential store and helpers included. For people's own
	// machines; a registry without an entry is asked anonymously.
	FromDocker bool
}

// login finds the credentials for an authority, in the order in which they are tried.
type login interface {
	forAuthority(ctx context.Context, authority string) ([]auth.Credential, error)
}

func newLogin(c Credential) (login, error) {
	forms := 0
	for _, set := range []bool{c.Username != "" || c.Password != "", c.Token != "", len(c.DockerConfigJSON) > 0, c.FromDocker} {
		if set {
			forms++
		}
	}
	switch {
	case forms > 1:
		return nil, refuse(frame.CodeConfigurationInvalid, "reading the registry credential: more than one form is given (user name and password, token, Docker configuration)")
	case c.Token != "":
		return tokenLogin(c.Token)
	case len(c.DockerConfigJSON) > 0:
		return parseDockerConfig(c.DockerConfigJSON)
	case c.FromDocker:
		return userLogin{}, nil
	case forms == 0:
		return fixedLogin{auth.EmptyCredential}, nil
	case c.Username == "" || c.Password == "":
		return nil, refuse(frame.CodeRegistryUnauthorized, "reading the registry credential: user name and password must come together")
	default:
		return fixedLogin{{Username: c.Username, Password: c.Password}}, nil
	}
}

type fixedLogin []auth.Credential

func (l fixedLogin) forAuthority(context.Context, string) ([]auth.Credential, error) { return l, nil }

func tokenLogin(token string) (login, error) {
	if strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return nil, refuse(frame.CodeRegistryUnauthorized, "reading the registry credential: the token holds a blank or a control character")
	}
	return fixedLogin{{AccessToken: token}, {RefreshToken: token}}, nil
}

// dockerLogin is a parsed Docker configuration, by host.
type dockerLogin map[string]auth.Credential

type dockerEntry struct {
	Username      string `json:"username"`
	Password      string `json:"password"`
	Auth          string `json:"auth"`
	IdentityToken string `json:"identitytoken"`
	RegistryToken string `json:"registrytoken"`
}

func parseDockerConfig(data []byte) (login, error) {
	if len(data) > maxDockerConfig {
		return nil, refuse(frame.CodeRegistryUnauthorized, "reading the Docker configuration: it is over 1 MiB")
	}
	var document struct {
		Auths map[string]dockerEntry `json:"auths"`
	}
	if json.Unmarshal(data, &document) != nil {
		return nil, refuse(frame.CodeRegistryUnauthorized, "reading the Docker configuration: it is not the JSON document that Docker writes")
	}
	found := dockerLogin{}
	for address, entry := range document.Auths {
		credential, ok := entry.credential()
		if !ok {
			return nil, refuse(frame.CodeRegistryUnauthorized, "reading the Docker configuration: an entry's auth is not base64 of user:password")
		}
		found[hostOfEntry(address)] = credential
	}
	return found, nil
}

func (e dockerEntry) credential() (auth.Credential, bool) {
	credential := auth.Credential{Username: e.Username, Password: e.Password, RefreshToken: e.IdentityToken, AccessToken: e.RegistryToken}
	if e.Auth == "" {
		return credential, true
	}
	plain, err := base64.StdEncoding.DecodeString(e.Auth)
	if err != nil {
		return auth.EmptyCredential, false
	}
	user, password, ok := strings.Cut(string(plain), ":")
	credential.Username, credential.Password = user, strings.TrimRight(password, "\x00")
	return credential, ok
}

// hostOfEntry reduces the keys that Docker has used over time ("https://host/v1/", "host/path", "host") to the authority.
func hostOfEntry(address string) string {
	for _, scheme := range []string{"https://", "http://"} {
		address = strings.TrimPrefix(address, scheme)
	}
	host, _, _ := strings.Cut(address, "/")
	host = strings.ToLower(host)
	if host == hubHost || host == "index.docker.io" {
		return hubAuthority
	}
	return host
}

func (l dockerLogin) forAuthority(_ context.Context, authority string) ([]auth.Credential, error) {
	credential, ok := l[authority]
	if !ok || credential == auth.EmptyCredential {
		return nil, refuse(frame.CodeRegistryUnauthorized, "reading the Docker configuration: it has no entry for %s", authority)
	}
	return []auth.Credential{credential}, nil
}

// userLogin reads the invoking user's Docker configuration at the moment of use.
type userLogin struct{}

func (userLogin) forAuthority(ctx context.Context, authority string) ([]auth.Credential, error) {
	store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{})
	if err != nil {
		return nil, refuse(frame.CodeRegistryUnauthorized, "reading the Docker configuration of this user: it cannot be read or is not what Docker writes")
	}
	credential, err := credentials.Credential(store)(ctx, authority)
	if err != nil {
		return nil, refuse(frame.CodeRegistryUnauthorized, "reading the Docker configuration of this user: the credential for %s cannot be read", authority)
	}
	return []auth.Credential{credential}, nil
}

// firstAccepted tries its clients in order until a registry does not answer 401, and then stays with that one. More than one client
// exists only for a token, which may be of either kind.
type firstAccepted struct {
	clients []*auth.Client
	chosen  atomic.Int64
}

// Do sends the request, again with the next credential where the former was refused and the body can be sent again.
func (f *firstAccepted) Do(req *http.Request) (*http.Response, error) {
	for i := int(f.chosen.Load()); ; i++ {
		resp, err := f.clients[i].Do(req)
		last := i == len(f.clients)-1
		if last || err != nil || resp.StatusCode != http.StatusUnauthorized || !rewind(req) {
			if err == nil && resp.StatusCode != http.StatusUnauthorized {
				f.chosen.Store(int64(i))
			}
			return resp, err
		}
		_ = resp.Body.Close()
	}
}

func rewind(req *http.Request) bool {
	if req.Body == nil || req.Body == http.NoBody {
		return true
	}
	if req.GetBody == nil {
		return false
	}
	body, err := req.GetBody()
	if err != nil {
		return false
	}
	req.Body = body
	return true
}
