package pixelsrc

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Args are the arguments of a call. Getters note the first argument of a wrong
// type; null counts as absent.
type Args struct {
	raw     map[string]json.RawMessage
	known   map[string]bool
	problem string
}

// newArgs reads the arguments of a call: an object, or nothing.
func newArgs(raw json.RawMessage) *Args {
	a := &Args{known: map[string]bool{}}
	if len(raw) == 0 || string(raw) == "null" {
		return a
	}
	if err := json.Unmarshal(raw, &a.raw); err != nil {
		a.problem = "The arguments must be a JSON object."
	}
	return a
}

func (a *Args) get(name string) (json.RawMessage, bool) {
	a.known[name] = true
	v, ok := a.raw[name]
	if !ok || string(v) == "null" {
		return nil, false
	}
	return v, true
}

func (a *Args) wrong(name, want string) {
	if a.problem == "" {
		a.problem = fmt.Sprintf("The argument %s must be %s.", name, want)
	}
}

// Text reads a string.
func (a *Args) Text(name string) (value string, given bool) {
	v, ok := a.get(name)
	if !ok {
		return "", false
	}
	if json.Unmarshal(v, &value) != nil {
		a.wrong(name, "a string")
		return "", false
	}
	return value, true
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

// Flag reads a boolean, false by default.
func (a *Args) Flag(name string, normal bool) bool {
	v, ok := a.get(name)
	if !ok {
		return normal
	}
	if json.Unmarshal(v, &normal) != nil {
		a.wrong(name, "true or false")
	}
	return normal
}

// Number reads a number.
func (a *Args) Number(name string, normal float64) float64 {
	v, ok := a.get(name)
	if !ok {
		return normal
	}
	if json.Unmarshal(v, &normal) != nil {
		a.wrong(name, "a number")
	}
	return normal
}

// Int reads an integer; huge ones are held at ±1e9.
func (a *Args) Int(name string, normal int) int {
	v, ok := a.get(name)
	if !ok {
		return normal
	}
	var f float64
	if json.Unmarshal(v, &f) != nil || f != math.Trunc(f) {
		a.wrong(name, "an integer")
		return normal
	}
	return int(min(max(f, -1e9), 1e9))
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
	var list []float64
	var text string
	if json.Unmarshal(v, &text) == nil {
		w, h, ok := parseSize(text)
		if !ok {
			a.wrong(name, `two integers [width, height] or "16x16"`)
		}
		return [2]int{w, h}, true
	}
	if json.Unmarshal(v, &list) != nil || len(list) != 2 || list[0] != math.Trunc(list[0]) || list[1] != math.Trunc(list[1]) {
		a.wrong(name, "a list of two integers, such as [16, 16]")
		return pair, false
	}
	return [2]int{int(min(max(list[0], -1e9), 1e9)), int(min(max(list[1], -1e9), 1e9))}, true
}

// Words reads a list of strings, or one string with commas or blanks between.
func (a *Args) Words(name string) (list []string) {
	v, ok := a.get(name)
	if !ok {
		return nil
	}
	var text string
	if json.Unmarshal(v, &text) == nil {
		return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
	}
	if json.Unmarshal(v, &list) != nil {
		a.wrong(name, "a list of strings")
	}
	return list
}

// ignored says which arguments nobody asked for, and what was perhaps meant.
func (a *Args) ignored() string {
	var lines []string
	known := make([]string, 0, len(a.known))
	for k := range a.known {
		known = append(known, k)
	}
	slices.Sort(known)
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
