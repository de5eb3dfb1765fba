package book

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/rules"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// MCP is which calls a rule is about of tools of MCP servers, as an agent asks for them, or calls them here.
type MCP struct {
	Server string `toml:"server"` // a deny or an ask may have a * at either end
	Tool   string `toml:"tool"`   // by the server's own name; the same
	// Args are conditions by where in the arguments: "/sql" = "re:SELECT .*". All must be met.
	Args map[string]string `toml:"args,omitempty"`
	// Alone has an allow be for calls that have no other arguments than those.
	Alone bool `toml:"alone,omitempty"`
}

// Called is a call of a tool of an MCP server.
type Called struct {
	Server, Tool string // by the tool's own name
	Args         json.RawMessage
	In           rules.Place // from which paths in the arguments go on
}

// Deepest is how deep arguments may be, so that every reader finds the same in them.
const Deepest = 32

func (m *MCP) check(v Verdict) error {
	for _, name := range []string{m.Server, m.Tool} {
		switch inner := strings.TrimSuffix(strings.TrimPrefix(name, "*"), "*"); {
		case name == "":
			return errors.New("mcp has a server and a tool")
		case v == Allow && inner != name:
			return errors.New("an allow names one server and one tool, without *")
		case strings.Contains(inner, "*"):
			return fmt.Errorf("mcp: %q may have a * at its ends only", name)
		}
	}
	if m.Alone && (v != Allow || len(m.Args) == 0) {
		return errors.New("mcp.alone is for an allow with args")
	}
	for _, at := range slices.Sorted(maps.Keys(m.Args)) {
		if !strings.HasPrefix(at, "/") {
			return fmt.Errorf("mcp.args: %q does not begin with /", at)
		}
		if err := checkCondition(m.Args[at]); err != nil {
			return fmt.Errorf("mcp.args: %q: %w", at, err)
		}
	}
	return nil
}

func (m *MCP) words() string {
	s := "`" + m.Tool + "` of server " + m.Server
	switch {
	case m.Tool == "*" && m.Server == "*":
		s = "every tool of every server"
	case m.Tool == "*":
		s = "every tool of server " + m.Server
	}
	var all []string
	for _, at := range slices.Sorted(maps.Keys(m.Args)) {
		all = append(all, strings.TrimPrefix(at, "/")+" "+conditionWords(m.Args[at]))
	}
	if len(all) > 0 {
		s += " if " + strings.Join(all, " and ")
	}
	if m.Alone {
		s += " and it has no other arguments"
	}
	return s
}

// fits reports how far a rule is about a call.
func (m *MCP) fits(q *Called, home string) (fit, string) {
	if !clients.Match(m.Server, q.Server) || !clients.Match(m.Tool, q.Tool) {
		return not, aboutOther + m.words()
	}
	if len(m.Args) == 0 {
		return sure, ""
	}
	levels, _ := rawjson.Measure(q.Args)
	if !json.Valid(q.Args) || levels > Deepest || m.folding().Check(q.Args) != nil {
		return maybe, "its arguments can be read in several ways"
	}
	if m.Alone && m.others(q.Args) {
		return not, "it has other arguments"
	}
	best, why := sure, ""
	for _, at := range slices.Sorted(maps.Keys(m.Args)) {
		v, has := pointed(q.Args, at)
		switch f := meets(m.Args[at], v, has, &q.In, home); f {
		case not:
			return not, at + " is not " + conditionWords(m.Args[at])
		case maybe:
			best, why = maybe, at
		case sure:
		}
	}
	return best, why
}

// others reports whether a call has arguments about which the rule says nothing.
func (m *MCP) others(args json.RawMessage) bool {
	o, err := rawjson.SplitObject(args)
	return err != nil || slices.ContainsFunc(o, func(a rawjson.Member) bool { return m.Args[pointerTo(a.Key)] == "" })
}

// pointerTo is a JSON pointer to an argument.
func pointerTo(name string) string {
	return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// folding refuses names that are the same to some readers, at any depth.
func (m *MCP) folding() *rawjson.Rule {
	var names []string
	for at := range m.Args {
		for name := range strings.SplitSeq(at[1:], "/") {
			names = append(names, strings.NewReplacer("~1", "/", "~0", "~").Replace(name))
		}
	}
	r := &rawjson.Rule{Fold: true, Known: rawjson.Names(names...)}
	r.Rest = r
	return r
}

// unlike are how a text begins that names a file in another way than by a path.
var unlike = regexp.MustCompile(`^[^/]*:|^\s|\s$|[\\$%{}*?\x00-\x1f]|^~`)

// pointed returns what a JSON pointer points to.
func pointed(raw json.RawMessage, pointer string) (json.RawMessage, bool) {
	for name := range strings.SplitSeq(pointer[1:], "/") {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		if o, err := rawjson.SplitObject(raw); err == nil {
			if raw = o.Get(name); raw == nil {
				return nil, false
			}
			continue
		}
		all, is := rawjson.SplitArray(raw)
		n, err := strconv.Atoi(name)
		if !is || err != nil || n < 0 || n >= len(all) || strconv.Itoa(n) != name {
			return nil, false
		}
		raw = all[n]
	}
	return raw, true
}

// conditions are what a value of an argument may have to be, by how they begin.
func conditions() map[string]string {
	return map[string]string{
		"=": "is", "glob:": "matches", "re:": "matches the expression", "in:": "is one of", "path:": "is a path below", "words:": "begins with the words", "max:": "is at most", "absent": "is missing",
	}
}

func splitCondition(c string) (kind, rest string) {
	for kind := range conditions() {
		if rest, is := strings.CutPrefix(c, kind); is && (kind != "absent" || rest == "") {
			return kind, rest
		}
	}
	return "", c
}

func conditionWords(c string) string {
	kind, rest := splitCondition(c)
	return strings.TrimSpace(conditions()[kind] + " " + strings.ReplaceAll(rest, "|", map[bool]string{true: ", ", false: "|"}[kind == "in:"]))
}

func checkCondition(c string) error {
	kind, rest := splitCondition(c)
	var err error
	switch kind {
	case "":
		return errors.New(`unknown condition; use "=text", "glob:…", "re:…", "in:a|b", "path:/dir", "words:git status", "max:10" or "absent"`)
	case "glob:":
		_, err = path.Match(rest, "")
	case "re:":
		_, err = anchored(rest)
	case "max:":
		_, err = strconv.ParseFloat(rest, 64)
	case "path:":
		if !path.IsAbs(rest) && !strings.HasPrefix(rest, "~/") {
			err = errors.New("write an absolute folder, or one that begins with ~/")
		}
	case "words:":
		if len(strings.Fields(rest)) == 0 || strings.ContainsAny(rest, meta) {
			err = errors.New("write plain words")
		}
	}
	return err
}

func anchored(expression string) (*regexp.Regexp, error) {
	return regexp.Compile(`\A(?:` + expression + `)\z`)
}

// meta are characters for which a shell does more than split words.
const meta = "|&;<>()$`\\\"'*?[]{}~#!=%\n\r\t"

// meets reports how far a value meets a condition.
func meets(c string, raw json.RawMessage, has bool, in *rules.Place, home string) fit {
	kind, want := splitCondition(c)
	if !has || kind == "absent" {
		return is(!has && kind == "absent")
	}
	text, err := rawjson.Text(raw)
	if err != nil {
		text = string(raw) // a number, a flag
	}
	plain := err == nil
	switch kind {
	case "=":
		return is(text == want)
	case "in:":
		return is(slices.Contains(strings.Split(want, "|"), text))
	case "glob:":
		fits, _ := path.Match(want, text) // checked when it was read
		return is(plain && fits)
	case "re:":
		e, err := anchored(want)
		return is(plain && err == nil && e.MatchString(text))
	case "max:":
		most, _ := strconv.ParseFloat(want, 64) // as above
		n, err := strconv.ParseFloat(text, 64)
		return is(!plain && err == nil && n <= most)
	case "words:":
		if plain && strings.ContainsAny(text, meta) {
			return maybe
		}
		got, first := strings.Fields(text), strings.Fields(want)
		return is(plain && len(got) >= len(first) && slices.Equal(got[:len(first)], first))
	case "path:":
		if plain && !path.IsAbs(text) && in.Cwd == "" || unlike.MatchString(text) {
			return maybe
		}
		return is(plain && text != "" && rules.Below(*in, expand(want, home), text))
	}
	return not
}

func is(so bool) fit {
	if so {
		return sure
	}
	return not
}
