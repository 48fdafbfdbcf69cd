package postgres

import (
	"context"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/ptah-run/ptah/pkg/engine/internal/fault"
	"github.com/ptah-run/ptah/pkg/engine/model"
	"github.com/ptah-run/ptah/pkg/frame"
)

// defaultPublicComment is what initdb writes; it says nothing and not every provider keeps it.
const defaultPublicComment = "standard public schema"

// reader collects one model. Tables are found again by their oid until everything is read.
type reader struct {
	session *session
	db      *model.Database
	tables  map[uint32]*model.Table
	oids    string // of all tables, as an array literal
	// identities are the options of identity columns, whose sequences are no objects of their own.
	identities map[model.ColumnRef]model.SequenceOptions
	heritage
	ties []tie
}

// readCatalog reads the whole database within the current transaction, which must have run deparse.
func (s *session) readCatalog(ctx context.Context) (*model.Database, error) {
	r := &reader{session: s, db: model.New(model.Postgres), tables: map[uint32]*model.Table{}, identities: map[model.ColumnRef]model.SequenceOptions{}, heritage: newHeritage()}
	for _, step := range []struct {
		what string
		read func(context.Context) error
	}{
		{"schemas", r.readSchemas},
		{"types", r.readTypes},
		{"enums", r.readEnums},
		{"sequences", r.readSequences},
		{"tables", r.readTables},
		{"parents of tables", r.readParents},
		{"columns", r.readColumns},
		{"NOT NULL constraints", r.readNotNulls},
		{"constraints", r.readConstraints},
		{"indexes", r.readIndexes},
		{"generated columns", r.readTies},
		{"definitions", r.readDefinitions},
		{"other objects", r.readUnmodelled},
	} {
		if err := step.read(ctx); err != nil {
			return nil, queryFault(ctx, err, "reading "+step.what)
		}
	}
	r.adoptOrphans()
	r.db.Tables = make([]model.Table, 0, len(r.tables))
	for _, t := range r.tables {
		if t.ReplicaIdentity == "index" && t.ReplicaIndex == "" {
			t.ReplicaIdentity = "nothing" // its index is gone
		}
		r.db.Tables = append(r.db.Tables, *t)
	}
	settleDatabase(r.db)
	for _, t := range r.inherited {
		settleTable(t)
	}
	r.db.Normalise()
	// A catalog with text that is not UTF-8 must not become a model.
	if err := r.db.Validate(); err != nil {
		return nil, fault.Wrap(err, frame.CodeInternal, "reading the catalog: the result is not a valid model")
	}
	s.heritage, s.ties = r.heritage, r.ties
	return r.db, nil
}

// each runs a query and hands its rows to scan one by one.
func (r *reader) each(ctx context.Context, scan func(pgx.Rows) error, sql string, args ...any) error {
	rows, err := r.session.conn.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (r *reader) readSchemas(ctx context.Context) error {
	return r.each(ctx, func(rows pgx.Rows) error {
		var s model.Schema
		err := rows.Scan(&s.Name, &s.Comment)
		if s.Name == "public" && s.Comment == defaultPublicComment {
			s.Comment = ""
		}
		r.db.Schemas = append(r.db.Schemas, s)
		return err
	}, schemasQuery)
}

func (r *reader) readEnums(ctx context.Context) error {
	return r.each(ctx, func(rows pgx.Rows) error {
		var e model.Enum
		err := rows.Scan(&e.Schema, &e.Name.Name, &e.Values, &e.Comment)
		r.db.Enums = append(r.db.Enums, e)
		return err
	}, enumsQuery)
}

func (r *reader) readSequences(ctx context.Context) error {
	return r.each(ctx, func(rows pgx.Rows) error {
		var (
			s     model.Sequence
			kind  string
			owner model.ColumnRef
		)
		if err := rows.Scan(&s.Schema, &s.Name.Name, &s.Type, &s.Start, &s.Increment, &s.Min, &s.Max, &s.Cache, &s.Cycle,
			&kind, &owner.Table.Schema, &owner.Table.Name, &owner.Column, &s.Comment, &s.Unlogged); err != nil {
			return err
		}
		switch kind {
		case "i":
			r.identities[owner] = s.SequenceOptions
			return nil
		case "a":
			s.Owner = &owner
		}
		r.db.Sequences = append(r.db.Sequences, s)
		return nil
	}, sequencesQuery)
}

func (r *reader) readTables(ctx context.Context) error {
	var oids strings.Builder
	err := r.each(ctx, func(rows pgx.Rows) error {
		var (
			oid             uint32
			t               model.Table
			identity, bound string
			isPartition     bool
		)
		err := rows.Scan(&oid, &t.Schema, &t.Name.Name, &t.Comment, &t.Options, &t.Unlogged, &t.AccessMethod, &t.ToastOptions, &identity, &t.PartitionBy, &bound, &isPartition)
		t.ReplicaIdentity = map[string]string{"f": "full", "n": "nothing", "i": "index"}[identity]
		if isPartition {
			t.Partition = &model.Partition{Bound: bound}
		}
		r.tables[oid] = &t
		if oids.Len() > 0 {
			oids.WriteByte(',')
		}
		oids.WriteString(strconv.FormatUint(uint64(oid), 10))
		return err
	}, tablesQuery)
	r.oids = "{" + oids.String() + "}"
	return err
}

func (r *reader) readColumns(ctx context.Context) error {
	return r.each(ctx, func(rows pgx.Rows) error {
		var (
			oid                                            uint32
			c                                              model.Column
			identity, generated, expr, storage, compressed string
		)
		if err := rows.Scan(&oid, &c.Name, &c.Type, &c.NotNull, &identity, &generated, &expr, &c.Collation, &storage, &compressed, &c.Comment, &c.Inherited, &c.Statistics, &c.Options); err != nil {
			return err
		}
		t := r.tables[oid]
		switch {
		case generated != "":
			c.Generated = &model.Generated{Expression: expr, Virtual: generated == "v"}
		case identity != "":
			// A partition may count with its parent's sequence: that is the parent's identity.
			if options, own := r.identities[model.ColumnRef{Table: t.Name, Column: c.Name}]; own {
				c.Identity = &model.Identity{Always: identity == "a", SequenceOptions: options}
			}
		default:
			c.Default = expr
		}
		c.Storage, c.Compression = storageModes[storage], compressionMethods[compressed]
		t.Columns = append(t.Columns, c)
		return nil
	}, columnsQuery, r.oids)
}

// What the letters of pg_attribute mean.
var (
	storageModes       = map[string]string{"p": "plain", "e": "external", "x": "extended", "m": "main"}
	compressionMethods = map[string]string{"p": "pglz", "l": "lz4"}
)

func (r *reader) readConstraints(ctx context.Context) error {
	return r.each(ctx, func(rows pgx.Rows) error {
		var (
			oid                    uint32
			c                      model.Constraint
			ref                    model.Reference
			kind                   string
			match, update, deleted string
			valid, inherited, own  bool
			marks                  string
		)
		if err := rows.Scan(&oid, &c.Name, &kind, &c.Columns, &c.Deferrable, &c.Deferred, &valid, &c.NoInherit, &c.Expression, &c.Comment,
			&ref.Table.Schema, &ref.Table.Name, &ref.Columns, &match, &update, &deleted, &ref.DeleteColumns,
			&c.Include, &c.NullsNotDistinct, &c.Options, &c.NotEnforced, &c.Period, &c.Definition, &inherited, &own, &marks); err != nil {
			return err
		}
		c.Kind = map[string]model.ConstraintKind{"p": model.PrimaryKey, "u": model.Unique, "f": model.ForeignKey, "c": model.Check, "x": model.Exclusion}[kind]
		c.NotValid = !valid && !c.NotEnforced
		if c.Kind == model.ForeignKey {
			ref.MatchFull, ref.OnUpdate, ref.OnDelete = match == "f", action(update), action(deleted)
			c.Reference = &ref
		}
		if c.Kind != model.Check {
			c.NoInherit = false // always set for keys, where it says nothing
		}
		if c.Kind == model.Exclusion { // its text says everything
			c.Deferrable, c.Deferred, c.Options, c.Include, c.NullsNotDistinct = false, false, nil, nil, false
		}
		t := r.tables[oid]
		mark(t, c.Name, marks)
		if inherited && c.Kind == model.Check {
			r.checks[partKey{table: t.Name, name: c.Name}] = true
		}
		if inherited && (c.Kind != model.Check || !own) {
			t = r.fromParents(t.Name)
		}
		t.Constraints = append(t.Constraints, c)
		return nil
	}, constraintsQuery(r.session.major), r.oids)
}

func action(letter string) string {
	return map[string]string{"r": "RESTRICT", "c": "CASCADE", "n": "SET NULL", "d": "SET DEFAULT"}[letter]
}

func (r *reader) readIndexes(ctx context.Context) error {
	return r.each(ctx, func(rows pgx.Rows) error {
		var (
			oid        uint32
			x          model.Index
			keyCount   int
			attributes []int16
			definition string
			columns    []string
			inherited  bool
			marks      string
			keyNumbers []int
			targets    []int
		)
		if err := rows.Scan(&oid, &x.Name, &x.Method, &x.Unique, &x.NullsNotDistinct, &keyCount, &attributes, &definition, &columns,
			&x.Predicate, &x.Options, &x.Comment, &inherited, &marks, &keyNumbers, &targets); err != nil {
			return err
		}
		t := r.tables[oid]
		keys, err := parseIndexKeys(definition, columns[:keyCount])
		if err != nil {
			return fault.Wrap(err, frame.CodeInternal, "reading index %q of table %q.%q: the server's definition cannot be understood", x.Name, t.Schema, t.Name.Name)
		}
		for i := range keys {
			if attributes[i] != 0 { // a column: its name as the server quotes it, not an expression
				keys[i].Column, keys[i].Expression = unquote(columns[i]), ""
			}
		}
		x.Keys = keys
		for _, c := range columns[keyCount:] {
			x.Include = append(x.Include, unquote(c))
		}
		for i := range keyNumbers {
			x.Statistics = append(x.Statistics, model.KeyStatistics{Key: keyNumbers[i], Target: targets[i]})
		}
		mark(t, x.Name, marks)
		if inherited {
			t = r.fromParents(t.Name)
		}
		t.Indexes = append(t.Indexes, x)
		return nil
	}, indexesQuery(r.session.major), r.oids)
}

func (r *reader) readUnmodelled(ctx context.Context) error {
	return r.each(ctx, func(rows pgx.Rows) error {
		var o model.Object
		err := rows.Scan(&o.Kind, &o.Schema, &o.Table, &o.Name)
		r.db.Unmodelled = append(r.db.Unmodelled, o)
		return err
	}, unmodelledQuery(r.session.major))
}
