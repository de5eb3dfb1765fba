package pixels

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/arrange"
	"github.com/mcpdeck/mcpdeck/servers/pixelsrc"
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

// keepVersions keeps what is new among renders, which are the newest first, and says how
// many that are.
func (p *Page) keepVersions(renders []Render) int {
	known := map[uint64]bool{}
	for _, r := range p.all {
		known[r.ID] = true
	}
	came := 0
	for _, r := range slices.Backward(renders) {
		if known[r.ID] || r.Quiet {
			continue
		}
		came++
		if r.Fetch != nil {
			continue // no versions of it
		}
		list := p.versions[r.thing()]
		if r.Before != nil && len(list) == 0 {
			list = append(list, *r.Before)
		}
		if n := len(list); n > 0 && r.Picture != nil && list[n-1].Picture == r.Picture {
			list = list[:n-1] // the last good picture, with what is wrong now
		}
		r.Before = nil // it stands in the list, or was forgotten
		list = append(list, r)
		p.versions[r.thing()] = list[max(0, len(list)-versionsKept):]
	}
	p.bound(renders)
	return came
}

// bound forgets the oldest versions until all pictures that are kept together have no more
// pixels than the deck may keep. What the sources have, and what is looked at, stays.
func (p *Page) bound(renders []Render) {
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
	count(p.view.Picture())
	count(p.marked.picture)
	for _, pic := range p.shots.pics {
		count(pic)
	}
	var all []Render
	for _, list := range p.versions {
		all = append(all, list...)
	}
	arrange.By(all, func(a, b Render) int { return b.Time.Compare(a.Time) })
	for _, r := range all {
		if counted[r.Picture] || pixels+r.Picture.Pixels() <= pixelsrc.KeptPixels {
			count(r.Picture)
			continue
		}
		p.versions[r.thing()] = slices.DeleteFunc(p.versions[r.thing()], func(o Render) bool { return o.ID == r.ID })
	}
}

// isLatest tells whether the newest version of what is looked at is the one in view.
func (p *Page) isLatest() bool {
	list := p.versions[p.thing]
	return len(list) == 0 || list[len(list)-1].ID == p.shown
}

// before is the picture to compare with: the marked one if it is of the same thing, else
// the version before, else the marked one whatever it shows.
func (p *Page) before() *viewer.Picture {
	if p.marked.picture == p.view.Picture() {
		return p.versionBefore()
	}
	if p.marked.thing == p.thing {
		return p.marked.picture
	}
	return cmp.Or(p.versionBefore(), p.marked.picture)
}

func (p *Page) versionBefore() *viewer.Picture {
	var best *viewer.Picture
	for _, r := range p.versions[p.thing] {
		if r.Picture != nil && r.ID < p.shown {
			best = r.Picture
		}
	}
	return best
}

// version says which of the versions of a thing is shown: "3 of 5".
func (p *Page) version() string {
	list := p.versions[p.thing]
	for i, r := range list {
		if r.ID == p.shown && len(list) > 1 {
			return fmt.Sprintf("%d of %d", i+1, len(list))
		}
	}
	return ""
}

// turn shows an earlier or later version of the same thing.
func (p *Page) turn(d int) bool {
	list := p.versions[p.thing]
	for i, r := range list {
		if r.ID == p.shown {
			if i+d < 0 || i+d >= len(list) {
				return false
			}
			p.pinned = i+d != len(list)-1
			p.show(list[i+d])
			return true
		}
	}
	return false
}
