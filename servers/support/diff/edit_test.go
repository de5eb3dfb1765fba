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
		{"aab", "ab", " a-a b"},
		{"xabcy", "xcy", " x-a-b c y"},
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

func TestStepsReplaceAllOfWhatIsTooMuchToCompare(t *testing.T) {
	a, b := []int{-1}, []int{-1}
	for i := range 3000 {
		a, b = append(a, i), append(b, i+1)
	}
	steps := Steps(append(a, -2), append(b, -2), func(x, y int) bool { return x == y })
	if n := len(steps); n != 6002 || steps[0] != (Step{0, 0}) || steps[1] != (Step{1, -1}) || steps[3001] != (Step{-1, 1}) || steps[n-1] != (Step{3001, 3001}) {
		t.Errorf("%d steps, %v first and %v last", n, steps[:2], steps[n-1])
	}
}
