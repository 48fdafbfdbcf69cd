package target_test

import (
	"strings"
	"testing"

	"github.com/ptah-run/ptah/pkg/target"
)

// BenchmarkLeaks is what checking the largest plan for a credential costs.
func BenchmarkLeaks(b *testing.B) {
	text := strings.Repeat("ALTER TABLE app.orders ADD COLUMN \\\"note\\\" text DEFAULT 'a%b';\n", 8<<20/64)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if target.Leaks(text, "postgres://app:long-enough-password@db.example:5432/shop?sslmode=require") {
			b.Fatal("nothing leaks here")
		}
	}
}
