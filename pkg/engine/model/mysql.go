package model

import (
	"fmt"
	"slices"
	"strconv"
)

// Servers of the MySQL dialect, which print the same schema in different words. A declared schema converges only on the server that wrote it.
const (
	ServerMySQL   = "mysql"
	ServerMariaDB = "mariadb"
)

// TableMySQL is what only MySQL and MariaDB know of a table. Objects of that dialect have no schema: a model holds one database, under
// whatever name it has on a server.
type TableMySQL struct {
	Engine    string `json:"engine,omitempty"`
	Collation string `json:"collation,omitempty"` // for new columns; what columns have is in the columns
	Versioned bool   `json:"versioned,omitempty"` // WITH SYSTEM VERSIONING
	// Periods are the server's clauses, PERIOD FOR …, sorted. Partitioning is its PARTITION BY … clause.
	Periods      []string `json:"periods,omitempty"`
	Partitioning string   `json:"partitioning,omitempty"`
}

// ColumnMySQL is what only MySQL and MariaDB know of a column. In Column, Default is the server's text: a literal in quotes or a number, an expression,
// or NULL; empty where the column has no default. Collation is the effective one of every column of text.
type ColumnMySQL struct {
	AutoIncrement bool     `json:"auto_increment,omitempty"`
	OnUpdate      string   `json:"on_update,omitempty"`
	Invisible     bool     `json:"invisible,omitempty"`
	Unversioned   bool     `json:"unversioned,omitempty"` // WITHOUT SYSTEM VERSIONING
	RowPeriod     string   `json:"row_period,omitempty"`  // ROW START or ROW END
	Check         string   `json:"check,omitempty"`       // the check that is written at the column, without its parentheses
	Attributes    []string `json:"attributes,omitempty"`  // SRID 4326, COLUMN_FORMAT FIXED, …, sorted
}

// IndexMySQL is what only MySQL and MariaDB know of an index. There primary keys and uniques are indexes; the primary key is called PRIMARY.
type IndexMySQL struct {
	Hidden       bool   `json:"hidden,omitempty"` // IGNORED on MariaDB, INVISIBLE on MySQL
	Parser       string `json:"parser,omitempty"`
	KeyBlockSize int    `json:"key_block_size,omitempty"`
}

// PrimaryIndex is the name of every primary key of the MySQL dialect.
const PrimaryIndex = "PRIMARY"

// MySQLPart is the part of a table that only MySQL and MariaDB know, never nil.
func (t *Table) MySQLPart() *TableMySQL { return orZero(t.MySQL) }

// MySQLPart is the part of a column that only MySQL and MariaDB know, never nil.
func (c *Column) MySQLPart() *ColumnMySQL { return orZero(c.MySQL) }

// MySQLPart is the part of an index that only MySQL and MariaDB know, never nil.
func (x *Index) MySQLPart() *IndexMySQL { return orZero(x.MySQL) }

func orZero[T any](part *T) *T {
	if part == nil {
		return new(T)
	}
	return part
}

func (c *collector) tableMySQL(t *TableMySQL) {
	if t == nil {
		return
	}
	c.add("engine", t.Engine)
	c.add("default collation", t.Collation)
	c.flag("versioned", t.Versioned)
	c.add("periods", list(t.Periods...))
	c.add("partitioning", t.Partitioning)
}

func (c *collector) columnMySQL(col *ColumnMySQL) {
	if col == nil {
		return
	}
	c.flag("auto increment", col.AutoIncrement)
	c.add("on update", col.OnUpdate)
	c.flag("invisible", col.Invisible)
	c.flag("unversioned", col.Unversioned)
	c.add("row period", col.RowPeriod)
	c.add("check", col.Check)
	c.add("attributes", list(col.Attributes...))
}

func (c *collector) indexMySQL(x *Index) {
	for i, k := range x.Keys {
		if k.Prefix > 0 {
			c.add("prefix "+strconv.Itoa(i), strconv.Itoa(k.Prefix))
		}
	}
	if x.MySQL == nil {
		return
	}
	c.flag("hidden", x.MySQL.Hidden)
	c.add("parser", x.MySQL.Parser)
	if x.MySQL.KeyBlockSize > 0 {
		c.add("key block size", strconv.Itoa(x.MySQL.KeyBlockSize))
	}
}

// validateServer holds the parts of one dialect out of the models of the other.
func (d *Database) validateServer() error {
	if known := d.Server == ServerMySQL || d.Server == ServerMariaDB; d.Dialect == MySQL && !known || d.Dialect != MySQL && d.Server != "" {
		return fmt.Errorf("server %q does not belong to the dialect %q", d.Server, d.Dialect)
	}
	for i := range d.Tables {
		if err := d.Tables[i].validateMySQL(d.Dialect == MySQL); err != nil {
			return fmt.Errorf("table %q.%q: %w", d.Tables[i].Schema, d.Tables[i].Name.Name, err)
		}
	}
	return nil
}

func (t *Table) validateMySQL(ours bool) error {
	if t.MySQL != nil && !slices.IsSorted(t.MySQL.Periods) {
		return fmt.Errorf("has periods that are out of order")
	}
	if (t.MySQL != nil) != ours {
		return fmt.Errorf("has the parts of another dialect")
	}
	for i := range t.Columns {
		if c := &t.Columns[i]; c.MySQL != nil && !ours || c.Identity != nil && ours {
			return fmt.Errorf("column %q has the parts of another dialect", c.Name)
		}
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		for _, k := range x.Keys {
			if k.Prefix < 0 || k.Prefix > 0 && (!ours || k.Column == "") {
				return fmt.Errorf("index %q has a prefix length that nothing can have", x.Name)
			}
		}
		if x.MySQL != nil && !ours {
			return fmt.Errorf("index %q has the parts of another dialect", x.Name)
		}
	}
	return nil
}
