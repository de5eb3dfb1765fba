package pixelsrc

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Args are the arguments of a call. Getters note the first argument of a wrong
// type; null counts as absent.
type Args struct {
	raw     map[string]any
	known   map[string]bool
	problem string
}

// newArgs takes the arguments of a call: an object, or nothing. The declared ones
// are known also to a call that ends before it comes to them.
func newArgs(raw any, declared ...string) *Args {
	a := &Args{known: map[string]bool{}}
	for _, name := range declared {
		a.known[name] = true
	}
	switch v := raw.(type) {
	case nil:
	case map[string]any:
		a.raw = v
	default:
		a.problem = "The arguments must be a JSON object."
	}
	return a
}

func (a *Args) get(name string) (any, bool) {
	a.known[name] = true
	v, ok := a.raw[name]
	return v, ok && v != nil
}

func (a *Args) wrong(name, want string) {
	if a.problem == "" {
		a.problem = fmt.Sprintf("The argument %s must be %s.", name, want)
	}
}

// read reads an argument of one type; absent or of another type, it is not given.
func read[T any](a *Args, name, want string) (value T, given bool) {
	v, ok := a.get(name)
	if !ok {
		return value, false
	}
	if value, given = v.(T); !given {
		a.wrong(name, want)
	}
	return value, given
}

// Text reads a string.
func (a *Args) Text(name string) (value string, given bool) {
	return read[string](a, name, "a string")
}

// Word reads a string that is one of a few words, in any letter case; absent or
// blank gives the default.
func (a *Args) Word(name, normal string) string {
	v, _ := a.Text(name)
	if v = strings.ToLower(strings.TrimSpace(v)); v == "" {
		return normal
	}
	return v
}

// Flag reads a boolean.
func (a *Args) Flag(name string, normal bool) bool {
	if v, ok := read[bool](a, name, "true or false"); ok {
		return v
	}
	return normal
}

// Number reads a number.
func (a *Args) Number(name string, normal float64) float64 {
	if v, ok := read[float64](a, name, "a number"); ok {
		return v
	}
	return normal
}

// whole is a number without a fraction, held at ±1e9.
func whole(v any) (int, bool) {
	f, ok := v.(float64)
	return int(min(max(f, -1e9), 1e9)), ok && f == math.Trunc(f)
}

// Int reads an integer; huge ones are held at ±1e9.
func (a *Args) Int(name string, normal int) int {
	v, ok := a.get(name)
	if !ok {
		return normal
	}
	n, ok := whole(v)
	if !ok {
		a.wrong(name, "an integer")
		return normal
	}
	return n
}

// Has reports whether an argument was given.
func (a *Args) Has(name string) bool {
	_, ok := a.get(name)
	return ok
}

// Pair reads a list of two integers, or a string such as "16x16".
func (a *Args) Pair(name string) (pair [2]int, given bool) {
	v, ok := a.get(name)
	if !ok {
		return pair, false
	}
	switch v := v.(type) {
	case string:
		if w, h, ok := parseSize(v); ok {
			return [2]int{w, h}, true
		}
	case []any:
		if len(v) == 2 {
			w, okW := whole(v[0])
			h, okH := whole(v[1])
			if okW && okH {
				return [2]int{w, h}, true
			}
		}
	}
	a.wrong(name, `two integers [width, height], such as [16, 16], or "16x16"`)
	return pair, false
}

// Words reads a list of strings, or one string with commas or blanks between.
func (a *Args) Words(name string) (list []string) {
	v, ok := a.get(name)
	if !ok {
		return nil
	}
	switch v := v.(type) {
	case string:
		return strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
	case []any:
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				break
			}
			list = append(list, s)
		}
		if len(list) == len(v) {
			return list
		}
	}
	a.wrong(name, "a list of strings")
	return nil
}

// ignored says which arguments nobody asked for, and what was perhaps meant.
func (a *Args) ignored() string {
	var lines []string
	known := slices.Sorted(maps.Keys(a.known))
	for name := range a.raw {
		if a.known[name] {
			continue
		}
		line := "Ignored argument '" + name + "'."
		if near := nearNames(name, known, 2); len(near) > 0 {
			line += " " + didYouMean(near[:1])
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// parseSize reads "16x16": two positive numbers.
func parseSize(s string) (w, h int, ok bool) {
	left, right, found := strings.Cut(strings.ToLower(strings.TrimSpace(s)), "x")
	if !found {
		return 0, 0, false
	}
	digits := func(s string) (n int) {
		for _, r := range s {
			if r < '0' || r > '9' || n > 1e6 {
				return 0
			}
			n = n*10 + int(r-'0')
		}
		return n
	}
	w, h = digits(left), digits(right)
	return w, h, w > 0 && h > 0
}
