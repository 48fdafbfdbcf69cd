// Package rig is what the demo, the end-to-end tests and the benchmarks stand on: the local cluster, its registry, a PostgreSQL and the
// operator, all real. It runs commands as a person would and keeps no state of its own.
package rig

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Rig is the surroundings that `ptah-cluster exec` hands to a program.
type Rig struct {
	// Root is the checkout; Bin holds what `make build` and `make images` wrote.
	Root, Bin string
	// Registry is host:port of the cluster's registry, the same name inside and outside of Pods.
	Registry string
	// PostgresURL is the superuser's URL of the throw-away server, without a database; Pods reach it by PostgresHost and PostgresPort.
	PostgresURL, PostgresHost, PostgresPort string
	// PostgresLog is the server's log, every statement in it.
	PostgresLog string
	// Images are repository@digest references by binary name: manager, executor, kubectl-ptah.
	Images map[string]string
}

// FromEnv reads the surroundings and says what is missing and which target makes it.
func FromEnv() (*Rig, error) {
	root, err := checkout()
	if err != nil {
		return nil, err
	}
	r := &Rig{Root: root, Bin: filepath.Join(root, "bin"), Registry: os.Getenv("PTAH_REGISTRY"), Images: map[string]string{}}
	for name, value := range map[string]string{"KUBECONFIG": os.Getenv("KUBECONFIG"), "PTAH_REGISTRY": r.Registry, "PTAH_POSTGRES": os.Getenv("PTAH_POSTGRES")} {
		if value == "" {
			return nil, fmt.Errorf("%s is not set: run this through make (demo, test-e2e or bench)", name)
		}
	}
	if err := r.readPostgres(os.Getenv("PTAH_POSTGRES")); err != nil {
		return nil, err
	}
	return r, r.readImages()
}

// checkout is the folder above the running program's own that holds the module.
func checkout() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the checkout: %w", err)
	}
	root := filepath.Dir(filepath.Dir(self)) // self is bin/NAME
	if !isFile(filepath.Join(root, "go.mod")) {
		return "", fmt.Errorf("finding the checkout: %s is not in its bin folder; run this through make (demo, test-e2e or bench)", self)
	}
	return root, nil
}

// readPostgres takes the JSON that `ptah-cluster postgres up` prints.
func (r *Rig) readPostgres(text string) error {
	var pg struct {
		Host     string `json:"host"`
		Port     int    `json:"port"`
		User     string `json:"user"`
		Password string `json:"password"`
		LogFile  string `json:"logFile"`
	}
	if err := json.Unmarshal([]byte(text), &pg); err != nil {
		return fmt.Errorf("reading PTAH_POSTGRES: %w", err)
	}
	r.PostgresHost, r.PostgresPort, r.PostgresLog = pg.Host, fmt.Sprint(pg.Port), pg.LogFile
	r.PostgresURL = fmt.Sprintf("postgres://%s:%s@%s:%d", pg.User, pg.Password, pg.Host, pg.Port)
	return nil
}

// readImages takes the list that `make images` wrote.
func (r *Rig) readImages() error {
	images, err := r.imageList("images.json")
	if err != nil {
		return fmt.Errorf("reading the image list (make images writes it): %w", err)
	}
	r.Images = images
	return nil
}

// TestImage is the reference of an image that is made for these tests only (make test-images).
func (r *Rig) TestImage(name string) (string, error) {
	images, err := r.imageList("images-test.json")
	if err != nil {
		return "", fmt.Errorf("reading the list of test images (make test-images writes it): %w", err)
	}
	if images[name] == "" {
		return "", fmt.Errorf("reading the list of test images: %s is not in it; run make test-images", name)
	}
	return images[name], nil
}

// imageList gives references by name; Pods know the registry by its name inside the cluster.
func (r *Rig) imageList(file string) (map[string]string, error) {
	data, err := os.ReadFile(filepath.Join(r.Bin, file))
	if err != nil {
		return nil, err
	}
	var list struct {
		Images []struct{ Name, Repository, Digest string }
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("decoding %s: %w", file, err)
	}
	images := map[string]string{}
	for _, image := range list.Images {
		_, repository, _ := strings.Cut(image.Repository, "/")
		images[image.Name] = r.Registry + "/" + repository + "@" + image.Digest
	}
	return images, nil
}

// Result is what a command left behind.
type Result struct {
	Stdout, Stderr string
	Code           int
}

// Run runs a command in the checkout with bin/ first on the PATH. A non-zero exit is no error: it stands in Result.Code.
func (r *Rig) Run(ctx context.Context, stdin, name string, args ...string) (Result, error) {
	cmd := exec.CommandContext(ctx, r.lookup(name), args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = strings.NewReader(stdin), &out, &errs, r.Root
	cmd.Env = append(os.Environ(), "PATH="+r.Bin+":"+os.Getenv("PATH"))
	err := cmd.Run()
	res := Result{Stdout: out.String(), Stderr: errs.String(), Code: cmd.ProcessState.ExitCode()}
	if err != nil && cmd.ProcessState == nil {
		return res, fmt.Errorf("running %s: %w", name, err)
	}
	return res, nil
}

// Must runs a command and turns a non-zero exit into an error that shows its stderr.
func (r *Rig) Must(ctx context.Context, stdin, name string, args ...string) (string, error) {
	res, err := r.Run(ctx, stdin, name, args...)
	if err != nil {
		return "", err
	}
	if res.Code != 0 {
		return res.Stdout, fmt.Errorf("running %s %s: exit %d: %s", name, strings.Join(args, " "), res.Code, strings.TrimSpace(res.Stderr))
	}
	return res.Stdout, nil
}

func (r *Rig) lookup(name string) string {
	if own := filepath.Join(r.Bin, name); isFile(own) {
		return own
	}
	return name
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// DatabaseURL is the superuser's URL of one database.
func (r *Rig) DatabaseURL(database string) string {
	return r.PostgresURL + "/" + database + "?sslmode=disable"
}

// RecreateDatabase drops the database if it exists and makes it anew, empty.
func (r *Rig) RecreateDatabase(ctx context.Context, name string) error {
	quoted := pgx.Identifier{name}.Sanitize()
	for _, sql := range []string{"DROP DATABASE IF EXISTS " + quoted + " WITH (FORCE)", "CREATE DATABASE " + quoted} {
		if err := r.Exec(ctx, "postgres", sql); err != nil {
			return err
		}
	}
	return nil
}

// Exec runs SQL on a database as the superuser.
func (r *Rig) Exec(ctx context.Context, database, sql string) error {
	conn, err := pgx.Connect(ctx, r.DatabaseURL(database))
	if err != nil {
		return fmt.Errorf("connecting to database %s: %w", database, err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("executing on database %s: %w", database, err)
	}
	return nil
}

// Query returns the single text value of a query.
func (r *Rig) Query(ctx context.Context, database, sql string) (string, error) {
	conn, err := pgx.Connect(ctx, r.DatabaseURL(database))
	if err != nil {
		return "", fmt.Errorf("connecting to database %s: %w", database, err)
	}
	defer func() { _ = conn.Close(ctx) }()
	var value string
	if err := conn.QueryRow(ctx, sql).Scan(&value); err != nil {
		return "", fmt.Errorf("querying database %s: %w", database, err)
	}
	return value, nil
}

// EnsureRole makes a login role with the password, able to create databases' contents but no superuser.
func (r *Rig) EnsureRole(ctx context.Context, role, password string) error {
	quoted, secret := pgx.Identifier{role}.Sanitize(), strings.ReplaceAll(password, "'", "''")
	return r.Exec(ctx, "postgres", fmt.Sprintf(`DO $$ BEGIN
		IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '%s') THEN CREATE ROLE %s LOGIN; END IF;
	END $$; ALTER ROLE %s LOGIN NOSUPERUSER PASSWORD '%s'`, role, quoted, quoted, secret))
}

// RoleURL is the URL of a database as another role; the password is already escaped for a URL.
func (r *Rig) RoleURL(role, escapedPassword, database string) string {
	return fmt.Sprintf("postgres://%s:%s@%s:%s/%s?sslmode=disable", role, escapedPassword, r.PostgresHost, r.PostgresPort, database)
}
