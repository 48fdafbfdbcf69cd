package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"ariga.io/atlas/sql/postgres"
	"ariga.io/atlas/sql/schema"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver of the library's connection

	"github.com/ptah-run/ptah/pkg/engine"
	"github.com/ptah-run/ptah/pkg/engine/model"
)

// work is one measurement in a process of its own.
func work(ctx context.Context, args []string) error {
	live, desired := os.Getenv(liveEnv), os.Getenv(desiredEnv)
	switch args[0] {
	case "nothing":
		return nil
	case "ours-inspect":
		_, err := engine.Inspect(ctx, live)
		return err
	case "ours-load":
		_, err := load(args[1])
		return err
	case "ours-plan":
		return ourPlan(ctx, live, args[1])
	case "theirs-inspect":
		_, err := inspect(ctx, live)
		return err
	case "theirs-plan":
		return theirPlan(ctx, live, desired)
	}
	return fmt.Errorf("there is no measurement %q", args[0])
}

func load(path string) (*model.Database, error) {
	data, err := os.ReadFile(path) //nolint:gosec // written by this program
	if err != nil {
		return nil, err
	}
	return model.Decode(data)
}

func ourPlan(ctx context.Context, address, path string) error {
	desired, err := load(path)
	if err != nil {
		return err
	}
	result, err := engine.Plan(ctx, engine.Options{URL: address}, desired)
	if err != nil {
		return err
	}
	if result.NoChange {
		return errors.New("the plan is empty")
	}
	return nil
}

func inspect(ctx context.Context, address string) (*schema.Realm, error) {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	driver, err := postgres.Open(db)
	if err != nil {
		return nil, err
	}
	return driver.InspectRealm(ctx, &schema.InspectRealmOption{Schemas: []string{"public"}})
}

// theirPlan reads both databases: the library's declared form takes longer to read than a database does.
func theirPlan(ctx context.Context, live, desired string) error {
	from, err := inspect(ctx, live)
	if err != nil {
		return err
	}
	to, err := inspect(ctx, desired)
	if err != nil {
		return err
	}
	changes, err := postgres.DefaultDiff.RealmDiff(from, to)
	if err != nil {
		return err
	}
	plan, err := postgres.DefaultPlan.PlanChanges(ctx, "bench", changes)
	if err != nil {
		return err
	}
	if len(plan.Changes) == 0 {
		return errors.New("the library's plan is empty")
	}
	return nil
}
