package kindcluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	ptah "github.com/ptah-run/ptah/test/cluster"
	"github.com/ptah-run/ptah/test/cluster/database"
	"github.com/ptah-run/ptah/test/cluster/process"
)

// Status implements the Driver interface.
func (d *Driver) Status(context.Context) (ptah.Status, error) {
	status := ptah.Status{Name: d.name, Driver: "kind"}
	r, err := d.load()
	var absent *ptah.NotRunningError
	if errors.As(err, &absent) {
		return status, nil
	}
	if err != nil {
		return status, err
	}
	status.StateDir, status.Since, status.Registry = string(d.state), r.Since, r.Listen
	status.Running = true
	status.Ready = r.Registry.Alive()
	if !status.Ready {
		status.Problem = "the registry is gone; up starts it again"
	}
	status.Databases = slices.Sorted(maps.Keys(r.Databases))
	return status, nil
}

// Env implements the Driver interface. kubectl and helm are those of the user.
func (d *Driver) Env(context.Context) (ptah.Env, error) {
	r, err := d.load()
	if err != nil {
		return ptah.Env{}, err
	}
	return ptah.Env{Name: d.name, Kubeconfig: d.kubeconfig(), Registry: r.Address, RegistryHost: r.Listen}, nil
}

// Exec implements the Driver interface. Pod and Service addresses are reachable from the host on Linux only through
// the API server; the registry and databases run on the host anyway.
func (d *Driver) Exec(ctx context.Context, argv []string) (int, error) {
	r, err := d.load()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "KUBECONFIG="+d.kubeconfig(), "PTAH_REGISTRY="+r.Address,
		"PTAH_REGISTRY_HOST="+r.Listen, ptah.InsideVariable+"="+d.name)
	if server := r.Databases[ptah.DefaultDatabase]; server != nil {
		cmd.Env = append(cmd.Env, ptah.PostgresVariable+"="+server.Database.JSON())
	}
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 0, fmt.Errorf("running %s: %w", argv[0], err)
	}
	return 0, nil
}

// Logs implements the Driver interface: kind exports files, so their directory is printed instead of their content.
func (d *Driver) Logs(_ context.Context, w io.Writer, _ ptah.LogOptions) error {
	kind, err := provider(io.Discard)
	if err != nil {
		return err
	}
	dir := d.state.Path("logs")
	if err := kind.CollectLogs(d.name, dir); err != nil {
		return fmt.Errorf("exporting the logs of kind cluster %s: %w", d.name, err)
	}
	fmt.Fprintln(w, dir)
	return nil
}

// StartDatabase implements the Driver interface. The server is a process of the host that listens for the nodes.
func (d *Driver) StartDatabase(ctx context.Context, options ptah.DatabaseOptions) (ptah.Database, error) {
	none := ptah.Database{}
	if err := ptah.ValidateName(options.Name); err != nil {
		return none, fmt.Errorf("database: %w", err)
	}
	held, err := d.state.Lock()
	if err != nil {
		return none, err
	}
	defer held.Release(false)
	r, err := d.load()
	if err != nil {
		return none, err
	}
	server := r.Databases[options.Name]
	if server == nil {
		if server, err = d.newServer(ctx, options); err != nil {
			return none, err
		}
	}
	if !server.Process.Alive() {
		if err := d.runServer(server); err != nil {
			return none, err
		}
		if r.Databases == nil {
			r.Databases = map[string]*serverData{}
		}
		r.Databases[options.Name] = server
		if err := d.state.Save(r); err != nil {
			return none, err
		}
	}
	return server.Database, server.await(ctx)
}

func (d *Driver) newServer(ctx context.Context, options ptah.DatabaseOptions) (*serverData, error) {
	_, major, err := database.Programs(options.Major)
	if err != nil {
		return nil, err
	}
	host, listen, err := hostAddress(ctx)
	if err != nil {
		return nil, err
	}
	port := options.Port
	if port == 0 {
		if port, err = freePort(listen); err != nil {
			return nil, err
		}
	}
	password := rand.Text()
	return &serverData{
		Options: database.Options{
			Major: major, Dir: filepath.Join(os.TempDir(), "ptah-kind-"+d.name+"-"+options.Name), Port: port,
			Listen: []string{listen}, Networks: []string{"0.0.0.0/0"}, Password: password,
			LogStatement: options.LogStatement, Settings: options.Settings,
		},
		Database: ptah.Database{
			Name: options.Name, Engine: options.Engine, Version: strconv.Itoa(major), User: database.Superuser,
			Password: password, Host: host, Port: port, URL: database.URL(password, host, port),
			Forward: ptah.Forward{Host: listen, Port: port, URL: database.URL(password, listen, port)},
			LogFile: d.state.Path("logs", "postgres-"+options.Name+".log"),
		},
	}, nil
}

func freePort(address string) (int, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return 0, fmt.Errorf("finding a free port on %s: %w", address, err)
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}

func (d *Driver) runServer(server *serverData) error {
	path := d.state.Path("postgres-" + server.Database.Name + ".json")
	if err := server.Options.Save(path); err != nil {
		return err
	}
	var err error
	server.Process, err = process.Detach(exec.Command(d.program, "serve-database", path), server.Database.LogFile)
	return err
}

func (s *serverData) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.Database.Forward.URL)
		if err == nil {
			return conn.Close(ctx)
		}
		if !s.Process.Alive() {
			return fmt.Errorf("database %s ended while starting; see %s", s.Database.Name, s.Database.LogFile)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for database %s: %w", s.Database.Name, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// StopDatabase implements the Driver interface.
func (d *Driver) StopDatabase(ctx context.Context, name string, keep bool) error {
	held, err := d.state.Lock()
	if err != nil {
		return err
	}
	defer held.Release(false)
	r, err := d.load()
	if err != nil {
		return err
	}
	server := r.Databases[name]
	if server == nil {
		return nil
	}
	if err := server.Process.Terminate(ctx); err != nil {
		return err
	}
	if keep {
		return nil
	}
	if err := os.RemoveAll(server.Options.Dir); err != nil {
		return fmt.Errorf("removing the data of database %s: %w", name, err)
	}
	delete(r.Databases, name)
	return d.state.Save(r)
}
