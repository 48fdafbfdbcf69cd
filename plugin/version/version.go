package version

import (
	"context"
	"errors"
	"runtime"
	"time"

	kubeversion "k8s.io/apimachinery/pkg/version"

	"github.com/ptah-run/ptah/pkg/api/v1alpha1"
	"github.com/ptah-run/ptah/pkg/release"
	"github.com/ptah-run/ptah/pkg/render"
	"github.com/ptah-run/ptah/plugin/cluster"
	"github.com/ptah-run/ptah/plugin/options"
)

// patience bounds how long a version may take to find out.
const patience = 5 * time.Second

// reader is what the verb asks the cluster.
type reader interface {
	ServerVersion(ctx context.Context) (kubeversion.Info, error)
	GroupVersions(ctx context.Context) ([]string, error)
	EachSchema(ctx context.Context, query cluster.Query, visit func(*v1alpha1.PtahSchema) error) error
	EachMigration(ctx context.Context, query cluster.Query, visit func(*v1alpha1.PtahMigration) error) error
}

type versionOptions struct {
	global     *options.Global
	output     *options.Output
	clientOnly bool
}

func (o *versionOptions) run(ctx context.Context) error {
	if _, err := o.output.Format(); err != nil {
		return err
	}
	here := render.Client{
		Version: release.Version, Revision: release.Describe(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	var server *render.Server
	var unknown []string
	if !o.clientOnly {
		server, unknown = o.ask(ctx)
	}
	if err := o.output.Print(render.NewVersion(here, server, unknown)); err != nil {
		return err
	}
	for _, line := range unknown {
		o.global.Note(render.Caution, "%s", line)
	}
	return nil
}

func (o *versionOptions) ask(ctx context.Context) (*render.Server, []string) {
	client, err := o.global.Cluster()
	if err != nil {
		return nil, []string{"no cluster asked: " + err.Error()}
	}
	namespace, err := o.global.Namespace()
	if err != nil {
		return nil, []string{"no cluster asked: " + err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return look(ctx, client, namespace)
}

// look asks one thing after the other and keeps what it gets. A server that does not answer at all is not asked again.
func look(ctx context.Context, client reader, namespace string) (*render.Server, []string) {
	server := &render.Server{APIVersions: []string{}, Managers: []render.ManagerBuild{}}
	var unknown []string
	info, err := client.ServerVersion(ctx)
	if err != nil {
		return nil, []string{err.Error()}
	}
	server.Kubernetes = info.GitVersion
	versions, err := client.GroupVersions(ctx)
	if err != nil {
		return server, append(unknown, err.Error())
	}
	server.APIVersions = append(server.APIVersions, versions...)
	if len(versions) == 0 {
		return server, append(unknown, "Ptah's kinds are not installed in this cluster, so no operator version is known")
	}
	build, err := operator(ctx, client, namespace)
	switch {
	case err != nil:
		unknown = append(unknown, "the operator's version is not known: "+err.Error())
	case build == nil:
		unknown = append(unknown, "the operator's version is not known: no resource in namespace "+namespace+" records one yet")
	default:
		server.Managers = append(server.Managers, *build)
	}
	return server, unknown
}

// errFound ends a list early.
var errFound = errors.New("found")

// operator finds a resource that records the build it was reconciled by.
func operator(ctx context.Context, client reader, namespace string) (*render.ManagerBuild, error) {
	var build *render.ManagerBuild
	take := func(kind, name string, binding *v1alpha1.ExecutionBinding) error {
		if binding == nil {
			return nil
		}
		build = &render.ManagerBuild{PtahVersion: binding.PtahVersion, Revision: binding.ControllerRevision, Resource: kind + " " + namespace + "/" + name}
		return errFound
	}
	query := cluster.Query{Namespace: namespace}
	err := client.EachSchema(ctx, query, func(s *v1alpha1.PtahSchema) error { return take("schema", s.Name, s.Status.ExecutionBinding) })
	if err == nil {
		err = client.EachMigration(ctx, query, func(m *v1alpha1.PtahMigration) error { return take("migration", m.Name, m.Status.ExecutionBinding) })
	}
	if build != nil {
		return build, nil
	}
	return nil, err
}
