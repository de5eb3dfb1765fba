package pixels

import (
	"fmt"
	"image"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	"github.com/mcpdeck/mcpdeck/tui/viewer"
)

func TestVersionsAreForgottenByTheirPixels(t *testing.T) {
	p := New(Options{})
	renders := map[string]Render{} // the latest of each
	all := map[*viewer.Picture]bool{}
	for i := range 40 {
		side := []int{16, 1024}[i%2]
		pic := &viewer.Picture{Key: fmt.Sprint(i), Frames: []viewer.Frame{{Image: image.NewNRGBA(image.Rect(0, 0, side, side))}}}
		name := fmt.Sprint("thing", i%4)
		r := Render{ID: uint64(i + 1), Name: name, Kind: "sprite", Time: time.Unix(int64(i), 0), Picture: pic}
		if old, ok := renders[name]; ok {
			before := old
			before.Before = nil
			r.Before = &before
		}
		renders[name], all[pic] = r, true
		list := []Render{r}
		for other, o := range renders {
			if other != name {
				list = append(list, o)
			}
		}
		p.take(list)
	}
	kept, pixels, small := map[*viewer.Picture]bool{}, 0, 0
	var count func(r *Render)
	count = func(r *Render) {
		if r == nil || kept[r.Picture] {
			return
		}
		kept[r.Picture] = true
		pixels += r.Picture.Pixels()
		count(r.Before)
	}
	for _, list := range p.versions.of {
		for i := range list {
			count(&list[i])
			if list[i].Picture.Pixels() == 256 {
				small++
			}
		}
	}
	for i := range p.all {
		count(&p.all[i])
	}
	if pixels > pixelsrc.KeptPixels || pixels < pixelsrc.KeptPixels*3/4 {
		t.Errorf("%d pixels are kept, of at most %d", pixels, pixelsrc.KeptPixels)
	}
	if small < 2*8 {
		t.Errorf("%d small versions are kept", small)
	}
	for name, r := range renders {
		if list := p.versions.of[r.thing()]; len(list) < 2 || list[len(list)-1].ID != r.ID {
			t.Errorf("%s has %d versions without its latest", name, len(list))
		}
	}
}
