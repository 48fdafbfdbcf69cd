package database

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// Save writes the options, which may hold a password, for Serve.
func (o Options) Save(path string) error {
	data, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("encoding the database's options: %w", err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("writing the database's options: %w", err)
	}
	return nil
}

// Serve runs a server whose options are in a file until ctx is done. The data stays.
func Serve(ctx context.Context, path string, log *os.File) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the database's options: %w", err)
	}
	var options Options
	if err := json.Unmarshal(data, &options); err != nil {
		return fmt.Errorf("decoding the database's options: %w", err)
	}
	options.Log = log
	server, err := Start(ctx, options)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		server.Stop()
		return nil
	case <-server.Done():
		return errors.New("the database server ended by itself")
	}
}
