package humanize

import "fmt"

// Dollars is an amount of money: "$0.52", "<$0.01", "$1.77+" if there is more that is not
// counted.
func Dollars(usd float64, more bool) string {
	s := fmt.Sprintf("$%.2f", usd)
	if s == "$0.00" && usd > 0 {
		s = "<$0.01"
	}
	if more {
		s += "+"
	}
	return s
}
