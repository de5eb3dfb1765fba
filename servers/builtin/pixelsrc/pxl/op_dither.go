package pxl

import (
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/json5"
)

// patternName gives the canonical name of a dither pattern; "" for one that does not exist.
func patternName(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	s = strings.NewReplacer("bayer-", "ordered-", "bayer", "ordered-").Replace(s)
	if rest, ok := strings.CutPrefix(s, "ordered"); ok {
		s = "ordered-" + strings.TrimPrefix(rest, "-")
	}
	switch s {
	case "checker", "checkerboard":
		return "checker"
	case "noise", "random":
		return "noise"
	case "ordered-2x2", "ordered-4x4", "ordered-8x8", "diagonal", "horizontal", "vertical":
		return s
	}
	return ""
}

func directionName(s string) string {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "vertical", "v":
		return "vertical"
	case "horizontal", "h":
		return "horizontal"
	case "radial", "r":
		return "radial"
	}
	return ""
}

// pairOf splits "a,b" into two tokens.
func (o *Op) pairOf(s string) bool {
	a, b, ok := strings.Cut(s, ",")
	o.Tokens = [2]string{strings.TrimSpace(a), strings.TrimSpace(b)}
	return ok && o.Tokens[0] != "" && o.Tokens[1] != ""
}

func ditherText(_ *decoder, o *Op, p string) bool {
	parts := strings.Split(p, ":")
	if len(parts) < 2 || len(parts) > 4 || !o.pairOf(parts[1]) {
		return false
	}
	o.Pattern, o.F[0] = patternName(parts[0]), 0.5
	ok := o.Pattern != ""
	if len(parts) > 2 {
		v, good := number(strings.TrimSpace(parts[2]))
		o.F[0], ok = v, ok && good
	}
	if len(parts) > 3 {
		v, good := natural(strings.TrimSpace(parts[3]))
		o.N[0], ok = v, ok && good
	}
	return ok
}

func ditherObject(o *Op, n *json5.Node) bool {
	o.Pattern, o.F[0] = patternName(stringOf(n, "pattern", "")), 0.5
	list := n.Get("tokens")
	if o.Pattern == "" || list == nil || len(list.Items) != 2 || list.Kind != json5.Array {
		return false
	}
	o.Tokens = [2]string{list.Items[0].Text, list.Items[1].Text}
	o.float(0, n.Get("threshold"))
	if v := n.Get("seed"); v != nil && v.Kind == json5.Int {
		o.N[0] = int(v.Int())
	}
	return true
}

func gradientText(_ *decoder, o *Op, p string) bool {
	parts := strings.Split(p, ":")
	if len(parts) < 2 || len(parts) > 3 || !o.pairOf(parts[1]) {
		return false
	}
	o.Direction, o.Pattern = directionName(parts[0]), "ordered-4x4"
	if len(parts) == 3 {
		o.Pattern = patternName(parts[2])
	}
	return o.Direction != "" && o.Pattern != ""
}

func gradientObject(o *Op, n *json5.Node) bool {
	o.Direction = directionName(stringOf(n, "direction", "vertical"))
	o.Pattern = patternName(stringOf(n, "pattern", "ordered-4x4"))
	o.Tokens = [2]string{stringOf(n, "from", ""), stringOf(n, "to", "")}
	return o.Direction != "" && o.Pattern != "" && o.Tokens[0] != "" && o.Tokens[1] != ""
}

func subpixelObject(o *Op, n *json5.Node) bool {
	for i, axis := range [2]string{"x", "y"} {
		for _, k := range []string{axis, "subpixel-" + axis, "subpixel_" + axis} {
			o.float(i, n.Get(k))
		}
	}
	return true
}
