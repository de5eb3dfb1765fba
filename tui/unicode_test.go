package tui_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

// breakTests are the texts of Unicode's GraphemeBreakTest.txt, as the module that
// the editor counts clusters with carries them.
func breakTests(t *testing.T) []string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/rivo/uniseg").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "graphemebreak_test.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		kv, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		key, _ := kv.Key.(*ast.Ident)
		lit, _ := kv.Value.(*ast.BasicLit)
		if key != nil && lit != nil && key.Name == "original" {
			s, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, s)
		}
		return true
	})
	if len(out) < 600 {
		t.Fatalf("only %d texts in Unicode's test", len(out))
	}
	return out
}

// sequences are what the terminal does not print.
var sequences = regexp.MustCompile(`\x1b\[[0-9;:?]*[a-zA-Z]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)`)

// What agents write comes out of the terminal as it is, accents, keycaps and
// families included, and what no terminal shows as something that can be seen.
// The bytes are looked at, since the emulator loses marks itself.
func TestEveryGraphemeClusterIsShown(t *testing.T) {
	texts := append(breakTests(t), "cafe\u0301 Tie\u0302\u0301ng Vie\u0323\u0302t", "1\ufe0f\u20e3 #\ufe0f\u20e3", "👨‍👩‍👧‍👦 👩🏽‍💻 🏳️‍🌈 🇩🇪", "ส้ม क्षि שָׁ", "a\u0301\u0302\u0303\u0304")
	for _, codePoints := range []bool{false, true} {
		t.Run(fmt.Sprintf("code points %v", codePoints), func(t *testing.T) {
			const each = 100
			for from := 0; from < len(texts); from += each {
				some := texts[from:min(from+each, len(texts))]
				p := &page{id: "one", title: "One", render: func(f *tui.Frame) []string {
					var rows []string
					for i, s := range some {
						rows = append(rows, fmt.Sprintf(" #%d%s\x1b[m]", i, f.Theme.Text.Render("["+sanitize.Line(s))))
					}
					return rows
				}}
				run(t, frame.Size{W: 100, H: each + 4, CodePoints: codePoints}, tui.Options{Pages: []tui.Page{p}}, func(s *frame.Screen) {
					raw := sequences.ReplaceAllString(s.Raw(), "")
					if codePoints { // where spaces make up for the other measure
						raw = strings.ReplaceAll(raw, " ", "")
					}
					for i, text := range some {
						want := fmt.Sprintf("#%d[%s", i, shown(text))
						if codePoints {
							want = strings.ReplaceAll(want, " ", "")
						}
						if !strings.Contains(raw, want) {
							_, got, _ := strings.Cut(raw, fmt.Sprintf("#%d[", i))
							t.Errorf("%+q: the terminal got %+q, want %+q", text, got[:min(len(got), 60)], want)
						}
					}
				})
			}
		})
	}
}

// shown is how a text may come out: as it is, but for line breaks, controls, and
// the names of what cannot be seen.
func shown(s string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(s, "\r\n", "\n") {
		switch {
		case r == '\n' || r == '\r':
			b.WriteByte(' ')
		case unicode.IsControl(r):
		case r == 0x034f || r == 0x1160 || r == 0xad || unicode.Is(unicode.Cf, r) && r != 0x200c && r != 0x200d && !unicode.Is(unicode.Prepended_Concatenation_Mark, r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return strings.TrimRight(b.String(), " ")
}
