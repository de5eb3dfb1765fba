package humanize

import "testing"

func TestAnAmountOfMoney(t *testing.T) {
	for _, tt := range []struct {
		usd  float64
		more bool
		want string
	}{
		{0, false, "$0.00"}, {0.0049, false, "<$0.01"}, {0.0051, false, "$0.01"}, {0.52, false, "$0.52"}, {1.765, true, "$1.76+"}, {1204.5, false, "$1204.50"},
	} {
		if got := Dollars(tt.usd, tt.more); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.usd, got, tt.want)
		}
	}
}
