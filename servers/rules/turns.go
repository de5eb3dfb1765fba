package rules

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// Bounds of what a script or a target runs in turn.
const (
	mostTurns = 32  // files
	mostNamed = 256 // places that are looked at for them
)

// turn is a file that may be run.
type turn struct {
	path, text string
}

// inTurn are the files of a project that a text names in a folder and that may be run, and those that these name in
// turn. What is not named by its path is not among them.
func inTurn(project, folder, text string) (all []turn) {
	seen, left := map[string]bool{}, mostScripts
	for todo := []turn{{path.Join(folder, "."), text}}; len(todo) > 0; todo = todo[1:] {
		before := ""
		for _, w := range strings.FieldsFunc(todo[0].text, endsPath) {
			var names []string
			switch entered := slices.Contains([]string{"cd", "pushd", "-C", "--prefix", "--cwd", "--dir", "--directory"}, before); {
			case entered:
				for _, name := range []string{"GNUmakefile", "makefile", "Makefile", "justfile", "Justfile", ".justfile", "package.json"} {
					names = append(names, path.Join(w, name))
				}
			case strings.Contains(w, "/") || slices.Contains(scriptEnds, path.Ext(w)):
				names = []string{w}
			}
			before = w
			for _, name := range names {
				for _, base := range []string{folder, todo[0].path} { // as a shell finds it, or beside the file that names it
					at := path.Join(base, name) // "$DIR/a.sh" is taken apart, and its end is "/a.sh"
					if path.IsAbs(name) && within(project, path.Clean(name)) {
						at = path.Clean(name)
					}
					if seen[at] || !within(project, at) {
						continue
					}
					if seen[at] = true; len(seen) > mostNamed || len(all) == mostTurns {
						return all
					}
					if one, is := runnable(project, at, len(names) > 1, left); is {
						left -= len(one.text)
						all = append(all, one)
						todo = append(todo, turn{path.Dir(one.path), one.text})
					}
				}
			}
		}
	}
	return all
}

// scriptEnds are those of files that are run without being executable.
var scriptEnds = []string{".sh", ".bash", ".zsh", ".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".py", ".rb", ".pl", ".php", ".lua", ".mk", ".ps1", ".bat", ".cmd"}

// endsPath reports whether a character is none of a path that is written without quotes.
func endsPath(r rune) bool {
	return r <= ' ' || strings.ContainsRune("'\"`$(){}[]<>;&|,=:!*?#\\%^", r)
}

// runnable is a file of a project as far as it may be run. Of one that is no text, is too long or is a link out of the
// project, the text says only that.
func runnable(project, at string, always bool, most int) (turn, bool) {
	name := filepath.FromSlash(at)
	info, err := os.Stat(name)
	to, linkErr := filepath.EvalSymlinks(name)
	switch {
	case err != nil || linkErr != nil || info.IsDir():
		return turn{}, false
	case slashed(to) != at && !within(project, slashed(to)):
		return turn{at, fmt.Sprintln("a link to", to, info.Size(), info.ModTime().UnixNano())}, true
	case !always && info.Mode()&0o111 == 0 && !slices.Contains(scriptEnds, path.Ext(at)):
		return turn{}, false
	}
	b, err := file.Read(to, int64(most))
	if at = slashed(to); err != nil || !utf8.Valid(b) {
		return turn{at, fmt.Sprintln("not read:", info.Size(), info.ModTime().UnixNano())}, true
	}
	return turn{at, string(b)}, true
}
