package widget_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

func TestMarksWithinALineAreDrawn(t *testing.T) {
	th := theme.New(theme.Options{Dark: true})
	text, code, bold, italic := th.Muted.Render, th.Info.Render, th.Strong.Render, th.Emphasis.Render
	for in, want := range map[string]string{
		"plain":                        text("plain"),
		"**Use** `zod`?":               bold("Use") + text(" ") + code("zod") + text("?"),
		"**Use `*.go`**":               bold("Use ") + code("*.go"),
		"(*really*), *Yes*. _no_!":     text("(") + italic("really") + text("), ") + italic("Yes") + text(". ") + italic("no") + text("!"),
		"**Note:** ~~old~~ new":        bold("Note:") + text(" ") + th.Faint.Render("old") + text(" new"),
		"__two words__, ***both***":    bold("two words") + text(", ") + bold("both"),
		"`` `x` `` and ```a``b```":     code("`x`") + text(" and ") + code("a``b"),
		"これは**太字**です":                  text("これは") + bold("太字") + text("です"),
		"see [`a.go`](src/a.go#L1)":    text("see ") + widget.Link(th, "a.go", "src/a.go#L1") + " " + th.Faint.Render("(src/a.go#L1)"),
		"![logo](https://a.example/x)": widget.Link(th, "logo", "https://a.example/x") + " " + th.Faint.Render("(https://a.example/x)"),
		"*a* http://b.example/c_ _d_":  italic("a") + text(" ") + widget.Linked(th, th.Muted, "http://b.example/c_") + text(" ") + italic("d"),
		"**http://b.example** _c_":     widget.Linked(th, th.Strong, "http://b.example") + text(" ") + italic("c"),
		"`a`\n```\n*b*\n```\n`c`":      code("a") + "\n" + text("```") + "\n" + text("*b*") + "\n" + text("```") + "\n" + code("c"),
	} {
		if got := widget.Spans(th, th.Muted, in); got != want {
			t.Errorf("%q:\ngot  %q\nwant %q", in, got, want)
		}
		if got, want := widget.Unmarked(in), ansi.Strip(want); got != want {
			t.Errorf("%q without its marks: %q, want %q", in, got, want)
		}
	}
}

func TestNamesAndPatternsStayExact(t *testing.T) {
	for _, s := range []string{
		"snake_case and __init__ and __proto__.x", "_private and _other", "a*b*c", "2*3*4 = 24", "a * b * c", "2**3 and 4**5",
		"*.go,*.md", "*.go and *.md", "src/**/*.go", "**/*.go and **/*.md", "{**/a,**/b}", "*/foo/*", "*test.go*", "rm *.o",
		"char *a, *b, *c", "f(*p)*(q)", "f(**kwargs, x**2)", "char **argv, **envp", "~/a~~b", "~~~x~~~", "****", "**", "***x**",
		`\*x\*`, "don`t and can`t", "`open", "``", "handlers[i](event.x)", "[a-z](foo)", "[0-9](.*)", "[x](see below)", "[a]", "[](x/y)", "x_1_y", "$_foo_$",
		"https://a.example/_x_/*y*/**z**", "https://a.example/(*x*)?y='_z_'&[b](/c)",
	} {
		if got := widget.Unmarked(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

// TestHostileLines reads lines made to take quadratic time, which would take minutes; each
// must come back at once.
func TestHostileLines(t *testing.T) {
	for _, part := range []string{"`", "*", "_", "~", "!", "[", "[a](", " *", " _", " ~~", "('*`", " *a_b ~~", "\"`a "} {
		t.Run(part, func(t *testing.T) {
			line := strings.Repeat(part, 1<<20/len(part))
			if got := widget.Unmarked(line); len(got) > len(line) {
				t.Errorf("%d bytes became %d", len(line), len(got))
			}
		})
	}
}

func FuzzSpans(f *testing.F) {
	f.Add("**a `b` [c](https://d.example)** _e_ ~~f~~\n```\n*g*", 9)
	th := theme.New(theme.Options{Dark: true})
	f.Fuzz(func(t *testing.T, s string, w int) {
		s, w = sanitize.BareText(s), 2+min(max(w, 0), 200)
		if got, want := widget.Unmarked(s), ansi.Strip(widget.Spans(th, th.Text, s)); got != want {
			t.Fatalf("%q is not what is drawn, %q", got, want)
		}
		for _, row := range widget.Spanned(th, th.Text, s, w) {
			if widget.Width(row) > w || strings.Contains(row, "\n") {
				t.Fatalf("%d cells, at most %d: %q", widget.Width(row), w, row)
			}
			if strings.Count(row, "\x1b]8;;http") > strings.Count(row, "\x1b]8;;\a") {
				t.Fatalf("a link does not end with its row: %q", row)
			}
		}
	})
}
