package theme

import (
	"image/color"
	"testing"
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// FuzzRender holds that a row looks the same whether our Render or that of
// lipgloss draws it.
func FuzzRender(f *testing.F) {
	for _, text := range []string{
		"", "plain", "two words ", "日本語", "e\u0301", "👩‍💻 at work", "🇩🇪", "✓ done", "a\u200bb", "[1m", "x \u00a0 y",
	} {
		for n := range uint16(1 << 6) {
			f.Add(text, n)
		}
	}
	f.Fuzz(func(t *testing.T, text string, how uint16) {
		if !utf8.ValidString(text) || len(text) > 200 {
			t.Skip("not a piece of a row")
		}
		single := true
		for rest := text; rest != ""; {
			cluster, w := ansi.FirstGraphemeCluster(rest, ansi.GraphemeWidth)
			r, n := utf8.DecodeRuneInString(cluster)
			if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
				t.Skip("not a piece of a row")
			}
			single = single && w > 0 && n == len(cluster) && !unicode.IsSpace(r)
			rest = rest[len(cluster):]
		}
		s := styleOf(how)
		if (s.GetUnderline() || s.GetStrikethrough()) && !single {
			t.Skip("lipgloss underlines rune by rune, which takes clusters apart, and spaces without the other attributes")
		}
		got, want := cells(NewStyle(s).Render(text)), cells(s.Render(text))
		for x := range want {
			if !got[x].Equal(&want[x]) {
				t.Fatalf("%q in style %06b: cell %d is %+v, lipgloss draws %+v", text, how, x, got[x], want[x])
			}
		}
	})
}

// styleOf makes a style with an attribute or a colour for each bit.
func styleOf(bits uint16) lipgloss.Style {
	s := lipgloss.NewStyle()
	for i, set := range []func(){
		func() { s = s.Bold(true) },
		func() { s = s.Reverse(true) },
		func() { s = s.Underline(true) },
		func() { s = s.Foreground(lipgloss.Color("#8ab4ff")) },
		func() { s = s.Background(lipgloss.BrightBlack) },
		func() { s = s.Foreground(color.Color(nil)) },
		func() { s = s.Italic(true) },
		func() { s = s.Strikethrough(true) },
		func() { s = s.Faint(true) },
	} {
		if bits&(1<<i) != 0 {
			set()
		}
	}
	return s
}

func cells(row string) []uv.Cell {
	buf := uv.NewScreenBuffer(500, 1)
	buf.Method = ansi.GraphemeWidth
	uv.NewStyledString(row).Draw(buf, buf.Bounds())
	out := make([]uv.Cell, buf.Width())
	for x := range out {
		out[x] = *buf.CellAt(x, 0)
	}
	return out
}
