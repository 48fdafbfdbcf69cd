package options

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSchemaName(t *testing.T) {
	for arg, want := range map[string]string{"orders": "orders", "schema/orders": "orders", "ptahschemas.operator.ptah.run/orders": "orders", "PtahSchema/orders": "orders"} {
		got, err := SchemaName(arg)
		assert.NoError(t, err, arg)
		assert.Equal(t, want, got, arg)
	}
	for _, arg := range []string{"migration/ledger", "schema/", "schema/a/b", "/orders"} {
		_, err := SchemaName(arg)
		assert.Error(t, err, arg)
	}
}

func TestResource(t *testing.T) {
	for arg, want := range map[string][2]string{
		"orders": {"", "orders"}, "schema/orders": {"schema", "orders"}, "ptahschemas.operator.ptah.run/orders": {"schema", "orders"},
		"migration/ledger": {"migration", "ledger"}, "PtahMigration/ledger": {"migration", "ledger"}, "ptahm/ledger": {"migration", "ledger"},
	} {
		kind, name, err := Resource(arg)
		assert.NoError(t, err, arg)
		assert.Equal(t, want, [2]string{kind, name}, arg)
	}
	for _, arg := range []string{"", "/x", "schema/", "pod/x", "schema/a/b"} {
		_, _, err := Resource(arg)
		assert.Equal(t, Usage, CodeOf(err), arg)
	}
}
