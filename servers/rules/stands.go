package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// mostScripts is how long a file of scripts or targets may be, in bytes.
const mostScripts = 1 << 20

// Stood is what a name for a script or a target stands for.
type Stood struct {
	Hash string // "" if there is no such name, or it is not certain which file that is
	Text string
	Also []string // the files of the project that it runs in turn
}

// Stands returns what a segment's name for a script or a target stands for now, in a project: the script in
// package.json with those around it and those that it names, or the file with the targets of make or just, and the
// files that any of these run in turn.
func (s *Segment) Stands(project string) Stood {
	if s.In == "" || project == "" || !within(project, s.In) || len(s.Words) == 0 || slices.Contains(s.Words, "") || slices.ContainsFunc(s.Words[1:], leadsAway) {
		return Stood{}
	}
	switch s.Words[0] {
	case "make":
		return s.targets(project, "GNUmakefile", "makefile", "Makefile")
	case "just":
		return s.targets(project, "justfile", "Justfile", ".justfile")
	case "npm", "pnpm", "yarn":
		return s.script(project)
	}
	return Stood{}
}

// stood is what a name stands for by its parts, in a folder of a project, and by its text.
func stood(project, folder, text string, parts ...string) Stood {
	out := Stood{Text: text}
	for _, f := range inTurn(project, folder, text) {
		parts, out.Also = append(parts, f.path, f.text), append(out.Also, f.path)
		out.Text += under(project, path.Dir(f.path), path.Base(f.path)) + f.text
	}
	out.Hash = hashed(parts...)
	return out
}

// Scripts reports whether a path is that of a file for which names of scripts or targets stand.
func Scripts(p string) bool {
	return slices.Contains([]string{"package.json", "gnumakefile", "makefile", "justfile", ".justfile"}, strings.ToLower(path.Base(p)))
}

// leadsAway reports whether a word may name another folder or file, or be a variable of make.
func leadsAway(w string) bool {
	name, _, value := strings.Cut(w, "=")
	return strings.HasPrefix(name, "-") && (value && len(name) == 2 || slices.Contains([]string{
		"-C", "-f", "-I", "-w", "-d", "--directory", "--file", "--makefile", "--include-dir", "--prefix", "--cwd", "--dir", "--workspace", "--workspaces", "--filter", "--justfile", "--working-directory", "-r", "--recursive",
	}, name) || len(w) > 2 && w[1] != '-' && strings.ContainsAny(w[1:], "CfIwdr")) || value && !strings.HasPrefix(name, "-")
}

// targets are the first of some files in the folder.
func (s *Segment) targets(project string, names ...string) Stood {
	for _, name := range names {
		switch b, err := file.Read(filepath.FromSlash(path.Join(s.In, name)), mostScripts); {
		case err == nil:
			return stood(project, s.In, under(project, s.In, name)+string(b), path.Join(s.In, name), string(b))
		case !errors.Is(err, fs.ErrNotExist):
			return Stood{}
		}
	}
	return Stood{}
}

// under is the heading of a file.
func under(project, folder, name string) string {
	return strings.TrimPrefix(path.Join(folder, name), project+"/") + ":\n"
}

// script is a script of the nearest package.json.
func (s *Segment) script(project string) Stood {
	rest := slices.DeleteFunc(slices.Clone(s.Words[1:]), func(w string) bool { return w[0] == '-' })
	if len(rest) > 0 && (rest[0] == "run" || rest[0] == "run-script") {
		rest = rest[1:]
	} else if len(rest) > 0 && s.Words[0] == "npm" && rest[0] != "test" && rest[0] != "start" {
		return Stood{}
	}
	if len(rest) == 0 {
		return Stood{}
	}
	for at := s.In; within(project, at); at = path.Dir(at) {
		b, err := file.Read(filepath.FromSlash(path.Join(at, "package.json")), mostScripts)
		if errors.Is(err, fs.ErrNotExist) && !hasAny(at, "package.yaml", "package.json5", "node_modules") { // else the folder is one of scripts all the same
			continue
		}
		name := rest[0]
		scripts, ok := scriptsOf(b)
		if err != nil || !ok || scripts.Str(name) == "" {
			return Stood{}
		}
		all, text := []string{at}, under(project, at, "package.json")
		names := []string{name}
		for i := 0; i < len(names); i++ {
			for _, name := range []string{"pre" + names[i], names[i], "post" + names[i]} {
				script := scripts.Str(name)
				if all = append(all, script); script != "" {
					text += name + ": " + script + "\n"
				}
				words := strings.FieldsFunc(script, func(r rune) bool { return r <= ' ' || strings.ContainsRune("'\"&;|()", r) })
				for _, other := range scripts { // "npm run build && run-p lint:*"
					if !slices.Contains(names, other.Key) && slices.ContainsFunc(words, func(w string) bool {
						is, _ := path.Match(w, other.Key) // what is no pattern matches nothing
						return is && w[0] != '*'
					}) {
						names = append(names, other.Key)
					}
				}
			}
		}
		return stood(project, at, text, all...)
	}
	return Stood{}
}

func hasAny(folder string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, err := os.Lstat(filepath.FromSlash(path.Join(folder, name)))
		return !errors.Is(err, fs.ErrNotExist)
	})
}

// scriptsOf are the scripts of a package.json, by their exact names; false if it can be read in several ways.
func scriptsOf(b []byte) (rawjson.Object, bool) {
	all, err := rawjson.Parse(b)
	if err != nil {
		return nil, false
	}
	scripts, err := rawjson.SplitObject(all.Get("scripts"))
	return scripts, err == nil
}

func hashed(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	const enough = 16
	return hex.EncodeToString(sum[:enough])
}
