package pxl

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxValue is how long a colour string may grow while its variables are replaced.
const maxValue = 8 << 10

// variables resolves var(--name, fallback) within one palette.
type variables struct {
	values map[string]string
	path   []string
	spent  int
}

// variablesOf gathers the entries that are variables; nil when there are none.
func variablesOf(entries []Entry) *variables {
	v := &variables{values: map[string]string{}}
	for _, e := range entries {
		if strings.HasPrefix(e.Token, "--") {
			v.values[e.Token] = e.Value
		}
	}
	return v
}

// resolve replaces every var() in a value. On an error the value is to be kept as it was.
func (v *variables) resolve(value string) (string, error) {
	if !strings.Contains(value, "var(") {
		return value, nil
	}
	v.path, v.spent = v.path[:0], 0
	return v.expand(value)
}

func (v *variables) expand(value string) (string, error) {
	if len(v.path) > 100 {
		return "", errors.New("variables are nested more than 100 levels deep")
	}
	for {
		start := strings.Index(value, "var(")
		if start < 0 {
			return value, nil
		}
		name, fallback, has, end := cutVar(value, start+4)
		if end < 0 {
			return value, nil
		}
		got, err := v.lookup(name, fallback, has)
		if err != nil {
			return "", err
		}
		value = value[:start] + got + value[end:]
		if v.spent += len(value); len(value) > maxValue || v.spent > 64*maxValue {
			return "", errors.New("the value is too long")
		}
	}
}

// cutVar splits what stands between the parentheses of a var() into name and fallback.
func cutVar(s string, from int) (name, fallback string, has bool, end int) {
	depth, comma := 1, -1
	for i := from; i < len(s); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth > 0 {
				continue
			}
			if comma >= 0 {
				return strings.TrimSpace(s[from:comma]), strings.TrimSpace(s[comma+1 : i]), true, i + 1
			}
			return strings.TrimSpace(s[from:i]), "", false, i + 1
		case ',':
			if depth == 1 && comma < 0 {
				comma = i
			}
		}
	}
	return "", "", false, -1
}

// undefinedError is the name of a variable that nothing defines.
type undefinedError string

func (e undefinedError) Error() string { return "variable " + string(e) + " is not defined" }

// help says what to do about an error of resolve.
func (v *variables) help(err error) string {
	var name undefinedError
	if !errors.As(err, &name) {
		return "give one of them a colour of its own"
	}
	if near := nearest(string(name), slices.Sorted(maps.Keys(v.values))); near != "" {
		return "did you mean " + near + "?"
	}
	return "define it in the palette, or give a fallback: var(" + string(name) + ", red)"
}

func (v *variables) lookup(name, fallback string, has bool) (string, error) {
	if !strings.HasPrefix(name, "--") {
		name = "--" + name
	}
	if slices.Contains(v.path, name) {
		return "", fmt.Errorf("variable %s refers to itself", name)
	}
	value, ok := v.values[name]
	if !ok && !has {
		return "", undefinedError(name)
	}
	if !ok {
		return v.expand(fallback)
	}
	v.path = append(v.path, name)
	out, err := v.expand(value)
	v.path = v.path[:len(v.path)-1]
	return out, err
}
