package pki

import (
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Names of the kubeconfig files that WriteCluster leaves in its directory besides certificates. The two Admin files
// differ only in the address of the API server.
const (
	AdminInside = "admin-inside.kubeconfig"
	AdminHost   = "admin-host.kubeconfig"
)

// ClusterOptions are the addresses that certificates and kubeconfig files of one cluster carry.
type ClusterOptions struct {
	NodeName    string
	NodeAddress string
	ServiceIP   string // first address of the Service range: kubernetes.default
	InsideURL   string // API server as processes in the cluster's network namespace see it
	HostURL     string // API server as the host sees it
	ClusterName string // name of cluster, user and context in the kubeconfig files
}

// client is a component that gets a client certificate and a kubeconfig file NAME.kubeconfig.
type client struct {
	name         string
	user         string
	organization string
}

func clients(nodeName string) []client {
	return []client{
		{"admin", "ptah-cluster-admin", "system:masters"},
		{"kube-controller-manager", "system:kube-controller-manager", ""},
		{"kube-scheduler", "system:kube-scheduler", ""},
		{"kube-proxy", "system:kube-proxy", ""},
		{"dns", "system:ptah-cluster-dns", "system:masters"},
		{"kubelet", "system:node:" + nodeName, "system:nodes"},
	}
}

// WriteCluster makes everything one cluster needs and writes it to dir.
func WriteCluster(dir string, options ClusterOptions) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the certificate directory: %w", err)
	}
	ca, err := NewAuthority("ptah-cluster-ca")
	if err != nil {
		return err
	}
	if err := (Pair{CertPEM: ca.CertPEM, KeyPEM: ca.KeyPEM}).Write(dir, "ca"); err != nil {
		return err
	}
	if err := writeServers(dir, ca, options); err != nil {
		return err
	}
	if err := writeFrontProxy(dir); err != nil {
		return err
	}
	if err := writeSigningKey(dir); err != nil {
		return err
	}
	return writeClients(dir, ca, options)
}

func writeServers(dir string, ca *Authority, options ClusterOptions) error {
	requests := map[string]Request{
		"kube-apiserver": {CommonName: "kube-apiserver", Hosts: []string{
			"127.0.0.1", options.NodeAddress, options.ServiceIP, "localhost", "kubernetes", "kubernetes.default",
			"kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
		}},
		"kubelet-server": {
			CommonName: "system:node:" + options.NodeName, Organizations: []string{"system:nodes"},
			Hosts: []string{"127.0.0.1", options.NodeAddress, options.NodeName},
		},
		"apiserver-kubelet-client": {
			CommonName: "kube-apiserver-kubelet-client", Organizations: []string{"system:masters"},
		},
	}
	for name, request := range requests {
		if err := signTo(dir, name, ca, request); err != nil {
			return err
		}
	}
	return nil
}

func writeFrontProxy(dir string) error {
	ca, err := NewAuthority("ptah-cluster-front-proxy-ca")
	if err != nil {
		return err
	}
	if err := (Pair{CertPEM: ca.CertPEM, KeyPEM: ca.KeyPEM}).Write(dir, "front-proxy-ca"); err != nil {
		return err
	}
	return signTo(dir, "front-proxy-client", ca, Request{CommonName: "front-proxy-client"})
}

func writeSigningKey(dir string) error {
	private, public, err := SigningKey()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "sa.key"), private, 0o600); err != nil {
		return fmt.Errorf("writing the token signing key: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sa.pub"), public, 0o644); err != nil {
		return fmt.Errorf("writing the token verification key: %w", err)
	}
	return nil
}

func writeClients(dir string, ca *Authority, options ClusterOptions) error {
	for _, c := range clients(options.NodeName) {
		request := Request{CommonName: c.user}
		if c.organization != "" {
			request.Organizations = []string{c.organization}
		}
		pair, err := ca.Sign(request)
		if err != nil {
			return err
		}
		files := map[string]string{c.name + ".kubeconfig": options.InsideURL}
		if c.name == "admin" {
			files = map[string]string{AdminInside: options.InsideURL, AdminHost: options.HostURL}
		}
		for file, url := range files {
			config := kubeconfig(options.ClusterName, url, ca.CertPEM, pair)
			if err := clientcmd.WriteToFile(config, filepath.Join(dir, file)); err != nil {
				return fmt.Errorf("writing %s: %w", file, err)
			}
		}
	}
	return nil
}

func kubeconfig(name, url string, ca []byte, pair Pair) api.Config {
	config := api.NewConfig()
	config.Clusters[name] = &api.Cluster{Server: url, CertificateAuthorityData: ca}
	config.AuthInfos[name] = &api.AuthInfo{ClientCertificateData: pair.CertPEM, ClientKeyData: pair.KeyPEM}
	config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	return *config
}

func signTo(dir, name string, ca *Authority, request Request) error {
	pair, err := ca.Sign(request)
	if err != nil {
		return err
	}
	return pair.Write(dir, name)
}
