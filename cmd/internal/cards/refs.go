package cards

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

// refs converts the references in a client's entries into the variables of a card.
type refs struct {
	ways   clients.Refs
	card   string            // name of the card, used in names of secrets
	inputs map[string]Lack   // inputs of the file, by ID
	values map[string]string // the user's values, by ID of the input
	lacks  []Lack
	err    error
}

// Lack is a value that a client asks its user for and that an import needs.
type Lack struct {
	ID, Description, Default string
	Secret                   bool
}

// text converts a string of an entry for a card.
func (r *refs) text(s string) string {
	return regexp.MustCompile(`\$\{[^}]*\}|\$\([^)]*\)|\$[A-Za-z_][A-Za-z0-9_]*|\{(?:env|file):[^}]*\}`).ReplaceAllStringFunc(s, func(whole string) string {
		out, ok := r.one(whole)
		switch {
		case !ok && r.err == nil:
			r.err = fmt.Errorf("it refers to %s, which mcpdeck cannot replace", whole)
		case out == whole && r.ways&clients.RefEditor == 0 && isVariable(whole) && r.err == nil:
			r.err = fmt.Errorf("it has %s, which its client does not expand but mcpdeck would", whole)
		}
		return out
	})
}

func isVariable(s string) bool {
	return regexp.MustCompile(`^\$\{(root|home|secret:.*|env:.*)\}$`).MatchString(s)
}

// one converts one reference; it returns false if that is impossible. Text that the client
// would not treat as a reference is left unchanged.
func (r *refs) one(whole string) (string, bool) {
	variable := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(:-.*)?$`)
	switch inner := strings.Trim(whole, "${}"); {
	case strings.HasPrefix(whole, "$("):
		return whole, r.ways&clients.RefShell == 0
	case strings.HasPrefix(whole, "{"):
		name, env := strings.CutPrefix(inner, "env:")
		if r.ways&clients.RefCurly == 0 {
			return whole, true
		}
		return "${env:" + name + "}", env
	case !strings.HasPrefix(whole, "${"):
		if r.ways&clients.RefBare == 0 {
			return whole, true
		}
		return "${env:" + inner + "}", true
	case r.ways&clients.RefEditor != 0:
		return r.editor(inner)
	case r.ways&clients.RefBraces != 0 && variable.MatchString(inner):
		if inner == "PWD" {
			return "${root}", true
		}
		return "${env:" + inner + "}", true
	}
	return whole, true
}

// editor converts the predefined variables of editors.
func (r *refs) editor(inner string) (string, bool) {
	kind, rest, _ := strings.Cut(inner, ":")
	switch kind {
	case "env":
		return "${env:" + rest + "}", rest != ""
	case "workspaceFolder", "workspaceRoot":
		return "${root}", rest == ""
	case "userHome":
		return "${home}", true
	case "/", "pathSeparator":
		return "/", true
	case "input":
		return r.input(rest), true
	}
	return "", false
}

// input converts a reference to a value that the client asks its user for.
func (r *refs) input(id string) string {
	in, known := r.inputs[id]
	if v, ok := r.values[id]; ok {
		return v
	}
	in.ID = id
	switch {
	case in.Secret || !known:
		return "${secret:" + r.card + "-" + nameFrom(id) + "}"
	case in.Default != "":
		return in.Default
	}
	if !slices.ContainsFunc(r.lacks, func(l Lack) bool { return l.ID == id }) {
		r.lacks = append(r.lacks, in)
	}
	return ""
}

// inputsOf returns the inputs that a file declares, in VS Code's format.
func inputsOf(file map[string]any) map[string]Lack {
	out := map[string]Lack{}
	all, _ := file["inputs"].([]any)
	for _, v := range all {
		m, _ := v.(map[string]any)
		id, _ := m["id"].(string)
		l := Lack{ID: id}
		l.Description, _ = m["description"].(string)
		l.Default, _ = m["default"].(string)
		l.Secret, _ = m["password"].(bool)
		out[id] = l
	}
	return out
}

// shellWords splits a command line like a shell, without expansion. It returns false if
// running the command requires a shell.
func shellWords(line string) ([]string, bool) {
	var out []string
	var word strings.Builder
	var quote rune
	open, escaped := false, false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case quote == '\'' && r != '\'', quote == '"' && r != '"' && r != '\\' && r != '$' && r != '`':
			word.WriteRune(r)
		case r == quote:
			quote = 0
		case r == '\\':
			open, escaped = true, true
		case quote == 0 && (r == '\'' || r == '"'):
			open, quote = true, r
		case quote == 0 && (r == ' ' || r == '\t'):
			if open {
				out = append(out, word.String())
				word.Reset()
				open = false
			}
		case strings.ContainsRune("$`|&;<>()*?[]#\n", r):
			return nil, false
		default:
			open = true
			word.WriteRune(r)
		}
	}
	if open {
		out = append(out, word.String())
	}
	return out, quote == 0 && !escaped
}
