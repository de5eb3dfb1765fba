package ask

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// recommended parses the recommended option as models write it: an index, an index in a
// string, a label, or, for multi, a list of these. If the value is anything else,
// labels that contain the word in brackets count.
func recommended(v any, options []Option, multi bool) []int {
	var found []int
	add := func(v any) {
		if n := recommendedOne(v, options); n >= 0 {
			found = append(found, n)
		}
	}
	if list, ok := v.([]any); ok && multi {
		for _, v := range list {
			add(v)
		}
	} else {
		add(v)
	}
	if len(found) == 0 {
		for i, o := range options {
			if MarkedRecommended(o.Label) {
				found = append(found, i)
			}
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if !multi && len(found) > 1 {
		found = found[:1]
	}
	return found
}

// recommendedOne returns an index into options, -1 for none. A label takes precedence
// over an index: "2" for the options "1", "2", "3" means the label.
func recommendedOne(v any, options []Option) int {
	n := -1
	switch v := v.(type) {
	case json.Number:
		if i, ok := whole(v); ok {
			n = i
		}
	case string:
		if i := slices.IndexFunc(options, func(o Option) bool { return o.Label == v }); i >= 0 {
			return i
		}
		if v != "" && strings.Trim(v, "0123456789") == "" {
			if i, err := strconv.Atoi(v); err == nil {
				n = i
			}
		}
	}
	if n < 0 || n >= len(options) {
		return -1
	}
	return n
}

// MarkedRecommended reports whether a label contains "recommended" in brackets.
func MarkedRecommended(label string) bool {
	s := strings.ToLower(label)
	return strings.Contains(s, "(recommended)") || strings.Contains(s, "[recommended]")
}

// dropOther removes options that mean "something else", since there is a free-text row.
func (q *Question) dropOther() {
	if !q.AllowOther {
		return
	}
	kept := make([]Option, 0, len(q.Options))
	at := make(map[int]int, len(q.Options)) // old index → new
	for i, o := range q.Options {
		if isOther(o.Label) {
			continue
		}
		at[i] = len(kept)
		kept = append(kept, o)
	}
	if len(kept) == len(q.Options) {
		return
	}
	var rec []int
	for k, i := range q.Recommended {
		switch n, ok := at[i]; {
		case ok:
			rec = append(rec, n)
		case k == 0:
			q.OtherFirst = true
		}
	}
	q.Options, q.Recommended = kept, rec
}

func isOther(label string) bool {
	switch strings.ToLower(strings.TrimSpace(label)) {
	case "other", "other...", "other…", "other (type your own)":
		return true
	}
	return false
}

// lineEnds turns runs of CR and CRLF into LF.
func lineEnds(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\r' {
			b.WriteByte(s[i])
			continue
		}
		for i+1 < len(s) && s[i+1] == '\r' {
			i++
		}
		if i+1 < len(s) && s[i+1] == '\n' {
			i++
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// breaks is lineEnds, and turns backslash-n that a model escaped twice into
// line breaks when the text has no real one.
func breaks(s string) string {
	s = lineEnds(s)
	if strings.Contains(s, "\n") {
		return s
	}
	return strings.ReplaceAll(s, `\n`, "\n")
}
