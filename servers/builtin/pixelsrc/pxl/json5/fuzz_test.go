package json5

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{a: 1, 'b': "x\u0041\n", c: [1., .5, -0x, +2, Infinity, NaN], /* c */ d: null} // end`,
		"{\n{a:[}\n{type:'x'}", "\uFEFF{}", "{a:1},{b:2}", `"\ud83d\ude00"`, "{\\u0061b: 'x\\\ny'}", "[[[[", "0x1F", "{a:1e5}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		nodes, errs := Parse(src)
		for _, n := range nodes {
			check(t, src, &n, 0)
		}
		lines := NewLines(src)
		for _, e := range errs {
			if e.Pos < 0 || int(e.Pos) > len(src) || e.Message == "" {
				t.Fatalf("impossible error %+v", e)
			}
			if l, c := lines.At(e.Pos); l < 1 || c < 1 {
				t.Fatalf("impossible place %d:%d", l, c)
			}
		}
		_, _ = ParseLines(src)
		// What is strict JSON must be JSON5.
		if json.Valid([]byte(src)) && utf8.ValidString(src) {
			if _, err := (&parser{src: src}).whole(0, len(src)); err != nil && !limited(err) {
				t.Fatalf("%q: %v", src, err)
			}
		}
	})
}

// limited reports whether an error is one of ours that JSON does not have: nesting, integers beyond
// 64 bits, halves of surrogate pairs, raw separators in strings.
func limited(err *Error) bool {
	for _, s := range []string{"nest deeper", "too large", "surrogate", "not closed on its line"} {
		if strings.Contains(err.Message, s) {
			return true
		}
	}
	return false
}

func check(t *testing.T, src string, n *Node, depth int) {
	t.Helper()
	if n.Pos < 0 || n.End <= n.Pos || int(n.End) > len(src) || depth > MaxDepth {
		t.Fatalf("impossible extent %d…%d at depth %d", n.Pos, n.End, depth)
	}
	if n.Kind == Object && len(n.Keys) != len(n.Items) {
		t.Fatal("keys and values differ in number")
	}
	for i := range n.Items {
		check(t, src, &n.Items[i], depth+1)
	}
}
