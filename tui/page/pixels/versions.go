package pixels

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	"github.com/mcpdeck/mcpdeck/tui/viewer"
)

// versionsKept is how many renders of one thing are kept to compare with.
const versionsKept = 12

// marked is the picture that the user chose to compare with.
type marked struct {
	picture *viewer.Picture
	thing   string
	name    string
}

// versions are the renders of one thing after another, to compare with.
type versions struct {
	of     map[string][]Render // by thing, the oldest first
	marked marked
}

// keep keeps what is new among renders, which are the newest first, beside those before,
// and returns the IDs of these.
func (v *versions) keep(before, renders []Render) (came []uint64) {
	known := map[uint64]bool{}
	for _, r := range before {
		known[r.ID] = true
	}
	for _, r := range slices.Backward(renders) {
		if known[r.ID] || r.Quiet {
			continue
		}
		came = append(came, r.ID)
		if r.Fetch != nil {
			continue // no versions of it
		}
		list := v.of[r.thing()]
		if r.Before != nil && len(list) == 0 {
			list = append(list, *r.Before)
		}
		if n := len(list); n > 0 && r.Picture != nil && list[n-1].Picture == r.Picture {
			list = list[:n-1] // the last good picture, with what is wrong now
		}
		r.Before = nil // it stands in the list, or was forgotten
		list = append(list, r)
		v.of[r.thing()] = list[max(0, len(list)-versionsKept):]
	}
	return came
}

// bound forgets the oldest versions until all pictures that are kept together have no more
// pixels than the deck may keep. What the sources have, and what is looked at, stays.
func (v *versions) bound(renders []Render, looked []*viewer.Picture) {
	counted, pixels := map[*viewer.Picture]bool{nil: true}, 0
	count := func(pic *viewer.Picture) {
		if !counted[pic] {
			counted[pic] = true
			pixels += pic.Pixels()
		}
	}
	for _, r := range renders {
		count(r.Picture)
		if r.Before != nil {
			count(r.Before.Picture)
		}
	}
	for _, pic := range append(looked, v.marked.picture) {
		count(pic)
	}
	var all []Render
	for _, list := range v.of {
		all = append(all, list...)
	}
	slices.SortFunc(all, func(a, b Render) int { return b.Time.Compare(a.Time) })
	for _, r := range all {
		if counted[r.Picture] || pixels+r.Picture.Pixels() <= pixelsrc.KeptPixels {
			count(r.Picture)
			continue
		}
		v.of[r.thing()] = slices.DeleteFunc(v.of[r.thing()], func(o Render) bool { return o.ID == r.ID })
	}
}

// latest reports whether a render is the newest version of a thing.
func (v *versions) latest(thing string, id uint64) bool {
	list := v.of[thing]
	return len(list) == 0 || list[len(list)-1].ID == id
}

// before is the picture to compare one with: the marked one if it is of the same thing, else
// the version before, else the marked one whatever it shows.
func (v *versions) before(thing string, id uint64, pic *viewer.Picture) *viewer.Picture {
	if v.marked.thing == thing && v.marked.picture != pic {
		return v.marked.picture
	}
	var best *viewer.Picture
	for _, r := range v.of[thing] {
		if r.Picture != nil && r.ID < id {
			best = r.Picture
		}
	}
	if v.marked.picture == pic {
		return best
	}
	return cmp.Or(best, v.marked.picture)
}

func (p *Page) before() *viewer.Picture {
	return p.versions.before(p.thing, p.shown, p.view.Picture())
}

// place says which of the versions of a thing an older render is: "3 of 5"; "" of the newest.
func (v *versions) place(thing string, id uint64) string {
	list := v.of[thing]
	i := slices.IndexFunc(list, func(r Render) bool { return r.ID == id })
	if i < 0 || i == len(list)-1 {
		return ""
	}
	return fmt.Sprintf("%d of %d", i+1, len(list))
}

// version is a render with its number among those of its thing.
type version struct {
	Render
	number int
}

// older are the versions before a render, the newest first.
func (v *versions) older(thing string, id uint64) []version {
	var out []version
	for i, r := range v.of[thing] {
		if r.ID == id {
			break
		}
		out = append([]version{{r, i + 1}}, out...)
	}
	return out
}

// beside is the version d after a render, and whether it is the newest; false when there is
// none.
func (v *versions) beside(thing string, id uint64, d int) (r Render, latest, ok bool) {
	list := v.of[thing]
	i := slices.IndexFunc(list, func(r Render) bool { return r.ID == id })
	if i < 0 || i+d < 0 || i+d >= len(list) {
		return Render{}, false, false
	}
	return list[i+d], i+d == len(list)-1, true
}
