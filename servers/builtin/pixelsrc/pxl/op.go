package pxl

import (
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/json5"
)

// Op is one step of a transform list.
type Op struct {
	Name      string // canonical; "" when the item was malformed
	Text      string // as written, for messages
	N         [4]int // integers, in the order of the text form
	F         [2]float64
	Token     string
	Tokens    [2]string
	Pattern   string
	Direction string
	Mapping   []Entry
	Pos       int32
}

// opForm is how one op is written: its names, and the readers of its two forms.
type opForm struct {
	names  string
	text   func(d *decoder, o *Op, params string) bool
	object func(o *Op, n *json5.Node) bool
}

func opForms() []opForm {
	none := opForm{
		text:   func(_ *decoder, _ *Op, _ string) bool { return true },
		object: func(*Op, *json5.Node) bool { return true },
	}
	return []opForm{
		none.as("mirror-h symmetry-h flip-h mirrorh"),
		none.as("mirror-v symmetry-v flip-v mirrorv"),
		integers("degrees", "", 0, func(o *Op) bool { return o.N[0] == 90 || o.N[0] == 180 || o.N[0] == 270 }).as("rotate rot"),
		integers("w h", "x", 0, nil).as("tile"),
		integers("size", "", 0, nil).as("pad"),
		integers("x y w h", ",", 0, nil).as("crop"),
		integers("x y", ",", -maxInt, nil).as("shift"),
		{"outline", outlineText, outlineObject},
		{"shadow", shadowText, shadowObject},
		{
			"scale", func(_ *decoder, o *Op, p string) bool { return o.floats(p, false) && o.F[0] > 0 && o.F[1] > 0 },
			func(o *Op, n *json5.Node) bool { return o.needFloats(n, "x", "y") && o.F[0] > 0 && o.F[1] > 0 },
		},
		{"skew-x skewx", skewText, skewObject},
		{"skew-y skewy", skewText, skewObject},
		{"squash", squashText, squashObject},
		{"stretch", squashText, squashObject},
		{"sel-out selout", func(_ *decoder, o *Op, p string) bool { o.Token = strings.TrimSpace(p); return true }, selOutObject},
		{"dither", ditherText, ditherObject},
		{"dither-gradient dithergradient", gradientText, gradientObject},
		{"subpixel sub-pixel subpixel-shift", func(_ *decoder, o *Op, p string) bool { return o.floats(p, true) }, subpixelObject},
		{"pingpong", func(_ *decoder, o *Op, p string) bool {
			if p = strings.TrimSpace(p); p == "true" || p == "exclude_ends" {
				o.N[0] = 1
			}
			return true
		}, func(o *Op, n *json5.Node) bool {
			if isTrue(n.Get("exclude_ends")) {
				o.N[0] = 1
			}
			return true
		}},
		none.as("reverse"),
		integers("offset", "", -maxInt, nil).as("frame-offset frameoffset"),
		integers("frame count", ",", 0, nil).as("hold"),
	}
}

// as is the form under other names.
func (f opForm) as(names string) opForm { return opForm{names, f.text, f.object} }

// integers is the form of an op with whole numbers: the keys of its object, and what stands
// between them in its text.
func integers(keys, between string, least int64, holds func(*Op) bool) opForm {
	list := strings.Fields(keys)
	return opForm{"", func(_ *decoder, o *Op, p string) bool {
		return o.list(p, between, least, len(list)) && (holds == nil || holds(o))
	}, func(o *Op, n *json5.Node) bool {
		return o.integers(n, least, list) && (holds == nil || holds(o))
	}}
}

// isTrue reports whether a value is true; one that is missing is not.
func isTrue(n *json5.Node) bool { return n != nil && n.Kind == json5.Bool && n.Truth() }

func (d *Document) opTable() map[string]opForm {
	if d.opNames == nil {
		d.opNames = map[string]opForm{}
		for _, f := range opForms() {
			for _, n := range strings.Fields(f.names) {
				d.opNames[n] = f
			}
		}
	}
	return d.opNames
}

// ops reads a transform list; the documented dialect takes a single string too.
func (d *decoder) ops(n *json5.Node) []Op {
	if n.Kind == json5.String && !d.ref {
		return []Op{d.opText(n.Text, n.Pos)}
	}
	out := make([]Op, 0, len(n.Items))
	d.list(n, func(v *json5.Node) {
		switch v.Kind {
		case json5.String:
			out = append(out, d.opText(v.Text, v.Pos))
		case json5.Object:
			op := v.Get("op")
			if op == nil || op.Kind != json5.String {
				d.bad(v, `a transform needs op: "name"`)
				return
			}
			o := Op{Text: op.Text, Pos: v.Pos}
			if f, ok := d.doc.opTable()[strings.ToLower(strings.TrimSpace(op.Text))]; ok && f.object(&o, v) {
				o.Name, _, _ = strings.Cut(f.names, " ")
			}
			out = append(out, o)
		default:
			d.bad(v, "expected a transform, found %s", v.Kind)
		}
	})
	return out
}

// opText reads op or op:params.
func (d *decoder) opText(text string, pos int32) Op {
	o := Op{Text: text, Pos: pos}
	name, params, _ := strings.Cut(text, ":")
	f, ok := d.doc.opTable()[strings.ToLower(strings.TrimSpace(name))]
	if ok && f.text(d, &o, params) {
		o.Name, _, _ = strings.Cut(f.names, " ")
	}
	return o
}

// natural reads an unsigned integer as written, without white space around it.
func natural(s string) (int, bool) {
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "+"), 10, 31)
	return int(v), err == nil
}

func whole(s string) (int, bool) {
	v, err := strconv.ParseInt(s, 10, 32)
	return int(v), err == nil
}

// list reads exactly n integers with something between them; white space counts unless that
// is a comma.
func (o *Op) list(p, between string, least int64, n int) bool {
	parts, read := []string{p}, natural
	if between != "" {
		parts = strings.Split(strings.ToLower(p), between)
	}
	if least < 0 {
		read = whole
	}
	if len(parts) != n {
		return false
	}
	for i, s := range parts {
		if between == "," {
			s = strings.TrimSpace(s)
		}
		v, ok := read(s)
		if !ok {
			return false
		}
		o.N[i] = v
	}
	return true
}

// floats reads two comma-separated numbers; empty ones are 0 if allowed.
func (o *Op) floats(p string, empty bool) bool {
	a, b, ok := strings.Cut(p, ",")
	if !ok && !empty {
		return false
	}
	for i, s := range [2]string{a, b} {
		if s = strings.TrimSpace(s); s == "" && empty {
			continue
		}
		v, ok := number(s)
		if !ok {
			return false
		}
		o.F[i] = v
	}
	return true
}

// integers reads keys of the object form into N.
func (o *Op) integers(n *json5.Node, least int64, keys []string) bool {
	for i, k := range keys {
		v := n.Get(k)
		if v == nil || v.Kind != json5.Int || v.Int() < least || v.Int() > maxInt {
			return false
		}
		o.N[i] = int(v.Int())
	}
	return true
}

// float reads a number into F; false when it is missing or none.
func (o *Op) float(i int, n *json5.Node) bool {
	if n == nil || (n.Kind != json5.Int && n.Kind != json5.Float) {
		return false
	}
	v, ok := finite(n)
	if ok {
		o.F[i] = v
	}
	return ok
}

func (o *Op) needFloats(n *json5.Node, keys ...string) bool {
	for i, k := range keys {
		v := n.Get(k)
		if !o.float(i, v) {
			return false
		}
	}
	return true
}

// stringOf reads an optional string key.
func stringOf(n *json5.Node, key, standard string) string {
	if v := n.Get(key); v != nil && v.Kind == json5.String {
		return v.Text
	}
	return standard
}

func outlineText(_ *decoder, o *Op, p string) bool {
	o.N[0] = 1
	if p == "" {
		return true
	}
	if v, ok := natural(strings.TrimSpace(p)); ok {
		o.N[0] = v
		return true
	}
	token, width, has := strings.Cut(p, ",")
	o.Token = strings.TrimSpace(token)
	if has {
		v, ok := natural(strings.TrimSpace(width))
		o.N[0] = v
		return ok
	}
	return true
}

func outlineObject(o *Op, n *json5.Node) bool {
	o.N[0] = 1
	if v := n.Get("width"); v != nil && v.Kind == json5.Int && v.Int() >= 0 && v.Int() < maxInt {
		o.N[0] = int(v.Int())
	}
	o.Token = stringOf(n, "token", "")
	return true
}

// shadowText reads dx,dy[,token]; the documented dialect also takes dx,dy:token.
func shadowText(d *decoder, o *Op, p string) bool {
	if i := strings.IndexByte(p, ':'); i >= 0 && !d.ref {
		p = p[:i] + "," + p[i+1:]
	}
	parts := strings.SplitN(p, ",", 3)
	if len(parts) == 3 {
		o.Token = strings.TrimSpace(parts[2])
		parts = parts[:2]
	}
	return o.list(strings.Join(parts, ","), ",", -maxInt, 2)
}

func shadowObject(o *Op, n *json5.Node) bool {
	o.Token = stringOf(n, "token", "")
	return o.integers(n, -maxInt, []string{"x", "y"})
}

func skewText(_ *decoder, o *Op, p string) bool {
	p = strings.TrimSpace(p)
	p = strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(p, "deg"), "°"))
	v, ok := number(p)
	o.F[0] = v
	return ok && max(v, -v) < 89
}

func skewObject(o *Op, n *json5.Node) bool {
	return o.needFloats(n, "degrees") && max(o.F[0], -o.F[0]) < 89
}

func selOutObject(o *Op, n *json5.Node) bool {
	o.Token = stringOf(n, "fallback", "")
	if m := n.Get("mapping"); m != nil {
		for i, k := range m.Keys {
			if m.Items[i].Kind == json5.String {
				o.Mapping = append(o.Mapping, Entry{k.Name, m.Items[i].Text, k.Pos})
			}
		}
	}
	if o.float(0, n.Get("auto_darken")) {
		o.N[0] = 1
	}
	return true
}
