package child

import (
	"slices"
	"strings"
	"time"
)

// reason returns the line that best explains why the program ended, of those it wrote
// since then that say at least so much; "" if there is none. What comes last is often a page
// of usage or a wrapper's farewell, so the first line that names a cause counts, and the last
// one only without it.
func (l *Log) reason(from string, since time.Time, least weight) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var best weight
	text := ""
	for _, line := range slices.Concat(l.lines, l.counted()) {
		if line.From != from || line.Time.Before(since) || strings.TrimSpace(line.Text) == "" {
			continue
		}
		if w := weighed(line.Text); w >= least && (w > best || w == words && best == words) {
			best, text = w, line.Text
		}
	}
	return strings.TrimSpace(text)
}

// weight is how much a line tells of why a program ended.
type weight int

const (
	words    weight = iota + 1 // it wrote something
	trouble                    // something is wrong
	mistake                    // it calls it an error
	variable                   // it says which variable it needs
)

// weighed weighs a line of a program's stderr.
func weighed(line string) weight {
	line = strings.TrimSpace(line)
	low := strings.ToLower(line)
	for _, start := range []string{"npm error ", "npm err! "} {
		if said, ok := strings.CutPrefix(low, start); ok {
			if strings.HasPrefix(said, "code ") || strings.HasPrefix(said, "a complete log") {
				return words
			}
			return mistake
		}
	}
	switch {
	case startsWith(low, "at ", "throw ", "file \"", "traceback ", "usage:", "npm ", "during handling of") || contains(low, "warning", "[warn", "warn:", "deprecat"):
		return words
	case namesVariable(line) && contains(low, "required", "missing", "must ", "not set", "unset", "undefined", "not defined", "not found", "not provided", "not configured", "provide", "need", "invalid", "empty", "expected") &&
		!contains(low, "running", "continuing", "optional", "default", "falling back", "fallback", "ignor"):
		return variable
	case isError(low):
		return mistake
	case contains(low, "cannot ", "can't ", "could not ", "unable to ", "missing", "required", "no such ", "not found", "not set", "denied", "refused", "invalid", "failed", "please provide", "please set", "unauthorized", "forbidden", "unknown option", "unrecognized"):
		return trouble
	}
	return words
}

func startsWith(s string, starts ...string) bool {
	return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(s, start) })
}

func contains(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(s, part) })
}

// isError reports whether a line in lower case has a label such as "TypeError:" or
// "[error]", with something behind it.
func isError(low string) bool {
	if startsWith(low, "[error] ", "error ", "fatal ", "panic ") {
		return true
	}
	for at := 0; ; {
		i := strings.Index(low[at:], ": ")
		if i < 0 {
			return false
		}
		label := low[at : at+i]
		at += i + 2
		if j := strings.LastIndex(label, " ["); j >= 0 && strings.HasSuffix(label, "]") { // Node's codes
			label = label[:j]
		}
		for _, end := range []string{"error", "exception", "fatal", "panic", "failed"} {
			if strings.HasSuffix(strings.TrimRight(label, "]"), end) && strings.TrimSpace(low[at:]) != "" {
				return true
			}
		}
	}
}

// namesVariable reports whether a line has a word such as BRAVE_API_KEY.
func namesVariable(line string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(line, func(r rune) bool {
		return r != '_' && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	}), func(word string) bool {
		word = strings.Trim(word, "_")
		return strings.Contains(word, "_") && word == strings.ToUpper(word) && strings.ContainsAny(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	})
}
