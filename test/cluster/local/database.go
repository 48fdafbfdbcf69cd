//go:build linux

package local

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/ptah-run/ptah/test/cluster"
	"github.com/ptah-run/ptah/test/cluster/database"
	"github.com/ptah-run/ptah/test/cluster/debian"
	"github.com/ptah-run/ptah/test/cluster/forward"
	"github.com/ptah-run/ptah/test/cluster/node"
	"github.com/ptah-run/ptah/test/cluster/process"
	"github.com/ptah-run/ptah/test/cluster/state"
)

const (
	databaseTimeout = 60 * time.Second
	firstPostgres   = 5432
)

// StartDatabase implements cluster.Driver. A server of that name that runs already is left as it is; one that was
// stopped with its data kept goes on with its former options.
func (d *Driver) StartDatabase(ctx context.Context, options cluster.DatabaseOptions) (cluster.Database, error) {
	none := cluster.Database{}
	if err := cluster.ValidateName(options.Name); err != nil {
		return none, fmt.Errorf("database: %w", err)
	}
	if options.Engine != "postgres" {
		return none, fmt.Errorf("database engine %q: there is only postgres", options.Engine)
	}
	if err := installPostgres(ctx, options); err != nil {
		return none, err
	}
	held, r, err := d.lockRunning()
	if err != nil {
		return none, err
	}
	defer held.Release(false)
	entry := r.Databases[options.Name]
	if entry == nil {
		if entry, err = d.addDatabase(r, options); err != nil {
			return none, err
		}
	}
	if err := d.runDatabase(ctx, r, entry); err != nil {
		return none, err
	}
	return entry.Database, nil
}

// lockRunning takes the lock of a running cluster.
func (d *Driver) lockRunning() (*state.Lock, *record, error) {
	if _, err := d.running(); err != nil {
		return nil, nil, err
	}
	held, err := d.state.Lock()
	if err != nil {
		return nil, nil, err
	}
	r, err := d.running()
	if err != nil {
		held.Release(false)
		return nil, nil, err
	}
	return held, r, nil
}

func installPostgres(ctx context.Context, options cluster.DatabaseOptions) error {
	_, _, err := database.Programs(options.Major)
	var absent *database.NoServerError
	if !errors.As(err, &absent) {
		return err
	}
	if !debian.CanInstall() || debian.Postgres.Find() != "" {
		return err
	}
	if err := debian.Install(ctx, []string{debian.Postgres.Package}, options.Progress); err != nil {
		return err
	}
	_, _, err = database.Programs(options.Major)
	return err
}

// addDatabase decides everything about a new server and records it.
func (d *Driver) addDatabase(r *record, options cluster.DatabaseOptions) (*databaseRecord, error) {
	_, major, err := database.Programs(options.Major)
	if err != nil {
		return nil, err
	}
	listen, port := options.Listen, options.Port
	if listen == "" {
		listen = cluster.NodeAddress
	}
	if port == 0 {
		port = freePort(r)
	}
	password := rand.Text()
	process := databaseProcess(options.Name)
	entry := &databaseRecord{
		Options: database.Options{
			Major: major, Dir: node.DatabaseDir + "/" + options.Name, Listen: []string{listen}, Port: port,
			Networks: []string{cluster.PodCIDR, cluster.ServiceCIDR}, Password: password,
			LogStatement: options.LogStatement, Settings: options.Settings,
		},
		Database: cluster.Database{
			Name: options.Name, Engine: options.Engine, Version: strconv.Itoa(major),
			User: database.Superuser, Password: password,
			Host: listen, Port: port, URL: database.URL(password, listen, port),
			LogFile: d.state.Path("logs", process+".log"),
		},
	}
	if r.Databases == nil {
		r.Databases = map[string]*databaseRecord{}
	}
	r.Databases[options.Name] = entry
	return entry, d.state.Save(r)
}

func databaseProcess(name string) string { return "postgres-" + name }

// freePort is the first port from PostgreSQL's own that no other database of the cluster has.
func freePort(r *record) int {
	taken := map[int]bool{}
	for _, other := range r.Databases {
		taken[other.Options.Port] = true
	}
	port := firstPostgres
	for taken[port] {
		port++
	}
	return port
}

// runDatabase starts what is not running of a recorded database: its server and its forwarder.
func (d *Driver) runDatabase(ctx context.Context, r *record, entry *databaseRecord) error {
	control, name := node.NewControl(r.Supervisor.PID), databaseProcess(entry.Database.Name)
	running, err := isRunning(ctx, control, name)
	if err != nil {
		return err
	}
	if !running {
		path := d.state.Path("etc", name+".json")
		if err := entry.Options.Save(path); err != nil {
			return err
		}
		err := control.Start(ctx, process.Spec{
			Name: name, LogFile: entry.Database.LogFile,
			Argv: []string{d.state.Path("bin", "ptah-cluster"), "serve-database", path},
		})
		if err != nil {
			return err
		}
	}
	if !entry.Forwarder.Alive() {
		if err := d.forwardDatabase(r, entry); err != nil {
			return err
		}
	}
	return awaitDatabase(ctx, control, entry)
}

func (d *Driver) forwardDatabase(r *record, entry *databaseRecord) error {
	sockets := &forward.Sockets{}
	defer sockets.Close()
	want := entry.Database.Forward.Port
	if want == 0 {
		want = forward.UsualPort(d.name + "/" + entry.Database.Name)
	}
	port, err := sockets.Add(want, net.JoinHostPort(entry.Database.Host, strconv.Itoa(entry.Database.Port)))
	if err != nil {
		return err
	}
	const loopback = "127.0.0.1"
	entry.Database.Forward = cluster.Forward{
		Host: loopback, Port: port, URL: database.URL(entry.Options.Password, loopback, port),
	}
	entry.Forwarder, err = sockets.Spawn(d.forwarderProgram(), r.Supervisor,
		d.state.Path("logs", databaseProcess(entry.Database.Name)+"-forwarder.log"))
	if err != nil {
		return err
	}
	return d.state.Save(r)
}

func isRunning(ctx context.Context, control *node.Control, name string) (bool, error) {
	status, err := control.Status(ctx)
	if err != nil {
		return false, err
	}
	for _, p := range status.Processes {
		if p.Name == name && p.State == "running" {
			return true, nil
		}
	}
	return false, nil
}

// awaitDatabase connects from the host, which proves server and forwarder at once.
func awaitDatabase(ctx context.Context, control *node.Control, entry *databaseRecord) error {
	ctx, cancel := context.WithTimeout(ctx, databaseTimeout)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, entry.Database.Forward.URL)
		if err == nil {
			return conn.Close(ctx)
		}
		running, statusErr := isRunning(ctx, control, databaseProcess(entry.Database.Name))
		if statusErr == nil && !running {
			return fmt.Errorf("database %s ended while starting:\n%s", entry.Database.Name, tail(entry.Database.LogFile, 8))
		}
		if sleep(ctx, 50*time.Millisecond) != nil {
			return fmt.Errorf("waiting for database %s: %w", entry.Database.Name, err)
		}
	}
}

// StopDatabase implements cluster.Driver.
func (d *Driver) StopDatabase(ctx context.Context, name string, keep bool) error {
	held, r, err := d.lockRunning()
	var absent *cluster.NotRunningError
	if errors.As(err, &absent) {
		return nil
	}
	if err != nil {
		return err
	}
	defer held.Release(false)
	entry := r.Databases[name]
	if entry == nil {
		return nil
	}
	if err := node.NewControl(r.Supervisor.PID).Stop(ctx, databaseProcess(name)); err != nil {
		return err
	}
	if keep {
		return nil
	}
	if err := entry.Forwarder.Kill(ctx); err != nil {
		return err
	}
	// The data is on a tmpfs of the cluster's mount namespace, which the host sees through /proc.
	inside := "/proc/" + strconv.Itoa(r.Supervisor.PID) + "/root" + entry.Options.Dir
	options := d.state.Path("etc", databaseProcess(name)+".json")
	if err := errors.Join(os.RemoveAll(inside), os.RemoveAll(options)); err != nil {
		return fmt.Errorf("removing the data of database %s: %w", name, err)
	}
	delete(r.Databases, name)
	return d.state.Save(r)
}
