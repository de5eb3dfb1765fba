package viewer

import (
	"image"
	"slices"
	"testing"

	"github.com/mcpdeck/mcpdeck/tui/picture"
)

func TestLettering(t *testing.T) {
	before := &Picture{Key: "a", Frames: []Frame{{Image: dots("rb.")}}}
	p := &Picture{Key: "b", Frames: []Frame{{Image: dots("rrg")}, {Image: dots("ggg")}}}
	v := Viewer{Slot: "s"}
	v.Set(p)
	v.SetBefore(before)
	letters, ok := v.letters()
	if !ok || v.Letter(green) != "a" || v.Letter(red) != "b" || v.Letter(blue) != "c" {
		t.Fatalf("letters %+v", letters) // the commonest of all frames first
	}
	room := picture.Room{Cols: 10, Rows: 5, UnitW: 1, UnitH: 1}
	all := view{factor: 1, divisor: 1, crop: image.Rect(0, 0, 3, 1), room: room}
	wide, part, three := all, all, all
	wide.wide = true
	part.crop = image.Rect(1, 0, 3, 1)
	three.crop = image.Rect(0, 0, 9, 3)
	for _, row := range []struct {
		name string
		c    composer
		want []string
	}{
		{"a letter a pixel", composer{view: all}, []string{"bba"}},
		{"two", composer{view: wide}, []string{"bbbbaa"}},
		{"the same letters in the other frame", composer{view: all, index: 1}, []string{"aaa"}},
		{"and in a part", composer{view: part}, []string{"ba"}},
		{"the cursor stands out", composer{view: part, cursor: &image.Point{X: 1}}, []string{"\x1b[7mb\x1b[ma"}},
		{"one colour", composer{view: all, only: &green}, []string{"bb\x1b[7ma\x1b[m"}},
		{"what changed", composer{view: all, before: before}, []string{"b\x1b[7mba\x1b[m"}},
		{"the cursor on what changed", composer{view: all, before: before, cursor: &image.Point{X: 1}}, []string{"bb\x1b[7ma\x1b[m"}},
		{"as a texture", composer{view: three, repeat: true, only: &green}, slices.Repeat([]string{"bb\x1b[7ma\x1b[mbb\x1b[7ma\x1b[mbb\x1b[7ma\x1b[m"}, 3)},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := row.c
			c.p, c.mode = p, picture.ModeLetters
			c.letters = c.lettering(letters)
			if got := c.letters.Lines(c.compose()); !slices.Equal(got, row.want) {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
	v.Set(&Picture{Key: "photo", Smooth: true, Frames: []Frame{{Image: dots("r")}}})
	if _, ok := v.letters(); ok {
		t.Error("a photo in letters")
	}
}

func TestPointerOnWideLetters(t *testing.T) {
	w := view{factor: 1, divisor: 1, crop: image.Rect(2, 1, 10, 9), wide: true, room: picture.Room{Cols: 20, Rows: 8, UnitW: 1, UnitH: 1}}
	if x, y := w.pixel(5, 3); x != 4 || y != 4 {
		t.Errorf("the pointer is at %d, %d", x, y)
	}
}
