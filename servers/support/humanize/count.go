package humanize

import (
	"fmt"
	"strings"
)

// Count is a number of things: "1 call", "2 calls", "3 entries".
func Count[N int | int64 | uint64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if stem, ok := strings.CutSuffix(thing, "ry"); ok {
		thing = stem + "rie"
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Bytes is a size: "812 B", "3.1 kB", "1.2 MB".
func Bytes[N int | int64](n N) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000*1000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
