package render

import (
	"fmt"
	"strings"
)

// Version is what runs here and, where it could be asked, what runs there.
type Version struct {
	Meta
	Client Client  `json:"client"`
	Server *Server `json:"server,omitempty"`
	// Unknown says what could not be found out, and why.
	Unknown []string `json:"unknown"`
}

// Client is this program.
type Client struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Server is a cluster and the operator in it.
type Server struct {
	Kubernetes  string   `json:"kubernetes,omitempty"`
	APIVersions []string `json:"apiVersions"` // of Ptah's group; empty when its kinds are not installed
	// Managers are the builds that the resources' evidence belongs to. One, unless a rollout is under way.
	Managers []ManagerBuild `json:"managers"`
}

// ManagerBuild is an operator as resources record it.
type ManagerBuild struct {
	PtahVersion string `json:"ptahVersion"`
	Revision    string `json:"revision"`
	Resource    string `json:"resource"` // one that records it
}

// NewVersion shows versions.
func NewVersion(client Client, server *Server, unknown []string) *Version {
	if unknown == nil {
		unknown = []string{}
	}
	return &Version{Meta: Meta{APIVersion: APIVersion, Kind: "Version"}, Client: client, Server: server, Unknown: unknown}
}

// Data is this view.
func (v *Version) Data() any { return v }

// Names is the client's version.
func (v *Version) Names() []string { return []string{v.Client.Version} }

// Draw writes a line for each side.
func (v *Version) Draw(c *Canvas) {
	f := c.fields()
	f.line("Client", fmt.Sprintf("ptah %s, revision %s, %s, %s", v.Client.Version, short(v.Client.Revision, 12), v.Client.Go, v.Client.Platform))
	if v.Server == nil {
		return
	}
	if v.Server.Kubernetes != "" {
		f.line("Kubernetes", v.Server.Kubernetes)
	}
	switch {
	case len(v.Server.APIVersions) > 0:
		f.line("Ptah API", strings.Join(v.Server.APIVersions, ", "))
	default:
		f.line("Ptah API", c.mark(Caution)+" not installed in this cluster")
	}
	for _, build := range v.Server.Managers {
		f.line("Operator", fmt.Sprintf("ptah %s, revision %s, as %s records it", build.PtahVersion, short(build.Revision, 12), build.Resource))
	}
}
