package json5

import (
	"strings"
	"testing"
	"time"
)

func TestBalancedFindsTheClosingBracket(t *testing.T) {
	for _, r := range []struct {
		name, src string
		want      int
	}{
		{"plain", "{a:1} x", 5},
		{"nested", "{a:[1,{b:2}]}", 13},
		{"stray closer inside", "{a:]}", 5},
		{"inner never closed", "{a:[1,2}", 8},
		{"string", `{a:"}"}`, 7},
		{"single quotes", `{a:'}'}`, 7},
		{"comment", "{/* } */}", 9},
		{"line comment", "{// }\n}", 7},
		{"open", "{a:1", -1},
	} {
		t.Run(r.name, func(t *testing.T) {
			if got := balanced(r.src, 0); got != r.want {
				t.Errorf("got %d, want %d", got, r.want)
			}
		})
	}
}

// TestHostileText reads texts made to take quadratic time; each must come back at once.
func TestHostileText(t *testing.T) {
	for name, src := range map[string]string{
		"openers":            strings.Repeat("{\n", 300_000),
		"mismatched":         strings.Repeat("[", 400_000) + strings.Repeat("}", 400_000),
		"alternating":        strings.Repeat("{[", 250_000) + strings.Repeat("]}", 250_000),
		"commas":             strings.Repeat(",", 1<<20),
		"slashes":            strings.Repeat("/", 1<<20), // one comment
		"comment never ends": strings.Repeat("/*", 1<<19),
		"quotes":             strings.Repeat(`{"`, 1<<19),
		"words":              strings.Repeat("x ", 1<<19),
		"deep":               strings.Repeat("[", 1<<20),
		"bad utf-8":          "{}\n" + strings.Repeat("\xff\n", 1<<19),
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, errs := Parse(src)
			if len(errs) == 0 && name != "commas" && name != "slashes" {
				t.Error("no error")
			}
			if len(errs) > maxErrors+1 {
				t.Errorf("%d errors", len(errs))
			}
			_, _ = ParseLines(src)
			t.Log(time.Since(start))
		})
	}
}
