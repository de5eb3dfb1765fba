package contract

import (
	"path"
	"slices"
	"strings"
)

// idRules turn the ids of any version into slash paths below the project.
type idRules struct {
	prefixes []string
	folders  []string
	files    []string
}

func slashes(p string) string {
	p = strings.ReplaceAll(p, `\`, "/")
	if len(p) > 1 && p[1] == ':' {
		p = strings.ToLower(p[:1]) + p[1:]
	}
	return p
}

func isAbsolute(p string) bool {
	return strings.HasPrefix(p, "/") || (len(p) > 2 && p[1] == ':' && p[2] == '/')
}

// relative gives an id's path below the project. An absolute id loses the
// project's path; where that is unknown, the longest tail that lies in a folder
// of the index is kept.
func (r idRules) relative(id string) string {
	id = slashes(id)
	if !isAbsolute(id) {
		for strings.HasPrefix(id, "./") {
			id = id[2:]
		}
		return id
	}
	if rest, ok := r.below(id); ok {
		return rest
	}
	best := ""
	for _, folder := range r.folders {
		tail := tailIn(path.Dir(id), folder)
		if tail != "" && len(tail) > len(best) {
			best = tail
		}
	}
	if best != "" {
		return best + "/" + path.Base(id)
	}
	if slices.Contains(r.folders, ".") {
		return path.Base(id)
	}
	return id
}

// below is what of an absolute path follows the project's.
func (r idRules) below(p string) (rest string, ok bool) {
	for _, prefix := range r.prefixes {
		if prefix = strings.TrimSuffix(prefix, "/"); prefix == "" {
			continue
		}
		if rest, ok = strings.CutPrefix(p, prefix+"/"); ok {
			return rest, true
		}
	}
	return "", false
}

// tailIn gives the tail of dir that starts at folder, "" when there is none.
func tailIn(dir, folder string) string {
	if folder == "." {
		return ""
	}
	at := strings.LastIndex(dir+"/", "/"+folder+"/")
	if at < 0 {
		return ""
	}
	return dir[at+1:]
}

// relativeImports makes the file names in `import("…")` inside a type relative
// to the project, so that one tree says the same wherever it lies.
func (r idRules) relativeImports(text string) string {
	const open = `import("`
	if !strings.Contains(text, open) {
		return text
	}
	parts := strings.Split(text, open)
	for i, part := range parts[1:] {
		if name, rest, ok := strings.Cut(part, `"`); ok {
			parts[i+1] = r.relativeFile(name) + `"` + rest
		}
	}
	return strings.Join(parts, open)
}

// relativeFile is relative for the name of a module, which has no extension; a
// name outside the project stays as it is.
func (r idRules) relativeFile(name string) string {
	name = slashes(name)
	if !isAbsolute(name) {
		return name
	}
	if rest, ok := r.below(name); ok {
		return rest
	}
	for _, file := range r.files {
		stem := strings.TrimSuffix(file, path.Ext(file))
		if strings.HasSuffix(name, "/"+stem) {
			return stem
		}
	}
	return name
}
