package ask

import (
	"regexp"
	"strings"
	"sync"

	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// The little Markdown that agents write in descriptions.
var inline = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("`([^`\n]+)`|\\*\\*([^*\n]+)\\*\\*|\\[([^\\]\n]+)\\]\\(([^)\\s]+)\\)")
})

// markdown draws clean text as rows: headings, code, bold, lists, and links with
// their target, since what a link says need not be where it leads.
func markdown(th *theme.Theme, s string, w int) []string {
	if strings.TrimSpace(s) == "" {
		return nil
	}
	var rows []string
	code := false
	for line := range strings.SplitSeq(strings.Trim(s, "\n"), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
			continue
		}
		if code {
			rows = append(rows, th.Info.Render(widget.Cut("  "+line, w)))
			continue
		}
		if head := strings.TrimLeft(line, "#"); head != line && strings.HasPrefix(head, " ") {
			rows = append(rows, styled(strings.TrimSpace(head), w, th.Strong)...)
			continue
		}
		in := len(line) - len(strings.TrimLeft(line, " "))
		body := line[in:]
		hang := ""
		if strings.HasPrefix(body, "- ") || strings.HasPrefix(body, "* ") {
			body, hang = th.Glyph.Dot+" "+body[2:], "  "
		}
		pad := strings.Repeat(" ", min(in, w/2))
		for i, l := range closed(widget.Wrap(spans(th, body), max(w-len(pad)-len(hang), 4))) {
			if i > 0 {
				l = hang + l
			}
			rows = append(rows, pad+l)
		}
	}
	return rows
}

func spans(th *theme.Theme, s string) string {
	re := inline()
	return re.ReplaceAllStringFunc(s, func(m string) string {
		g := re.FindStringSubmatch(m)
		switch {
		case g[1] != "":
			return th.Info.Render(g[1])
		case g[2] != "":
			return th.Strong.Render(g[2])
		}
		return g[3] + " " + th.Faint.Render("("+g[4]+")")
	})
}

// closed ends a style at the end of its row and opens it again in the next, so
// that what stands beside the rows is not drawn in it.
func closed(rows []string) []string {
	const end = "\x1b[m"
	open := ""
	for i, r := range rows {
		r = open + r
		open = ""
		if at := strings.LastIndex(r, "\x1b["); at >= 0 && !strings.HasPrefix(r[at:], end) {
			if m := strings.IndexByte(r[at:], 'm'); m >= 0 {
				open = r[at : at+m+1]
				r += end
			}
		}
		rows[i] = r
	}
	return rows
}
