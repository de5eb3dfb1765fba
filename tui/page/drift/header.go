package drift

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/report"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// glyph is a sign as the theme can draw it.
func glyph(th *theme.Theme, s report.Sign) string {
	if s == 0 { // what is under a title that says it needs none
		return " "
	}
	if th.Glyph.ASCII {
		s = s.ASCII()
	}
	return string(rune(s))
}

// ascii replaces the signs inside a text where the theme has only ASCII.
func ascii(th *theme.Theme, text string) string {
	if !th.Glyph.ASCII {
		return text
	}
	return strings.NewReplacer("−", "-", "→", ">", "≈", "*", "✖", "X", "▲", "^", "·", "-", "…", "~").Replace(text)
}

// signStyle is the colour that repeats a sign.
func signStyle(th *theme.Theme, s report.Sign) theme.Style {
	switch s {
	case report.Added:
		return th.Added
	case report.Removed:
		return th.Removed
	case report.Changed, report.Moved:
		return th.Info
	case report.Through:
		return th.Muted
	case report.Breaking:
		return th.Bad
	case report.Unseen, report.Warning:
		return th.Warn
	default:
		return th.Faint
	}
}

// statusStyle is the colour of a result: a pass that does not cover everything
// is never plainly good.
func statusStyle(th *theme.Theme, r *compare.Result) theme.Style {
	switch {
	case r.Status == compare.Failed:
		return th.Bad
	case r.Status == compare.Diff:
		return th.Info
	case len(report.Badges(r)) > 0:
		return th.Warn
	}
	return th.Good
}

// header says what was compared and how it came out: two rows, or three in a
// narrow terminal.
func (p *Page) header(f *tui.Frame) []string {
	th := f.Theme
	r := p.result()
	name := th.Strong.Render(sanitize.Line(filepath.Base(p.project().Path)))
	if n := len(p.state.Projects); n > 1 {
		if at := p.place(); at >= 0 {
			name += th.Faint.Render(fmt.Sprintf(" %d of %d", at+1, n))
		}
	}
	if r == nil {
		return []string{widget.Fit(" "+name+"  "+th.Faint.Render("not compared yet"), f.W)}
	}
	style := statusStyle(th, r)
	badge := name + "  " + th.Strong.Over(style.Render("["+strings.ToUpper(string(r.Status))+"]"))
	for _, b := range report.Badges(r) {
		badge += " " + th.Warn.Render("["+b+"]")
	}
	against := th.Muted.Render("vs ") + p.baselineText(f, r)
	made := th.Faint.Render("current: " + madeText(f, r))
	if p.behind() > 0 {
		made = th.Warn.Render(humanize.Count(p.behind(), "result") + " ago")
	}
	if r.Status == compare.Failed {
		return fold(f.W, badge, against)
	}
	s := r.Summary
	counts := []string{contractCounts(th, s.Contracts, f.W >= roomy)}
	if s.Breaking.Errors > 0 {
		counts = append([]string{th.Bad.Render(glyph(th, report.Breaking) + fmt.Sprintf(" %d breaking", s.Breaking.Errors))}, counts...)
	}
	if s.Breaking.Warnings > 0 {
		counts = append(counts, th.Warn.Render(glyph(th, report.Warning)+fmt.Sprintf(" %d may break", s.Breaking.Warnings)))
	}
	if n := s.ChangedFolders + s.AddedFolders + s.RemovedFolders; n > 0 {
		counts = append(counts, th.Muted.Render(fmt.Sprintf("in %d of %s", n, humanize.Count(s.TotalFolders, "folder"))))
	}
	if d := r.Summary.TokenDelta; d.GPT4oMini != 0 || d.Claude != 0 {
		counts = append(counts, tokens(th, r))
	}
	return append(fold(f.W, badge, against, made), join(f.W, counts))
}

// contractCounts are what happened to how many contracts, in words where there
// is room for them.
func contractCounts(th *theme.Theme, c compare.Contracts, wide bool) string {
	out := th.Muted.Render("contracts")
	any := false
	for _, one := range []struct {
		n    int
		sign report.Sign
		text string
	}{{c.Added + c.Revealed, report.Added, "new"}, {c.Removed + c.Hidden, report.Removed, "gone"}, {c.Changed, report.Changed, "changed"}, {c.Moved, report.Moved, "moved"}} {
		if one.n == 0 {
			continue
		}
		any = true
		if wide {
			out += fmt.Sprintf(" %d %s", one.n, th.Muted.Render(one.text))
		} else {
			out += " " + glyph(th, one.sign) + fmt.Sprint(one.n)
		}
	}
	if !any {
		return out + th.Muted.Render(" unchanged")
	}
	return out
}

// baselineName names a snapshot by the end of its id and who made it.
func baselineName(r *compare.Result) string {
	i := r.BaselineInfo
	if i == nil || i.SnapshotID == "" {
		return sanitize.Line(report.BaselineName(r))
	}
	text := "snapshot " + shortID(i.SnapshotID)
	if i.MadeBy != "" {
		text += " of " + sanitize.Line(i.MadeBy)
	}
	return text
}

// shortID is the end of a snapshot's id, which is what differs.
func shortID(id string) string {
	id = strings.TrimPrefix(id, "snap_")
	if len(id) > 7 {
		id = "…" + id[len(id)-7:]
	}
	return id
}

func madeText(f *tui.Frame, r *compare.Result) string {
	text := ""
	if i := r.CurrentInfo; i != nil {
		text = i.Source
		if text == "private" {
			text = "kept context"
		}
	}
	return strings.TrimPrefix(text+", "+f.Since(r.ComparedAt), ", ")
}

// tokens is the change for both models, with its share of the whole.
func tokens(th *theme.Theme, r *compare.Result) string {
	d := r.Summary.TokenDelta
	text := report.Signed(d.GPT4oMini) + " gpt  " + report.Signed(d.Claude) + " claude"
	if n := r.Summary.TokensBefore; n > 0 && d.GPT4oMini != 0 {
		share := fmt.Sprintf(" (%+.1f %%)", 100*float64(d.GPT4oMini)/float64(n))
		if !strings.Contains(share, "0.0 ") {
			text += strings.Replace(share, "-", "−", 1)
		}
	}
	return th.Faint.Render("tokens ") + ascii(th, text)
}

// fold puts parts into one row, the last at its right end; where they do not
// fit, into a second.
func fold(w int, parts ...string) []string {
	left, right := parts[0], strings.Join(parts[1:], "   ")
	if r := widget.Width(right); widget.Width(left)+r+4 <= w {
		return []string{" " + widget.Fit(left, w-r-2) + right + " "}
	}
	return []string{widget.Fit(" "+left, w), join(w, parts[1:])}
}

// join puts as many parts beside each other as fit.
func join(w int, parts []string) string {
	out := " " + parts[0]
	for _, part := range parts[1:] {
		if widget.Width(out)+3+widget.Width(part) > w {
			break
		}
		out += "   " + part
	}
	return widget.Fit(out, w)
}

// text says what runs, and since when: what the user waits for, else the
// deeper analysis in the background.
func (w *work) text(f *tui.Frame, d *logicstamp.DeeperRun) string {
	what, since := "", time.Time{}
	if d != nil {
		what, since = "analysing deeper in the background, for "+humanize.Took(d.Limit)+" at most", d.Since
	}
	if w.run != nil {
		what, since = w.run.what, w.run.since
	}
	if what == "" {
		return ""
	}
	return f.Theme.Info.Render(f.Spin()+" "+sanitize.Line(what)+"  "+humanize.Took(max(f.Now.Sub(since), 0).Truncate(time.Second))) + f.Theme.Faint.Render("  x stops")
}
