package humanize

import "fmt"

// Count is a number of things: "1 call", "2 calls".
func Count[N int | uint64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
