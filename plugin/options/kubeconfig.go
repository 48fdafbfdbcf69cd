package options

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Kubeconfig is what the flags say about reaching a cluster. They are those of kubectl, from client-go: the flag set of cli-runtime brings
// discovery, a REST mapper and kustomize along, which would double the time that every command takes to start.
type Kubeconfig struct {
	path      string
	overrides clientcmd.ConfigOverrides
	userExtra []string
}

func (k *Kubeconfig) addFlags(flags *pflag.FlagSet) {
	names := clientcmd.RecommendedConfigOverrideFlags("")
	names.ClusterOverrideFlags.APIServer.ShortName = "s"
	names.AuthOverrideFlags.Username.LongName, names.AuthOverrideFlags.Password.LongName = "", "" // as kubectl: no password is an argument
	clientcmd.BindOverrideFlags(&k.overrides, flags, names)
	flags.StringVar(&k.path, "kubeconfig", "", "Path to the kubeconfig file to use for CLI requests.")
	flags.StringArrayVar(&k.userExtra, "as-user-extra", nil,
		"User extras to impersonate for the operation, as key=value; this flag can be repeated to specify multiple values for the same key.")
}

// Loader merges the kubeconfig files and the flags. It reads nothing before it is asked.
func (k *Kubeconfig) Loader() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = k.path
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &k.overrides)
}

func (k *Kubeconfig) rest() (*rest.Config, error) {
	if err := k.extras(); err != nil {
		return nil, err
	}
	config, err := k.Loader().ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, errors.New("there is none, and this is no Pod of a cluster: set KUBECONFIG, or give --kubeconfig or --server")
	}
	return config, err
}

func (k *Kubeconfig) extras() error {
	for _, extra := range k.userExtra {
		key, value, ok := strings.Cut(extra, "=")
		if !ok || key == "" {
			return Usagef("--as-user-extra %q: want key=value", extra)
		}
		if k.overrides.AuthInfo.ImpersonateUserExtra == nil {
			k.overrides.AuthInfo.ImpersonateUserExtra = map[string][]string{}
		}
		k.overrides.AuthInfo.ImpersonateUserExtra[key] = append(k.overrides.AuthInfo.ImpersonateUserExtra[key], value)
	}
	return nil
}

func (k *Kubeconfig) namespace() (string, error) {
	namespace, _, err := k.Loader().Namespace()
	if clientcmd.IsEmptyConfig(err) {
		return "default", nil
	}
	return namespace, err
}

// Raw is the merged kubeconfig as it stands in the files.
func (k *Kubeconfig) Raw() (clientcmdapi.Config, error) {
	config, err := k.Loader().RawConfig()
	if err != nil {
		return config, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return config, nil
}
