package humanize

import (
	"path/filepath"
	"strings"
)

// Tilde writes the user's home, and a path below it, as one that begins with ~. An empty home is none.
func Tilde(path, home string) string {
	if rest, ok := strings.CutPrefix(path, home); ok && home != "" && (rest == "" || rest[0] == filepath.Separator) {
		return "~" + filepath.ToSlash(rest)
	}
	return path
}
