package tui

import (
	"fmt"
	"strconv"

	"github.com/mcpdeck/mcpdeck/servers/deck"
)

// Cost is the size of definitions in bytes, and about how many tokens those are.
func Cost(bytes int) string { return Bytes(bytes) + " ≈ " + Tokens(bytes) + " tokens" }

// Tokens is about how many tokens so many bytes are, to two digits.
func Tokens(bytes int) string {
	n := deck.Tokens(bytes)
	switch {
	case n < 100:
		return strconv.Itoa(n)
	case n < 995:
		return strconv.Itoa((n + 5) / 10 * 10)
	case n < 9950:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.0fk", float64(n)/1000)
}
