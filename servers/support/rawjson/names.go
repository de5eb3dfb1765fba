package rawjson

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Rule says what the names in an object may be, so that no two readers can take
// different members for the same one: encoding/json does not tell "name" from
// "Name" and lets the last of several win, other readers do and take the first.
type Rule struct {
	// Fold makes names that encoding/json does not tell apart count as the same.
	// Otherwise only those that are spelled the same do.
	Fold bool
	// Known are names that some reader knows, from [Names]. One that folds to them
	// and is spelled otherwise is refused.
	Known map[string]string
	// Inner are the rules of objects in the values of some names, Rest that of
	// all others; nil is any names that are not repeated.
	Inner map[string]*Rule
	Rest  *Rule
}

// Fold returns a name as encoding/json compares it with the names of fields: two
// have the same folded form when strings.EqualFold says that they are equal.
func Fold(name string) string {
	plain := true
	for i := range len(name) {
		if c := name[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			plain = false
			break
		}
	}
	if plain {
		return name
	}
	var b strings.Builder
	for _, r := range name {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		if 'A' <= least && least <= 'Z' {
			least += 'a' - 'A'
		}
		b.WriteRune(least)
	}
	return b.String()
}

// Names are names by their folded forms, for Rule.Known.
func Names(list ...string) map[string]string {
	known := make(map[string]string, len(list))
	for _, name := range list {
		known[Fold(name)] = name
	}
	return known
}

// level is an object or array that has begun.
type level struct {
	rule   *Rule
	inner  *Rule // of the value at hand
	object bool
	first  int             // of its names, in those of all levels
	many   map[string]bool // nil: they are few
}

// Check holds the names of valid JSON against a rule, however deep they lie, in
// one pass.
func (r *Rule) Check(raw []byte) error {
	const usual, usualNames = 4, 16
	stack, names := make([]level, 0, usual), make([]string, 0, usualNames)
	next := r // the rule of an object that begins here
	for i := space(raw, 0); i < len(raw); i = space(raw, i) {
		var top *level
		if len(stack) > 0 {
			top = &stack[len(stack)-1]
			next = top.inner
		}
		switch raw[i] {
		case '{', '[':
			stack = append(stack, level{rule: next, inner: next, object: raw[i] == '{', first: len(names)})
			i++
		case '}', ']':
			if top != nil {
				names, stack = names[:top.first], stack[:len(stack)-1]
			}
			i++
		case ',', ':':
			i++
		case '"':
			end := End(raw, i)
			after := space(raw, end)
			if top != nil && top.object && after < len(raw) && raw[after] == ':' {
				name, err := top.member(raw[i:end], names[top.first:])
				if err != nil {
					return err
				}
				names = append(names, name)
				end = after + 1
			}
			i = end
		default:
			i = max(End(raw, i), i+1)
		}
	}
	return nil
}

// member returns a name as it is compared with those before it, and finds the rule of its value.
func (l *level) member(raw []byte, before []string) (same string, err error) {
	name, err := Text(raw)
	if err != nil {
		return "", err
	}
	same = name
	if l.rule != nil {
		if l.rule.Fold || l.rule.Known != nil {
			same = Fold(name)
		}
		if known, ok := l.rule.Known[same]; ok && known != name {
			return "", fmt.Errorf("the name %q can be read as %q; send %q, once", brief(name), known, known)
		}
		if !l.rule.Fold {
			same = name
		}
		l.inner = l.rule.Rest
		if inner, ok := l.rule.Inner[name]; ok {
			l.inner = inner
		}
	}
	if l.seen(same, before) {
		return "", fmt.Errorf("duplicate name %q in one object; send it once", brief(name))
	}
	return same, nil
}

// seen tells whether a name stands among those before it.
func (l *level) seen(name string, before []string) bool {
	const few = 16
	if len(before) < few {
		return slices.Contains(before, name)
	}
	if l.many == nil {
		l.many = make(map[string]bool, 2*few)
		for _, n := range before {
			l.many[n] = true
		}
	}
	if l.many[name] {
		return true
	}
	l.many[name] = true
	return false
}

// brief is a name as an error shows it.
func brief(name string) string {
	const most = 64
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + "…"
}
