package pki

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
)

func writeTestCluster(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "pki")
	require.NoError(t, WriteCluster(dir, ClusterOptions{
		NodeName: "node1", NodeAddress: "10.88.0.1", ServiceIP: "10.96.0.1",
		InsideURL: "https://10.88.0.1:6443", HostURL: "https://127.0.0.1:20001", ClusterName: "c",
	}))
	return dir
}

func readCert(t *testing.T, path string) *x509.Certificate {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	block, _ := pem.Decode(data)
	require.NotNil(t, block)
	cert, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	return cert
}

func TestServerCertificatesCoverTheirAddresses(t *testing.T) {
	dir := writeTestCluster(t)
	roots := x509.NewCertPool()
	roots.AddCert(readCert(t, filepath.Join(dir, "ca.crt")))
	for name, tc := range map[string]struct{ file, host string }{
		"the host's loopback":      {"kube-apiserver.crt", "127.0.0.1"},
		"the node's address":       {"kube-apiserver.crt", "10.88.0.1"},
		"the Service address":      {"kube-apiserver.crt", "10.96.0.1"},
		"the Service name":         {"kube-apiserver.crt", "kubernetes.default.svc"},
		"the kubelet by address":   {"kubelet-server.crt", "10.88.0.1"},
		"the kubelet by node name": {"kubelet-server.crt", "node1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readCert(t, filepath.Join(dir, tc.file)).Verify(x509.VerifyOptions{Roots: roots, DNSName: tc.host})
			assert.NoError(t, err)
		})
	}
}

func TestFrontProxyHasAnAuthorityOfItsOwn(t *testing.T) {
	dir := writeTestCluster(t)
	roots := x509.NewCertPool()
	roots.AddCert(readCert(t, filepath.Join(dir, "ca.crt")))
	_, err := readCert(t, filepath.Join(dir, "front-proxy-client.crt")).Verify(x509.VerifyOptions{
		Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	assert.Error(t, err, "a client of the cluster's authority could impersonate anybody")
}

func TestKubeconfigsDifferInTheAddressOnly(t *testing.T) {
	dir := writeTestCluster(t)
	inside, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, AdminInside))
	require.NoError(t, err)
	host, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, AdminHost))
	require.NoError(t, err)
	assert.Equal(t, "https://10.88.0.1:6443", inside.Host)
	assert.Equal(t, "https://127.0.0.1:20001", host.Host)
	assert.Equal(t, inside.CertData, host.CertData)
	_, err = tls.X509KeyPair(host.CertData, host.KeyData)
	assert.NoError(t, err)
}

func TestPrivateFilesAreClosedToOthers(t *testing.T) {
	dir := writeTestCluster(t)
	for _, pattern := range []string{"*.key", "*.kubeconfig"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			info, err := os.Stat(file)
			require.NoError(t, err)
			assert.Zero(t, info.Mode().Perm()&0o077, file)
		}
	}
}
