package compare

import (
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/outline"
)

// typeOfMember is the type of a member.
func typeOfMember(m outline.Member) string {
	_, text, _ := strings.Cut(m.Text, ":")
	return strings.TrimRight(strings.TrimSpace(text), ";,")
}

// lostOf is what a union type has no more.
func lostOf(was, is outline.Decl) string {
	if was.Kind != "type" || is.Kind != "type" {
		return ""
	}
	_, before, _ := strings.Cut(was.Head, " = ")
	_, after, _ := strings.Cut(is.Head, " = ")
	return lost(before, after, false)
}

// lost are the members of a union type that are gone, while others stay; "" for none. With
// optional, undefined counts as there.
func lost(before, after string, optional bool) string {
	was, is := union(before), union(after)
	if len(was) < 2 || strings.HasSuffix(before, "…") || strings.HasSuffix(after, "…") {
		return ""
	}
	if slices.Contains(is, "boolean") {
		is = append(is, "true", "false")
	}
	if optional {
		is = append(is, "undefined")
	}
	gone := slices.DeleteFunc(slices.Clone(was), func(m string) bool {
		return slices.Contains(is, m) || m == "boolean" && slices.Contains(is, "true") && slices.Contains(is, "false") ||
			slices.Contains(is, "string") && strings.HasPrefix(m, "'") || slices.Contains(is, "any") || slices.Contains(is, "unknown")
	})
	if len(gone) == 0 || len(gone) == len(was) {
		return ""
	}
	return strings.Join(gone, " | ")
}

// union are the members of a union type, text in single quotes.
func union(text string) []string {
	var out []string
	depth, from := 0, 0
	quote := byte(0)
	add := func(part string) {
		part = strings.TrimSpace(part)
		if len(part) > 1 && part[0] == '"' && part[len(part)-1] == '"' {
			part = "'" + part[1:len(part)-1] + "'"
		}
		if part != "" {
			out = append(out, part)
		}
	}
	for i := range len(text) {
		switch b := text[i]; {
		case quote != 0:
			if b == quote {
				quote = 0
			}
		case strings.IndexByte("'\"`", b) >= 0:
			quote = b
		case strings.IndexByte("([{<", b) >= 0:
			depth++
		case b == '>' && i > 0 && text[i-1] == '=': // an arrow: its result may be a union itself
			return []string{text}
		case strings.IndexByte(")]}>", b) >= 0:
			depth--
		case (b == '&' || b == '?') && depth == 0: // not a union alone
			return []string{text}
		case b == '|' && depth == 0:
			add(text[from:i])
			from = i + 1
		}
	}
	add(text[from:])
	return out
}
