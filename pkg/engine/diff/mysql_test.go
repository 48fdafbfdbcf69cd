package diff_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ptah-run/ptah/pkg/engine/diff"
)

func TestTypeChangesOfMySQL(t *testing.T) {
	for _, c := range []struct {
		from, to string
		widens   bool
	}{
		{"int(11)", "bigint(20)", true},
		{"bigint(20)", "int(11)", false},
		{"int(11)", "int(11) unsigned", false},
		{"int(11) unsigned", "bigint(20)", true},
		{"int(11) unsigned", "int(11)", false},
		{"varchar(10)", "varchar(20)", true},
		{"varchar(20)", "varchar(10)", false},
		{"varchar(20)", "char(20)", false},
		{"varchar(20)", "text", true},
		{"varchar(20000)", "text", false},
		{"text", "mediumtext", true},
		{"longtext", "text", false},
		{"text", "blob", false},
		{"decimal(8,2)", "decimal(10,2)", true},
		{"decimal(10,2)", "decimal(10,3)", false},
		{"timestamp(6)", "timestamp", false},
		{"timestamp", "timestamp(6)", true},
		{"datetime", "date", false},
		{"date", "datetime", true},
		{"float", "double", true},
		{"double", "float", false},
		{"enum('a','b')", "enum('b','c','a')", true},
		{"enum('a','b')", "enum('a')", false},
		{"enum('a','it''s')", "enum('a','it''s','x')", true},
		{"enum('a')", "set('a')", false},
		{"bit(3)", "bit(2)", false},
		{"int(11)", "varchar(20)", false},
		{"varbinary(5)", "varbinary(6)", true},
		{"binary(5)", "binary(6)", false}, // the server pads
	} {
		t.Run(c.from+" to "+c.to, func(t *testing.T) { assert.Equal(t, c.widens, diff.WidensMySQL(c.from, c.to)) })
	}
}
