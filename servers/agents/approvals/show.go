package approvals

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// Outside is what the deck notices about a command or an edit that names a path elsewhere.
const Outside = "outside the project"

// Marks returns what the deck notices about a command that is to run for a project. It is
// no judgement of the command.
func Marks(command, project string) (all []string) {
	if sanitize.Hides(command) {
		all = append(all, "invisible characters")
	}
	for _, word := range strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n;|&<>()\"'=", r) }) {
		if strings.HasPrefix(word, "~") || word == ".." || strings.HasPrefix(word, "../") || strings.Contains(word, "/../") || filepath.IsAbs(word) && !file.Within(project, word) && !standard(word) {
			return append(all, Outside)
		}
	}
	return all
}

// standard reports whether a path names no file: the null device, or a command's own
// streams.
func standard(path string) bool {
	return slices.Contains([]string{"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"}, path)
}

// Distinct numbers labels that stand twice, since answers name options by their labels.
func Distinct[T any](all []T, label func(*T) *string) {
	seen := map[string]bool{}
	for i := range all {
		to := label(&all[i])
		first := *to
		for n := 2; seen[*to]; n++ {
			*to = fmt.Sprintf("%s (%d)", first, n)
		}
		seen[*to] = true
	}
}

// Answerable reports whether the label of an answer names one of the options.
func Answerable(options []ask.Option) bool {
	labels := map[string]bool{}
	for _, o := range options {
		if o.Label == "" || labels[o.Label] {
			return false
		}
		labels[o.Label] = true
	}
	return len(options) <= ask.MaxOptions
}

// Unified writes the difference of two texts in the unified format.
func Unified(name, before, after string) string {
	text := string(diff.Diff(name, []byte(before), name, []byte(after)))
	return strings.TrimPrefix(text, "diff "+name+" "+name+"\n")
}
