package pixelsrc

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/json5"
)

// topKeys is the order of an object's keys; those not in it follow as they came.
func topKeys(kind string) []string {
	rest := map[string]string{
		"palette":     "colors ramps roles relationships antialias",
		"sprite":      "size palette regions source transform metadata nine_slice antialias background state-rules origin",
		"variant":     "base palette transform",
		"composition": "base size cell_size sprites layers",
		"animation":   "frames sprite duration loop keyframes source transform timing_function fps palette_cycle tags frame_metadata attachments",
		"particle":    "sprite emitter",
		"transform":   "params ops compose cycle frames keyframes easing",
		"state-rules": "rules",
		"state_rules": "rules",
		"import":      "from as sprites palettes transforms animations",
	}[kind]
	return append([]string{"type", "name"}, strings.Fields(rest)...)
}

// layerKeys is the order of the keys of a composition's layer.
func layerKeys() []string {
	return []string{"name", "sprite", "x", "y", "position", "fill", "map", "transform", "blend", "opacity"}
}

func sortKeys(list []item, order []string) {
	rank := func(it item) int {
		if i := slices.Index(order, it.key); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(list, func(a, b item) int { return rank(a) - rank(b) })
}

func sortNames(list []item) {
	slices.SortStableFunc(list, func(a, b item) int { return cmp.Compare(a.key, b.key) })
}

// sortColours puts variables first, then the transparent token, then the rest.
func sortColours(list []item) {
	rank := func(key string) int {
		switch {
		case strings.HasPrefix(key, "--"):
			return 0
		case pxl.Bare(key) == "_":
			return 1
		}
		return 2
	}
	slices.SortStableFunc(list, func(a, b item) int {
		return cmp.Or(rank(a.key)-rank(b.key), cmp.Compare(pxl.Bare(a.key), pxl.Bare(b.key)), cmp.Compare(a.key, b.key))
	})
}

func sortKeyframes(list []item) {
	at := func(key string) float64 {
		switch key {
		case "from":
			return 0
		case "to":
			return 100
		}
		f, err := strconv.ParseFloat(strings.TrimSuffix(key, "%"), 64)
		if err != nil {
			return 101
		}
		return f
	}
	slices.SortStableFunc(list, func(a, b item) int { return cmp.Compare(at(a.key), at(b.key)) })
}

// number is a literal as strict JSON writes it, with its digits as they were.
func number(n *json5.Node, literal string) string {
	sign := ""
	if s := strings.TrimPrefix(literal, "-"); s != literal {
		sign, literal = "-", s
	}
	literal = strings.TrimPrefix(literal, "+")
	switch {
	case len(literal) > 1 && (literal[1] == 'x' || literal[1] == 'X'):
		return strconv.FormatInt(n.Int(), 10)
	case strings.HasPrefix(literal, "."):
		literal = "0" + literal
	}
	if i := strings.IndexByte(literal, '.'); i >= 0 && (i+1 == len(literal) || literal[i+1] < '0' || literal[i+1] > '9') {
		literal = literal[:i+1] + "0" + literal[i+1:]
	}
	return sign + literal
}

// quote writes a string as strict JSON, with every printing character as it is.
func quote(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20 || r == 0x7f || r == '\u2028' || r == '\u2029':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
