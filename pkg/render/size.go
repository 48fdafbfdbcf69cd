package render

import "fmt"

// Bytes spells a size in the largest binary unit of which there is at least one: 312 B, 12 KiB, 1.2 MiB.
func Bytes(n int64) string {
	const kib, mib, gib = 1 << 10, 1 << 20, 1 << 30
	switch {
	case n < kib:
		return fmt.Sprintf("%d B", n)
	case n < mib:
		return scaled(n, kib, "KiB")
	case n < gib:
		return scaled(n, mib, "MiB")
	default:
		return scaled(n, gib, "GiB")
	}
}

func scaled(n, unit int64, name string) string {
	if value := float64(n) / float64(unit); value < 10 && n%unit != 0 {
		return fmt.Sprintf("%.1f %s", value, name)
	}
	return fmt.Sprintf("%d %s", n/unit, name)
}
