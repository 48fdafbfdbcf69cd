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
