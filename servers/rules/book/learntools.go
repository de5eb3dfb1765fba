package book

import (
	"encoding/json"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// Limits of rules for calls by their arguments.
const (
	mostArgs = 4
	mostArg  = 80 // bytes
)

// toolRules are the rules that may be made of what runs no command, the narrowest first: this file, its folder, and the
// folder of the project that it is in; the host of a page; a call with its arguments, and with any.
func toolRules(q *Request) (all []Rule) {
	switch q.Kind() {
	case OfEdits:
		for _, below := range foldersOf(q.Edits) {
			all = append(all, Rule{Edit: &Edit{Below: below, Make: q.Edits.Files[0].Make}})
		}
	case OfPages:
		if u, err := url.Parse(q.Fetch); err == nil {
			all = append(all, Rule{Fetch: &Fetch{Hosts: []string{strings.ToLower(u.Host)}}})
		}
	case OfCalls:
		c := q.Call
		if args := fixed(c.Args); len(args) > 0 {
			all = append(all, Rule{MCP: &MCP{Server: c.Server, Tool: c.Tool, Args: args, Alone: true}})
		}
		all = append(all, Rule{MCP: &MCP{Server: c.Server, Tool: c.Tool}})
	case OfCommands:
	}
	return slices.DeleteFunc(all, func(r Rule) bool { return !r.plain() })
}

// plainName is a name that cannot be taken for other words of a rule: it comes from an agent.
var plainName = regexp.MustCompile(`^[\pL\pN_./@+-]+$`)

// plainHost is a host by a name of several parts, which is no address.
var plainHost = regexp.MustCompile(`^([a-z0-9-]+\.)+[a-z][a-z0-9-]*(:[0-9]+)?$`)

func (r *Rule) plain() bool {
	switch {
	case r.Edit != nil:
		return plainName.MatchString(r.Edit.Below)
	case r.Fetch != nil:
		return plainHost.MatchString(r.Fetch.Hosts[0])
	case r.MCP != nil:
		for at, c := range r.MCP.Args {
			if !plainName.MatchString(at) || strings.ContainsFunc(c, func(c rune) bool { return !unicode.IsPrint(c) }) {
				return false
			}
		}
		return plainName.MatchString(r.MCP.Server) && plainName.MatchString(r.MCP.Tool)
	}
	return true
}

// foldersOf are the file that is edited, its folder, and the folder of the project that it is in. The project itself is
// named only for a file that is in no other folder of it.
func foldersOf(e *Edits) (all []string) {
	if e.Partial || len(e.Files) != 1 || e.Files[0].Delete || e.In.Root == "" || !below(e.In.Root, e.Files[0].Path) {
		return nil
	}
	file := strings.TrimPrefix(path.Clean(e.Files[0].Path), strings.TrimSuffix(e.In.Root, "/")+"/")
	top, _, _ := strings.Cut(file, "/")
	folder := path.Dir(file)
	if folder == "." {
		top = folder
	}
	return slices.Compact([]string{file, folder, top})
}

// isWhole reports whether a rule is for the one file of a request, or for the whole project: no habit is so narrow, or
// so wide.
func (r *Rule) isWhole(q *Request) bool {
	return r.Edit != nil && (r.Edit.Below == "." || path.Join(q.Edits.In.Root, r.Edit.Below) == path.Clean(q.Edits.Files[0].Path))
}

// fixed are conditions for all arguments of a call; nil if they are too many, or none is plain.
func fixed(raw json.RawMessage) map[string]string {
	o, err := rawjson.SplitObject(raw)
	if err != nil || len(o) > mostArgs {
		return nil
	}
	out := map[string]string{}
	for _, m := range o {
		text, err := rawjson.Text(m.Value)
		if err != nil {
			text = string(m.Value)
		}
		if len(text) > mostArg || err != nil && strings.ContainsAny(text[:1], "[{n") {
			return nil
		}
		out[pointerTo(m.Key)] = "=" + text
	}
	return out
}

// Text is what a request is about.
func (q *Request) Text() string {
	switch q.Kind() {
	case OfCommands:
		return q.Reading.Text
	case OfEdits:
		var all []string
		for _, f := range q.Edits.Files {
			all = append(all, f.Path)
		}
		return strings.Join(all, ", ")
	case OfPages:
		return q.Fetch
	case OfCalls:
		return q.Call.Tool + " of " + q.Call.Server
	}
	return ""
}

// anywhere is a tool's rule for all agents to which the user has allowed the same, and that of a page for all projects if
// that was in several. A folder is one of its project, and so may a server be that is not another one by the same name.
func (r *Rule) anywhere(past []Past) Rule {
	out, open, projects := *r, *r, map[string]bool{}
	out.Agent = slices.Clone(r.Agent)
	open.Agent, open.Project = nil, ""
	for i := range past {
		p := &past[i]
		if f, _ := open.fits(&p.Request); !p.Allowed || f != sure {
			continue
		}
		projects[p.Project] = true
		if !slices.Contains(out.Agent, p.Agent) {
			out.Agent = append(out.Agent, p.Agent)
		}
	}
	slices.Sort(out.Agent)
	if len(projects) > 1 && r.Fetch != nil {
		out.Project = ""
	}
	return out
}
