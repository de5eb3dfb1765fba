package pxl

import (
	"math"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/json5"
)

// squashText reads amount or amount:anchor.
func squashText(_ *decoder, o *Op, p string) bool {
	amount, anchor, _ := strings.Cut(p, ":")
	v, ok := number(strings.TrimSpace(amount))
	o.F[0] = v
	return ok && o.squashes(strings.TrimSpace(anchor))
}

func squashObject(o *Op, n *json5.Node) bool {
	if v := n.Get("preserve_area"); v != nil && v.Kind == json5.Bool && !v.Truth() {
		o.N[2] = 1
	}
	if at := n.Get("anchor"); at != nil && at.Kind == json5.Array {
		o.Pattern = "point"
		for i := range at.Items {
			if i > 1 || at.Items[i].Kind != json5.Int || max(at.Items[i].Int(), -at.Items[i].Int()) > MaxSide {
				return false
			}
			o.N[i] = int(at.Items[i].Int())
		}
		return len(at.Items) == 2 && o.needFloats(n, "amount") && o.F[0] >= 0 && o.F[0] < 1
	}
	return o.needFloats(n, "amount") && o.squashes(stringOf(n, "anchor", ""))
}

// squashes takes the word for the anchor and checks the amount.
func (o *Op) squashes(anchor string) bool {
	switch o.Pattern = strings.ToLower(anchor); o.Pattern {
	case "", "center", "top", "bottom":
		return o.F[0] >= 0 && o.F[0] < 1
	}
	return false
}

// squash presses a picture together on one axis and widens it on the other, by as
// much as keeps its area unless the op says otherwise. The anchor stays where it is; the
// canvas grows where the picture leaves it.
func squash(_ *effect, b *bitmap, o *Op) (*bitmap, error) {
	a := o.F[0]
	fx, fy := 1+a, 1-a
	if o.N[2] == 0 {
		fx = 1 / fy
	}
	if o.Name == "stretch" {
		fx, fy = 1-a, 1+a
		if o.N[2] == 0 {
			fx = 1 / fy
		}
	}
	out, err := scale(b, fx, fy)
	if err != nil {
		return nil, err
	}
	x, y := float64(b.w)/2, float64(b.h)/2
	switch o.Pattern {
	case "top":
		y = 0
	case "bottom":
		y = float64(b.h)
	case "point":
		x, y = float64(o.N[0]), float64(o.N[1])
	}
	// Where the picture's corner lies on the old canvas.
	dx := int(math.Floor(x - x*float64(out.w)/float64(b.w)))
	dy := int(math.Floor(y - y*float64(out.h)/float64(b.h)))
	return grow(out, max(0, dx), max(0, dy), max(0, b.w-dx-out.w), max(0, b.h-dy-out.h))
}
