package book

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/rules"
)

// Edit is which changes a rule is about that an agent's file tools make.
type Edit struct {
	// Below is the file, or the folder of the files, from that of the project on; none, of a deny or an ask: all files.
	Below string `toml:"below,omitempty"`
	// Not are patterns of names, or of paths from Below on, of files that it is not about.
	Not []string `toml:"not,omitempty"`
	// Make and Delete have an allow cover files that are not there yet, and those that are removed.
	Make   bool `toml:"make,omitempty"`
	Delete bool `toml:"delete,omitempty"`
}

// Fetch is which pages a rule is about that an agent's own tool reads.
type Fetch struct {
	Hosts []string `toml:"hosts"` // with a port if there is one; "*.name" are all below it
}

// Edits are the changes that a tool is to make.
type Edits struct {
	In      rules.Place
	Files   []rules.Edit
	Partial bool // there are others, which are not known
}

func (e *Edit) check(v Verdict) error {
	clean := path.Clean(e.Below)
	switch {
	case slices.ContainsFunc(e.Not, func(p string) bool { _, err := path.Match(p, ""); return err != nil || p == "" }):
		return fmt.Errorf("edit.not = %q has an invalid pattern", e.Not)
	case v != Allow && (e.Make || e.Delete):
		return errors.New("only an allow has make and delete: a deny or an ask is for every change")
	case v == Allow && (e.Below == "" || path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") || strings.HasPrefix(clean, "~")):
		return errors.New(`an allow names a folder in the project with edit.below; "." is all of it`)
	}
	return nil
}

func (e *Edit) words() string {
	s := "edits"
	switch {
	case e.Make && e.Delete:
		s = "making, editing and deleting files"
	case e.Make:
		s = "making and editing files"
	case e.Delete:
		s = "editing and deleting files"
	}
	switch {
	case e.Below != "" && path.Clean(e.Below) != ".":
		s += " at or below " + e.Below
	case e.Below != "":
		s += " in the project"
	}
	if len(e.Not) > 0 {
		s += ", but not of " + listed(e.Not)
	}
	return s
}

// fits reports how far a rule is about a change: all files of an allow, one of another.
func (e *Edit) fits(v Verdict, q *Edits, home string) (fit, string) {
	var meant []rules.Edit
	for _, f := range q.Files {
		if e.of(&q.In, f.Path, home, v) {
			meant = append(meant, f)
		} else if v == Allow {
			return not, aboutOther + e.words() + ": " + f.Path
		}
	}
	switch {
	case v != Allow && len(meant) > 0:
		return sure, ""
	case v != Allow && q.Partial:
		return maybe, "not all of its files are known"
	case v != Allow:
		return not, aboutOther + e.words()
	case q.Partial || len(meant) == 0:
		return not, "not all of its files are known"
	case q.In.Root == "":
		return not, "it is in no project"
	}
	return e.covers(meant, rules.Edits(q.In, meant))
}

// covers reports whether an allow covers all that changes do.
func (e *Edit) covers(files []rules.Edit, does *rules.Reading) (fit, string) {
	if len(does.Rest) > 0 || len(does.Segments) != len(files) {
		return not, "it is too long"
	}
	for i, f := range files {
		facts := does.Segments[i].Facts
		switch {
		case len(facts) == 0:
			return not, f.Path + " is no plain file"
		case f.Delete && !e.Delete:
			return not, facts[0].String()
		case f.Make && !e.Make:
			return not, f.Path + " is not there yet"
		}
		for _, fact := range facts {
			if fact.Effect != rules.WriteIn && (fact.Effect != rules.Delete || !e.Delete) {
				return not, fact.String()
			}
		}
	}
	return sure, ""
}

// of reports whether a file is one of those that are meant.
func (e *Edit) of(in *rules.Place, file, home string, v Verdict) bool {
	below := expand(e.Below, home)
	if !path.IsAbs(below) && below != "" {
		if in.Root == "" {
			return false
		}
		below = path.Join(in.Root, below)
	}
	if below != "" && !rules.Below(*in, below, file) {
		return false
	}
	as := rules.Leads(*in, file)
	if v != Allow {
		return !e.excludes(strings.TrimPrefix(path.Clean(file), below+"/"), path.Base(file))
	}
	if as == "" { // not known
		return len(e.Not) == 0
	}
	for _, p := range []string{path.Clean(file), path.Join(in.Cwd, file), as} { // by whichever name
		for _, folder := range []string{below, rules.Leads(*in, below), in.Root} {
			for rest := strings.TrimPrefix(p, folder+"/"); rest != "." && rest != "/" && rest != ""; rest = path.Dir(rest) { // or what it is in
				if e.excludes(strings.ToLower(rest), strings.ToLower(path.Base(rest))) || e.excludes(rest, path.Base(rest)) {
					return false
				}
			}
		}
	}
	return true
}

// excludes reports whether the rule is not about a file, by its path from its folder on or by its name.
func (e *Edit) excludes(rest, name string) bool {
	return slices.ContainsFunc(e.Not, func(p string) bool {
		whole, _ := path.Match(p, rest) // checked when it was read
		base, _ := path.Match(p, name)  // as above
		lower, _ := path.Match(strings.ToLower(p), rest)
		lowerBase, _ := path.Match(strings.ToLower(p), name)
		return whole || base || lower || lowerBase
	})
}

func expand(folder, home string) string {
	if rest, is := strings.CutPrefix(folder, "~/"); is && home != "" {
		return path.Join(home, rest)
	}
	return folder
}

func (f *Fetch) check() error {
	if len(f.Hosts) == 0 {
		return errors.New("name the hosts in fetch.hosts")
	}
	for _, h := range f.Hosts {
		name, sub := strings.CutPrefix(h, "*.")
		u, err := url.Parse("https://" + name + "/")
		if err != nil || u.Host != name || strings.ContainsAny(name, "*@ %") || name != strings.ToLower(name) || sub && (!strings.Contains(name, ".") || numeric(name)) {
			return fmt.Errorf(`fetch.hosts: %q is no host; write it in small letters, such as "example.com", "localhost:3000" or "*.example.com"`, h)
		}
	}
	return nil
}

// numeric reports whether a name is an address, or ends like one.
func numeric(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return strings.Trim(last, "0123456789") == ""
}

// words say of an allow that a tool which fetches pages may follow them to other hosts.
func (f *Fetch) words(v Verdict) string {
	s := "fetching pages of " + listed(f.Hosts)
	if v == Allow {
		s += " and what they redirect to,"
	}
	return s
}

// fits reports how far a rule is about an address.
func (f *Fetch) fits(v Verdict, address string) (fit, string) {
	u, err := url.Parse(address)
	plain := err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.User == nil && u.Host != "" && u.Opaque == "" && !strings.ContainsFunc(u.Host, func(c rune) bool { return c > '~' }) &&
		!strings.ContainsFunc(address, func(c rune) bool { return c <= ' ' || c == '\\' || c > '~' })
	switch {
	case !plain && v == Allow:
		return not, "its address is not a plain one"
	case !plain:
		return maybe, "its address is not a plain one"
	}
	host := strings.ToLower(u.Host)
	if v != Allow { // whatever the port, and with a dot at the end
		host = strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	}
	for _, h := range f.Hosts {
		if name, sub := strings.CutPrefix(h, "*."); h == host || sub && strings.HasSuffix(host, "."+name) || v != Allow && h == strings.ToLower(u.Host) {
			return sure, ""
		}
	}
	return not, aboutOther + listed(f.Hosts)
}

// Program describes a program that mcpdeck does not know. It never takes the place of one that it does.
type Program struct {
	Name    string         `toml:"name"`
	Sub     []string       `toml:"sub,omitempty"`     // subcommands; none: it has none
	Options []string       `toml:"options,omitempty"` // without a value
	Effects []rules.Effect `toml:"effects"`           // what it may do; none: it only prints
}

func (p *Program) check() error {
	plain := func(s string) bool {
		return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-:") == ""
	}
	bad := func(s string) bool { return !plain(s) || s[0] == '-' }
	switch {
	case bad(p.Name):
		return fmt.Errorf("%q is not a program's name", p.Name)
	case p.Effects == nil:
		return errors.New("say with effects what it may do; [] is nothing but to print")
	case slices.ContainsFunc(p.Sub, bad):
		return fmt.Errorf("sub = %q has one that is no plain word", p.Sub)
	case slices.ContainsFunc(p.Options, func(o string) bool { return !plain(o) || o[0] != '-' || strings.Trim(o, "-") == "" }):
		return fmt.Errorf("options = %q has one that does not begin with a dash", p.Options)
	}
	for _, e := range p.Effects {
		if !slices.Contains([]rules.Effect{rules.Delete, rules.WriteOut, rules.Net, rules.Code, rules.WriteIn, rules.ReadOut, rules.Reads}, e) {
			return fmt.Errorf("effects has %q; use delete, write-out, net, code, write-in, read-out or read", e)
		}
	}
	return nil
}

// Words says what is taken for known of the program.
func (p *Program) Words() string {
	s := "Know `" + p.Name + "`"
	if len(p.Sub) > 0 {
		s = "Know `" + p.Name + " " + strings.Join(p.Sub, "`, `"+p.Name+" ") + "`"
	}
	if len(p.Options) > 0 {
		s += " with the options " + strings.ReplaceAll(listed(p.Options), " or ", " and ")
	}
	var does []string
	for _, e := range p.Effects {
		does = append(does, map[rules.Effect]string{
			rules.Delete: "deletes", rules.WriteOut: "writes outside the project", rules.Net: "reaches the network", rules.Code: "runs code of the project",
			rules.WriteIn: "writes in the project", rules.ReadOut: "reads outside the project", rules.Reads: "reads in the project",
		}[e])
	}
	if len(does) == 0 {
		return s + ": it only prints"
	}
	return s + ": it " + strings.ReplaceAll(listed(does), " or ", " and ")
}
