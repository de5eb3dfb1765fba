package tui

import (
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// quotaStale is the age from which what is used is shown with its age.
const quotaStale = 15 * time.Minute

// QuotaText writes how much an account has used, in the colour of a warning if it ends before
// it resets.
func QuotaText(f *Frame, q *snapshot.Quota, name string) string {
	th := f.Theme
	text := q.Text(" " + th.Glyph.Dot + " ")
	if name = strings.TrimSpace(name + " " + q.Account); name != "" {
		text = sanitize.Line(name) + " " + text
	}
	switch age := f.Now.Sub(q.At); {
	case age >= quotaStale:
		return th.Faint.Render(text + " (" + f.Since(q.At) + ")")
	case q.Used >= 100 || !q.Ends().IsZero():
		text = th.Warn.Render(text)
	default:
		text = th.Muted.Render(text)
	}
	f.RedrawAfter(quotaStale - f.Now.Sub(q.At))
	return text
}

// quotas are the texts of all accounts, of each what ends first or of which most is used.
func quotas(f *Frame, all []snapshot.Quota) (texts []string) {
	var shown []*snapshot.Quota
	for i := range all {
		q := &all[i]
		switch n := len(shown) - 1; {
		case n < 0 || shown[n].Agent != q.Agent || shown[n].Account != q.Account:
			shown = append(shown, q)
		case tighter(q, shown[n]):
			shown[n] = q
		}
	}
	for _, q := range shown {
		texts = append(texts, QuotaText(f, q, q.Agent))
	}
	return texts
}

// tighter reports whether a ends before b, or else more of it is used.
func tighter(a, b *snapshot.Quota) bool {
	endsA, endsB := a.Ends(), b.Ends()
	if endsA.IsZero() || endsB.IsZero() {
		return !endsA.IsZero() || endsB.IsZero() && a.Used > b.Used
	}
	return endsA.Before(endsB)
}
