package codex

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/rules/granted"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/tomledit"
)

// grants are how Codex keeps what it was allowed: rules on the first words of commands, of which the strictest
// counts, and the settings of its sandbox.
func grants() *granted.Model {
	return &granted.Model{
		Sources: func(in granted.Where) (all []granted.Source) {
			home := in.Folders.Program(agent)
			all = append(all, granted.Source{Root: home, Name: "config.toml", Scope: granted.User, Parse: parseConfig})
			add := func(root, dir string, scope granted.Scope, parse func([]byte) ([]granted.Entry, error)) {
				found, _ := filepath.Glob(filepath.Join(root, dir, "*.rules")) // what is odd in the path finds nothing
				for _, p := range found {
					all = append(all, granted.Source{Root: root, Name: path.Join(dir, filepath.Base(p)), Scope: scope, Parse: parse})
				}
			}
			add(home, "rules", granted.User, parseRules)
			trusted := trustedFolders(filepath.Join(home, "config.toml"))
			for _, root := range in.Projects {
				parse := parseRules
				if !trusted[root] {
					parse = parseIdle
				}
				add(root, ".codex/rules", granted.Project, parse)
			}
			return all
		},
		Refine: func(all []granted.Entry) {
			for i := range all {
				if e := &all[i]; e.Verdict == granted.Allow && e.Like.Tool == granted.Command {
					e.Mark(granted.Unsandboxed)
				}
			}
		},
	}
}

// trustedFolders are those whose own rules Codex obeys.
func trustedFolders(config string) map[string]bool {
	var set struct {
		Projects map[string]struct {
			Trust string `toml:"trust_level"`
		} `toml:"projects"`
	}
	text, err := file.Read(config, approvals.MostSettings)
	if err != nil || toml.Unmarshal(text, &set) != nil {
		return nil // the file is among those that are listed, or said not to be read
	}
	all := map[string]bool{}
	for folder, p := range set.Projects {
		all[filepath.FromSlash(folder)] = p.Trust == "trusted"
	}
	return all
}

// parseIdle reads the rules of a folder that is not trusted: they count once it is.
func parseIdle(text []byte) ([]granted.Entry, error) {
	all, err := parseRules(text)
	for i := range all {
		all[i].Mark(granted.Untrusted)
	}
	return all, err
}

func parseConfig(text []byte) (all []granted.Entry, err error) {
	t, err := tomledit.Parse(text)
	if err != nil {
		return nil, err
	}
	for _, e := range t.Entries {
		p := e.Path
		if e.Header || len(p) != 1 && (len(p) != 3 || p[0] != "profiles") {
			continue
		}
		value := strings.Trim(strings.TrimSpace(string(text[e.Value:e.End])), `"'`)
		one := granted.Entry{Verdict: granted.Allow, Text: strings.TrimSpace(string(text[e.Start:e.End])), Cuts: []granted.Span{{Start: e.Start, End: e.End}}}
		switch key := p[len(p)-1]; {
		case key == "approval_policy" && value == "never":
			one.Says = "whatever the sandbox lets through, without asking"
		case key == "sandbox_mode" && value == "danger-full-access":
			one.Says, one.Covers, one.Like.Tool = "every command, without a sandbox", func(granted.Call) bool { return true }, granted.Command
		case key == "sandbox_mode" && value == "workspace-write":
			one.Says, one.Covers = "edits of files in the project", func(c granted.Call) bool { return c.Tool == granted.Edit }
		default:
			continue
		}
		all = append(all, one)
	}
	return all, nil
}

// notPlain is why a file is shown and not edited.
const notPlain = "its file has more than plain rules; edit it by hand"

// parseRules reads the rules of a file, which is a Starlark program. In one that has more than plain calls, those
// calls are found that are plain.
func parseRules(text []byte) (all []granted.Entry, err error) {
	s := scanner{text: string(text)}
	plain := true
	for {
		t := s.next()
		if t.kind == end {
			break
		}
		if t.kind != word || t.text != "prefix_rule" && t.text != "host_executable" && t.text != "network_rule" {
			plain = false
			continue
		}
		start, at := t.start, s.at
		args, ok := s.arguments()
		if !ok {
			plain, s.at = false, at
			continue
		}
		if t.text != "prefix_rule" {
			continue
		}
		if e, ok := prefixRule(args); ok {
			e.Text, e.Cuts = string(text[start:s.at]), []granted.Span{{Start: start, End: s.at}}
			all = append(all, e)
		} else {
			plain = false
		}
	}
	for i := range all {
		if !plain {
			all[i].Fixed = notPlain
		}
	}
	return all, nil
}

func prefixRule(args map[string]any) (e granted.Entry, ok bool) {
	list, ok := args["pattern"].([]any)
	if !ok || len(list) == 0 {
		return e, false
	}
	var pattern [][]string
	var says []string
	for _, p := range list {
		var words []string
		switch p := p.(type) {
		case string:
			words = []string{p}
		case []any:
			for _, w := range p {
				text, ok := w.(string)
				if !ok {
					return e, false
				}
				words = append(words, text)
			}
		}
		if len(words) == 0 {
			return e, false
		}
		pattern, says = append(pattern, words), append(says, strings.Join(words, "|"))
		e.Like.Words = append(e.Like.Words, words[0])
	}
	switch args["decision"] {
	case nil, "allow":
		e.Verdict = granted.Allow
	case "prompt":
		e.Verdict = granted.Ask
	case "forbidden":
		e.Verdict = granted.Deny
	default:
		return e, false
	}
	e.Says, e.Like.Tool = "commands that begin with "+strings.Join(says, " "), granted.Command
	e.Covers = func(c granted.Call) bool {
		if c.Tool != granted.Command || len(c.Words) < len(pattern) {
			return false
		}
		for i, words := range pattern {
			if !slices.Contains(words, c.Words[i]) && (i > 0 || !slices.Contains(words, path.Base(c.Words[0]))) {
				return false
			}
		}
		return true
	}
	return e, true
}

type kind int

const (
	end kind = iota
	word
	text
	sign
)

type token struct {
	kind  kind
	text  string
	start int
}

// scanner reads the tokens of a Starlark text that plain calls have.
type scanner struct {
	text string
	at   int
}

func (s *scanner) next() token {
	for s.at < len(s.text) {
		start, c := s.at, s.text[s.at]
		switch {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			s.at++
		case c == '#':
			if i := strings.IndexByte(s.text[s.at:], '\n'); i >= 0 {
				s.at += i
			} else {
				s.at = len(s.text)
			}
		case c == '"' || c == '\'':
			return s.string(c)
		case isWord(c):
			for s.at < len(s.text) && isWord(s.text[s.at]) {
				s.at++
			}
			return token{word, s.text[start:s.at], start}
		default:
			s.at++
			return token{sign, s.text[start:s.at], start}
		}
	}
	return token{kind: end}
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// string is one in one pair of quotes; one with another escape than of a quote or a backslash is a sign.
func (s *scanner) string(quote byte) token {
	start := s.at
	var out strings.Builder
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case quote:
			s.at++
			return token{text, out.String(), start}
		case '\n':
			return token{sign, "", start}
		case '\\':
			if s.at++; s.at == len(s.text) || strings.IndexByte(`"'\`, s.text[s.at]) < 0 {
				return token{sign, "", start}
			}
			out.WriteByte(s.text[s.at])
		default:
			out.WriteByte(c)
		}
	}
	return token{sign, "", start}
}

// arguments are those of a call by name: texts and lists.
func (s *scanner) arguments() (map[string]any, bool) {
	if s.next().text != "(" {
		return nil, false
	}
	out := map[string]any{}
	for {
		t := s.next()
		if t.kind == sign && t.text == ")" {
			return out, true
		}
		if t.kind == sign && t.text == "," && len(out) > 0 {
			continue
		}
		if eq := s.next(); t.kind != word || eq.kind != sign || eq.text != "=" {
			return nil, false
		}
		v, ok := s.value(s.next(), 0)
		if _, twice := out[t.text]; !ok || twice {
			return nil, false
		}
		out[t.text] = v
	}
}

func (s *scanner) value(t token, depth int) (any, bool) {
	if t.kind == text {
		return t.text, true
	}
	if t.kind != sign || t.text != "[" || depth > 2 {
		return nil, false
	}
	list := []any{}
	for {
		t := s.next()
		switch {
		case t.kind == sign && t.text == "]":
			return list, true
		case t.kind == sign && t.text == "," && len(list) > 0:
		default:
			v, ok := s.value(t, depth+1)
			if !ok {
				return nil, false
			}
			list = append(list, v)
		}
	}
}
