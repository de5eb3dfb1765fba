package contract

import (
	"path"
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
	for _, prefix := range r.prefixes {
		prefix = strings.TrimSuffix(prefix, "/")
		if prefix == "" {
			continue
		}
		if rest, ok := strings.CutPrefix(id, prefix+"/"); ok {
			return rest
		}
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
	for _, folder := range r.folders {
		if folder == "." {
			return path.Base(id)
		}
	}
	return id
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
	var out strings.Builder
	for {
		at := strings.Index(text, open)
		if at < 0 {
			break
		}
		end := strings.IndexByte(text[at+len(open):], '"')
		if end < 0 {
			break
		}
		name := text[at+len(open) : at+len(open)+end]
		out.WriteString(text[:at+len(open)])
		out.WriteString(r.relativeFile(name))
		text = text[at+len(open)+end:]
	}
	out.WriteString(text)
	return out.String()
}

// relativeFile is relative for the name of a module, which has no extension; a
// name outside the project stays as it is.
func (r idRules) relativeFile(name string) string {
	name = slashes(name)
	if !isAbsolute(name) {
		return name
	}
	for _, prefix := range r.prefixes {
		if prefix == "" {
			continue
		}
		if rest, ok := strings.CutPrefix(name, strings.TrimSuffix(prefix, "/")+"/"); ok {
			return rest
		}
	}
	for _, file := range r.files {
		stem := strings.TrimSuffix(file, path.Ext(file))
		if strings.HasSuffix(name, "/"+stem) {
			return stem
		}
	}
	return name
}
