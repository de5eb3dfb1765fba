package manifest

import (
	"bytes"
	"context"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// leaveOut sorts out the links to folders outside: those of which no text that the
// TypeScript compiler may read says that it imports something there are left out, as the
// CLI lists nothing behind a link. texts are those files.
func (m *Manifest) leaveOut(ctx context.Context, folders []Link, texts []place) {
	mentioned := map[string]bool{}
	for _, at := range texts {
		if len(folders) == 0 || ctx.Err() != nil {
			break
		}
		data, err := at.read()
		if err != nil {
			continue
		}
		for _, l := range folders {
			if !mentioned[l.Path] && (mentions(data, path.Base(l.Path)) || mentions(unescape(data), path.Base(l.Path))) {
				mentioned[l.Path] = true
			}
		}
	}
	for _, l := range folders {
		// Other letters have more than one spelling.
		if mentioned[l.Path] || ctx.Err() != nil || strings.ContainsFunc(l.Path, func(r rune) bool { return r > '~' }) {
			m.Outside = append(m.Outside, l)
		} else {
			m.LeftOut = append(m.LeftOut, l)
		}
	}
}

// isText reports whether the compiler may read a file of this name for an import.
func isText(name string) bool {
	switch path.Ext(name) {
	case ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs":
		return true
	}
	return false
}

// mentions reports whether a text has a name as a step of a path: behind a slash or a quote
// and before one, in any case, since some file systems make no difference.
func mentions(text []byte, name string) bool {
	const before, after = "/\\'\"`=", "/\\'\"`"
	lower, want := bytes.ToLower(text), bytes.ToLower([]byte(name))
	for at := 0; ; {
		i := bytes.Index(lower[at:], want)
		if i < 0 {
			return false
		}
		from := at + i
		to := from + len(want)
		at = from + 1
		if from == 0 || to == len(lower) || strings.IndexByte(before, lower[from-1]) < 0 || strings.IndexByte(after, lower[to]) < 0 {
			continue
		}
		if step := lower[from-1] == '/' || lower[to] == '/' || lower[from-1] == '\\' || lower[to] == '\\'; step {
			return true
		}
	}
}

// unescape spells out the escapes that a text in quotes may have.
func unescape(text []byte) []byte {
	if bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	escape := regexp.MustCompile(`\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|u\{0*([0-9A-Fa-f]{1,6})\}|([0-7]{1,3})|(\r?\n|[^\r\nxu0-7]))`)
	return escape.ReplaceAllFunc(text, func(found []byte) []byte {
		parts := escape.FindSubmatch(found)
		for i, base := range []int{1: 16, 2: 16, 3: 16, 4: 8} {
			if base == 0 || parts[i] == nil {
				continue
			}
			n, err := strconv.ParseUint(string(parts[i]), base, 21)
			if err != nil {
				return found
			}
			return []byte(string(rune(n)))
		}
		return bytes.TrimSpace(parts[5])
	})
}
