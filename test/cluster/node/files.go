//go:build linux

package node

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"text/template"

	"github.com/ptah-run/ptah/test/cluster"
)

//go:embed files
var files embed.FS

var templates = template.Must(template.ParseFS(files, "files/*"))

// targets are the configuration files below the state directory's etc, by the name of their template.
var targets = map[string]string{
	"audit-policy.yaml": "audit-policy.yaml",
	"containerd.toml":   "containerd.toml",
	"kubelet.yaml":      "kubelet.yaml",
	"bridge.conflist":   "cni/10-bridge.conflist",
	"hosts.toml":        "certs.d/" + cluster.RegistryAddress + "/hosts.toml",
}

// WriteFiles writes the configuration files of the components.
func (c Config) WriteFiles() error {
	values := map[string]string{
		"Run": runDir, "State": c.StateDir, "CNIDir": c.CNIDir, "PauseImage": c.PauseImage, "Cgroup": c.Cgroup,
		"NodeAddress": cluster.NodeAddress, "Domain": cluster.Domain, "PodCIDR": cluster.PodCIDR,
		"Registry": cluster.RegistryAddress, "Bridge": bridgeName,
	}
	for name, target := range targets {
		var text bytes.Buffer
		if err := templates.ExecuteTemplate(&text, name, values); err != nil {
			return fmt.Errorf("rendering %s: %w", name, err)
		}
		path := c.etc(target)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("making the directory of %s: %w", target, err)
		}
		if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
			return fmt.Errorf("writing %s: %w", target, err)
		}
	}
	return nil
}
