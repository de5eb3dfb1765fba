package diff

import (
	"fmt"
	"testing"
)

func TestStepsLoseAndGainAsLittleAsCanBe(t *testing.T) {
	for _, tt := range []struct{ a, b, want string }{
		{"", "", ""},
		{"abc", "abc", " a b c"},
		{"abc", "axc", " a-b+x c"},
		{"", "ab", "+a+b"},
		{"ab", "", "-a-b"},
		{"abcabba", "cbabac", "-a-b c-a b+a b a+c"},
	} {
		got := ""
		a, b := []rune(tt.a), []rune(tt.b)
		for _, s := range Steps(a, b, func(x, y rune) bool { return x == y }) {
			switch {
			case s.New < 0:
				got += fmt.Sprintf("-%c", a[s.Old])
			case s.Old < 0:
				got += fmt.Sprintf("+%c", b[s.New])
			default:
				got += fmt.Sprintf(" %c", a[s.Old])
			}
		}
		if got != tt.want {
			t.Errorf("from %q to %q: got %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
}
