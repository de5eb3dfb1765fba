package rules

import "path"

// Edit is a file that a tool writes, beside the commands that it may run.
type Edit struct {
	Path         string // absolute, or as it is from the folder in which the tool works
	Make, Delete bool   // there is no such file yet; the tool removes it
}

// Edits returns what a tool does that changes these files, as a segment for each.
func Edits(in Place, all []Edit) *Reading {
	r := reading(in)
	r.bounded(func() {
		for _, e := range all {
			r.out.Segments = append(r.out.Segments, Segment{Text: e.Path})
			r.at = len(r.out.Segments) - 1
			mode := byte('w')
			if e.Delete {
				mode = 'd'
			}
			r.file(value{text: e.Path}, mode)
		}
	})
	return r.out
}

// Leads is a path with its links followed; "" if it is not known.
func Leads(in Place, p string) (to string) {
	r := reading(in)
	r.bounded(func() {
		if p = r.absolute(p)[0]; !within(anywhere, path.Clean(p)) && len(p) <= mostPath {
			to = r.resolved(p)
		}
	})
	return to
}

// Below reports whether a path, with its links followed, is a folder or below it. Both may begin at the folder in
// which something works; it is false where that is not known.
func Below(in Place, folder, p string) bool {
	r, is := reading(in), false
	r.bounded(func() {
		full := func(p string) string {
			if p = r.absolute(p)[0]; within(anywhere, path.Clean(p)) {
				return ""
			}
			return r.resolved(p)
		}
		at, of := full(p), full(folder)
		is = at != "" && len(p) <= mostPath && within(of, at)
	})
	return is
}
