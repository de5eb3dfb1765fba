package book

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/rules"
)

// Command is which commands a rule is about.
type Command struct {
	// Words are the first of one of its parts, without options: the program and what it is told to do.
	Words []string `toml:"words,omitempty"`
	// With are options of which it has one, Without those of which it has none. An allow has neither, but
	// Options: those that it may have.
	With    []string `toml:"with,omitempty"`
	Without []string `toml:"without,omitempty"`
	Options []string `toml:"options,omitempty"`
	// May are the effects that such a part may have, of an allow with words, or exactly a command. Hosts are those
	// that it may reach, or what is said in their place, and Paths the folders in which its files must be.
	May   []rules.Effect `toml:"may,omitempty"`
	Hosts []string       `toml:"hosts,omitempty"`
	Paths []string       `toml:"paths,omitempty"`
	// Only are the effects that a part may have, of an allow for all that have no others.
	Only []rules.Effect `toml:"only,omitempty"`
	// Exact is the whole command, of an allow, and In the folder in the project in which it runs; "": that of
	// the project.
	Exact string `toml:"exact,omitempty"`
	// Pin is what the names of scripts and targets in it stood for when the rule was kept, as a hash, of an allow that may
	// run code; "" if they may stand for anything.
	Pin string `toml:"pin,omitempty"`
	In  string `toml:"in,omitempty"`

	stands string // what Pin is a hash of, of a rule that is to be kept
}

// elsewhere are the effects that an allow with words names the hosts or folders for.
func elsewhere() []rules.Effect {
	return []rules.Effect{rules.Delete, rules.WriteOut, rules.ReadOut}
}

func (c *Command) check(r *Rule) error {
	options := slices.Concat(c.With, c.Without, c.Options)
	allow := r.Verdict == Allow
	switch {
	case slices.Contains(slices.Concat(c.Words, options, c.Hosts, c.Paths), ""):
		return errors.New("a word, an option, a host or a folder is empty")
	case slices.ContainsFunc(options, func(o string) bool { return !strings.HasPrefix(o, "-") || strings.Trim(o, "-") == "" }):
		return errors.New("with, without and options are options, which begin with a dash")
	case slices.ContainsFunc(slices.Concat(c.Words, options, c.Hosts, c.Paths, []string{c.Exact, c.In}), func(s string) bool {
		return strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f })
	}):
		return errors.New("a word or a text has a line break or a control character")
	case allow:
		return c.checkAllow(r)
	case len(c.Only)+len(c.May)+len(c.Hosts)+len(c.Paths)+len(c.Options) > 0 || c.Exact != "" || c.In != "" || len(c.Words) == 0:
		return errors.New("a deny or an ask needs the words of the command, and has no effects")
	}
	return nil
}

// checkAllow refuses an allow that is wider than what is decided by itself.
func (c *Command) checkAllow(r *Rule) error {
	has := func(all ...rules.Effect) bool {
		return slices.ContainsFunc(c.May, func(e rules.Effect) bool { return slices.Contains(all, e) })
	}
	known := append(elsewhere(), rules.Net, rules.Code, rules.WriteIn, rules.Reads)
	kinds := 0
	for _, is := range []bool{len(c.Words) > 0, len(c.Only) > 0, c.Exact != ""} {
		if is {
			kinds++
		}
	}
	switch {
	case c.Pin != "" && (!pinForm.MatchString(c.Pin) || r.Project == "" || !has(rules.Code)):
		return errors.New("a pin is what mcpdeck has written, of a rule with a project that may run code")
	case kinds != 1:
		return errors.New("an allow has one of words, only and exact")
	case len(c.With)+len(c.Without) > 0:
		return errors.New("an allow has no with and without; write the options that it may have in options")
	case len(c.Only) > 0 && (!slices.Equal(c.Only, []rules.Effect{rules.Reads}) || len(c.May)+len(c.Hosts)+len(c.Paths)+len(c.Options) > 0 || c.In != ""):
		return errors.New(`an allow of effects is for only = ["read"], and has nothing else`)
	case slices.ContainsFunc(c.May, func(e rules.Effect) bool { return !slices.Contains(known, e) }):
		return fmt.Errorf("may = %q has one that is not known, or that no rule allows", c.May)
	case c.Exact != "" && (r.Project == "" || len(c.Hosts)+len(c.Paths)+len(c.Options) > 0):
		return errors.New("an exact command names its project, and has no words, options, hosts and paths")
	case c.In != "" && (c.Exact == "" || path.IsAbs(c.In) || path.Clean(c.In) != c.In || c.In == ".." || strings.HasPrefix(c.In, "../")):
		return errors.New("in is a folder in the project, of an exact command")
	case c.Exact != "":
	case has(rules.Net) && len(c.Hosts) == 0:
		return errors.New("what may reach the network needs its hosts")
	case has(elsewhere()...) && len(c.Paths) == 0:
		return errors.New("what may delete, or read or write outside the project, needs its paths")
	}
	return nil
}

// words says which commands are meant; project is that of the rule.
func (c *Command) words(project string) string {
	var s strings.Builder
	switch {
	case c.Exact != "":
		s.WriteString("exactly `" + c.Exact + "`")
		if c.In != "" {
			s.WriteString(" in the folder " + c.In)
		}
	case len(c.Only) > 0 && project != "":
		s.WriteString("commands that only read inside " + project)
	case len(c.Only) > 0:
		s.WriteString("commands that only read inside the project")
	default:
		s.WriteString("`" + strings.Join(c.Words, " ") + "`")
	}
	if len(c.With) > 0 {
		s.WriteString(" with " + listed(c.With))
	}
	if len(c.Without) > 0 {
		s.WriteString(" without " + listed(c.Without))
	}
	if len(c.Options) > 0 {
		s.WriteString(" with no options but " + strings.ReplaceAll(listed(c.Options), " or ", " and "))
	} else if len(c.May) > 0 && len(c.Words) > 0 {
		s.WriteString(" without options")
	}
	if len(c.Paths) > 0 {
		s.WriteString(", with files below " + listed(c.Paths))
	}
	return s.String()
}

// does says what the command may do, after all else.
func (c *Command) does() string {
	var all []string
	for _, e := range c.May {
		say := map[rules.Effect]string{
			rules.Delete: "delete", rules.WriteOut: "write outside the project", rules.Code: "run code of the project", rules.WriteIn: "write in the project",
			rules.ReadOut: "read outside the project", rules.Net: "reach the network",
		}[e]
		if e == rules.Net && len(c.Hosts) > 0 {
			say = "reach " + strings.ReplaceAll(listed(c.Hosts), " or ", " and ")
		}
		if say != "" {
			all = append(all, say)
		}
	}
	if len(all) == 0 {
		return ""
	}
	s := "; it may " + strings.ReplaceAll(listed(all), " or ", " and ")
	if c.Pin != "" {
		s += ", as long as the script or file that it names stays as it is"
	}
	return s
}

// parts has rules allow a command together: each part is allowed by one of them.
func (d *Decision) parts(q *Request, all []*Rule, allows **Rule, near *string) {
	used, why, since := covers(q, all)
	if len(used) > 0 && *allows == nil {
		*allows, d.Also = used[0], used[1:]
	}
	if why != "" {
		*near, d.Changed = why, since
	}
	for _, r := range all {
		if q.Explain && !slices.Contains(used, r) {
			d.Passed = append(d.Passed, Passed{r, r.whyNot(q)})
		}
	}
}

// covers returns the rules that allow a command together, the one first that allows the most; or why it is not
// allowed, and by which rule it would be if what it runs had not changed.
func covers(q *Request, all []*Rule) (used []*Rule, why string, changed *Changed) {
	r := q.Reading
	switch {
	case q.Project == "":
		return nil, "it is in no project", nil
	case r.Outside:
		return nil, "it runs outside the project", nil
	case r.Downloads:
		return nil, "it runs what it downloads", nil
	case len(r.Segments) == 0 && len(r.Rest) == 0:
		return nil, "it has no command", nil
	}
	for _, a := range all {
		if a.Command.exactly(q) {
			if !a.Command.pinned(q, r.Segments) {
				changed = since(a, q, r.Segments)
				return nil, changed.says("it"), changed
			}
			return []*Rule{a}, "", nil
		}
	}
	reads := slices.IndexFunc(all, func(a *Rule) bool { return len(a.Command.Only) > 0 })
	for _, f := range r.Rest {
		if f.Effect != rules.Reads || reads < 0 {
			return nil, f.String(), nil
		}
	}
	for i := range r.Segments {
		s := &r.Segments[i]
		if len(s.Facts) == 0 { // it needs no rule
			continue
		}
		at := slices.IndexFunc(all, func(a *Rule) bool { return a.Command.coversPart(q, s) })
		if at < 0 {
			if a := unpinned(q, s, all); a != nil {
				changed = since(a, q, []rules.Segment{*s})
				return nil, changed.says("`" + s.Text + "`"), changed
			}
			return nil, partly(s, reads >= 0), nil
		}
		if !slices.Contains(used, all[at]) {
			used = append(used, all[at])
		}
	}
	if len(used) == 0 && reads < 0 {
		return nil, "", nil
	}
	if len(used) == 0 || len(r.Rest) > 0 && !slices.Contains(used, all[reads]) {
		used = append(used, all[reads])
	}
	slices.SortStableFunc(used, func(a, b *Rule) int { return len(a.Command.Only) - len(b.Command.Only) })
	return used, "", nil
}

// partly says what of a part no rule allows; reads is set if one allows what only reads.
func partly(s *rules.Segment, reads bool) string {
	for _, f := range s.Facts {
		if f.Effect != rules.Reads || !reads {
			return fmt.Sprintf("`%s`: %s", s.Text, f)
		}
	}
	return ""
}

// whyNot says why a rule does not allow a command, or has no part in it.
func (r *Rule) whyNot(q *Request) string {
	if _, why, _ := covers(q, []*Rule{r}); why != "" {
		return why
	}
	return "others allow it"
}

// exactly reports whether a command is the one that is meant, and does no more than it did.
func (c *Command) exactly(q *Request) bool {
	if c.Exact == "" || c.Exact != q.Reading.Text || path.Join(q.Project, c.In) != q.Reading.Cwd {
		return false
	}
	for _, f := range q.Reading.Facts() {
		if f.Effect != rules.Reads && !slices.Contains(c.May, f.Effect) {
			return false
		}
	}
	return true
}

// coversPart reports whether an allow covers a part of a command by itself.
func (c *Command) coversPart(q *Request, s *rules.Segment) bool {
	if c.Exact != "" {
		return false
	}
	if len(c.Only) > 0 {
		return !slices.ContainsFunc(s.Facts, func(f rules.Fact) bool { return f.Effect != rules.Reads })
	}
	return c.begunBy(q, s) && c.pinned(q, []rules.Segment{*s})
}

// begunBy reports whether a part is one that a rule by words allows, whatever its names stand for.
func (c *Command) begunBy(q *Request, s *rules.Segment) bool {
	if c.Exact != "" || len(c.Only) > 0 || !c.calls(s) {
		return false
	}
	return !slices.ContainsFunc(s.Facts, func(f rules.Fact) bool { return !c.permits(q, f) })
}

// calls reports whether words are certainly those of the rule, with no other options. A word that is known only
// when it runs may only be the value of an option, and such a value is none of the words.
func (c *Command) calls(s *rules.Segment) bool {
	words, told := s.Words, append(strings.Fields(s.Name), s.Told...)
	if len(words) < len(c.Words) || words[0] != c.Words[0] || c.begins(words) != sure {
		return false
	}
	if s.Name != "" && (len(told) < len(c.Words) || !slices.Equal(told[:len(c.Words)], c.Words)) {
		return false
	}
	found, each := 1, len(c.Words) > 1 && slices.Contains(eachWord(), c.Words[0])
	for i, w := range words[1:] {
		name, _, _ := strings.Cut(w, "=")
		if found < len(c.Words) && w == c.Words[found] {
			found++
			continue
		}
		switch before := words[i]; {
		case each && (w == "" || w[0] != '-') && !slices.Contains(c.Options, before): // another target
			return false
		case w == "" && !(slices.Contains(c.Options, before) && before != ""):
			return false
		case len(w) > 1 && w[0] == '-' && w != "--" && !slices.Contains(c.Options, name):
			return false
		}
	}
	return true
}

// eachWord are programs for which each word is something else that they do.
func eachWord() []string {
	return strings.Fields("make gmake bmake just task rake gradle gradlew mvn mvnw ant sbt lein ninja nx turbo")
}

// permits reports whether an allow with words is for what a part does.
func (c *Command) permits(q *Request, f rules.Fact) bool {
	switch {
	case !slices.Contains(c.May, f.Effect):
		return false
	case f.Effect == rules.Net:
		return slices.Contains(c.Hosts, f.What)
	case f.Effect == rules.Code || len(c.Paths) == 0:
		return true
	}
	return f.At != "" && slices.ContainsFunc(c.Paths, func(folder string) bool {
		if folder = expand(folder, q.Home); !path.IsAbs(folder) {
			folder = path.Join(q.Project, folder)
		}
		return below(path.Clean(folder), f.At)
	})
}

// below reports whether a path is a folder or below it.
func below(folder, p string) bool {
	return p == folder || strings.HasPrefix(p, strings.TrimSuffix(folder, "/")+"/")
}
