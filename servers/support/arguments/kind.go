package arguments

import (
	"math"
	"strconv"
	"strings"
)

// Kind is how the value of an argument is written.
type Kind int

// The kinds, with the types that they are read as.
const (
	Text    Kind = iota // string
	Word                // string, in lower case; one that is blank counts as absent
	Flag                // bool
	Whole               // int, held at ±1e9
	Integer             // int within the bounds of the argument; digits in a string will do
	Number              // float64
	Pair                // [2]int, or a string such as "16x16"
	Words               // []string, or one string with commas or blanks between
	Strings             // []string, or one string
	Raw                 // any: a string in the schema, which the tool checks
)

// form is the types of a kind in a schema, and further members.
func (k Kind) form() (types []string, more string) {
	switch k {
	case Flag:
		return []string{"boolean"}, ""
	case Whole, Integer:
		return []string{"integer"}, ""
	case Number:
		return []string{"number"}, ""
	case Pair:
		return []string{"array", "string"}, `"items":{"type":"integer"}`
	case Words:
		return []string{"array", "string"}, `"items":{"type":"string"}`
	case Strings:
		return []string{"array"}, `"items":{"type":"string"}`
	default:
		return []string{"string"}, ""
	}
}

// Want says what a value of the kind must be.
func (k Kind) Want() string {
	switch k {
	case Flag:
		return "true or false"
	case Whole, Integer:
		return "an integer"
	case Number:
		return "a number"
	case Pair:
		return `two integers [width, height], such as [16, 16], or "16x16"`
	case Words, Strings:
		return "a list of strings"
	default:
		return "a string"
	}
}

// Read reads a value that encoding/json has made; nil when it is of another kind.
func (k Kind) Read(v any) any {
	if k == Raw {
		return v
	}
	switch v := v.(type) {
	case bool:
		if k == Flag {
			return v
		}
	case float64:
		if k == Number {
			return v
		}
		if n, ok := integer(v); ok && (k == Whole || k == Integer) {
			return n
		}
	case string:
		return k.readString(v)
	case []any:
		return k.readList(v)
	}
	return nil
}

func (k Kind) readString(s string) any {
	switch k {
	case Text:
		return s
	case Word:
		return strings.ToLower(strings.TrimSpace(s))
	case Strings:
		return []string{s}
	case Words:
		return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
	case Integer:
		if n, err := strconv.Atoi(strings.TrimSpace(s)); err == nil {
			return n
		}
	case Pair:
		if size, ok := parseSize(s); ok {
			return size
		}
	default:
	}
	return nil
}

func (k Kind) readList(list []any) any {
	switch {
	case k == Pair && len(list) == 2:
		w, okW := integer(list[0])
		h, okH := integer(list[1])
		if okW && okH {
			return [2]int{w, h}
		}
	case k == Words || k == Strings:
		out := make([]string, len(list))
		for i, v := range list {
			s, ok := v.(string)
			if !ok {
				return nil
			}
			out[i] = s
		}
		return out
	}
	return nil
}

// integer is a number without a fraction, held at ±1e9.
func integer(v any) (int, bool) {
	f, ok := v.(float64)
	return int(min(max(f, -1e9), 1e9)), ok && f == math.Trunc(f)
}

// parseSize reads "16x16": two positive numbers.
func parseSize(s string) (size [2]int, ok bool) {
	w, h, _ := strings.Cut(strings.ToLower(strings.TrimSpace(s)), "x")
	for i, side := range [...]string{w, h} {
		n, err := strconv.ParseUint(side, 10, 24)
		if err != nil || n == 0 {
			return size, false
		}
		size[i] = int(n)
	}
	return size, true
}
