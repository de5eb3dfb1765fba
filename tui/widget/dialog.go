package widget

import "github.com/mcpdeck/mcpdeck/theme"

// Dialog draws rows in a frame on the panel's background, at most maxW × maxH
// cells large and as small as the rows and the title allow. Rows that are too
// many are left out.
func Dialog(th *theme.Theme, title, note string, rows []string, maxW, maxH int) []string {
	w := Width(title) + 8
	if note != "" {
		w += Width(note) + 4
	}
	for _, r := range rows {
		w = max(w, Width(r)+6)
	}
	w = min(w, maxW)
	h := min(len(rows)+2, maxH)
	inner := make([]string, len(rows))
	for i, r := range rows {
		inner[i] = " " + Fit(r, w-6) + " "
	}
	out := Box(th, title, note, true, inner, w, h)
	for i := range out {
		out[i] = th.Panel.Over(out[i])
	}
	return out
}
