// Package apiserver starts a real kube-apiserver with its etcd for a benchmark.
package apiserver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// Server is a running API server with the CRDs.
type Server struct {
	*envtest.Environment
	// Directory is for the benchmark's own files; Stop removes it.
	Directory string
	// Kubeconfig is the path of an administrator's.
	Kubeconfig string
}

// Start starts a server from the binaries in the assets directory and stores the CRDs of another.
func Start(assets, crds string) (*Server, error) {
	ctrllog.SetLogger(logr.Discard())
	environment := &envtest.Environment{
		BinaryAssetsDirectory: assets, CRDDirectoryPaths: []string{crds}, ErrorIfCRDPathMissing: true,
		ControlPlaneStartTimeout: 3 * time.Minute, ControlPlaneStopTimeout: time.Minute,
	}
	if _, err := environment.Start(); err != nil {
		return nil, fmt.Errorf("starting an API server: %w", err)
	}
	s := &Server{Environment: environment}
	var err error
	if s.Directory, err = os.MkdirTemp("", "ptah-bench-"); err != nil {
		return nil, errors.Join(fmt.Errorf("making a directory: %w", err), environment.Stop())
	}
	if s.Kubeconfig, err = s.write("kubeconfig", environment.KubeConfig); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// User makes somebody with no more rights than roles give, and returns the path of their kubeconfig.
func (s *Server) User(user envtest.User) (string, error) {
	added, err := s.AddUser(user, nil)
	if err != nil {
		return "", fmt.Errorf("adding user %s: %w", user.Name, err)
	}
	data, err := added.KubeConfig()
	if err != nil {
		return "", fmt.Errorf("making the kubeconfig of %s: %w", user.Name, err)
	}
	return s.write("user.kubeconfig", data)
}

func (s *Server) write(name string, data []byte) (string, error) {
	path := filepath.Join(s.Directory, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return "", fmt.Errorf("writing %s: %w", name, err)
	}
	return path, nil
}

// Stop ends the server and removes what it and the benchmark wrote.
func (s *Server) Stop() {
	_ = os.RemoveAll(s.Directory)
	_ = s.Environment.Stop()
}
