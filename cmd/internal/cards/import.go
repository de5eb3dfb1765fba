package cards

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setup"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

// Source is a client's configuration file that lists servers.
type Source struct {
	Client clients.Client
	place  change.Place
	before []byte
	file   map[string]any
}

// Path returns the path of the file.
func (s Source) Path() string { return s.place.Path() }

// Shared reports whether the file belongs to a project, whose repository may have brought it.
func (s Source) Shared() bool { return s.place.Shared() }

// Name returns the file's name as the client has it: ".mcp.json", ".cursor/mcp.json".
func (s Source) Name() string {
	for _, name := range s.Client.Project {
		if strings.HasSuffix(filepath.ToSlash(s.Path()), "/"+name) {
			return name
		}
	}
	return filepath.Base(s.Path())
}

// Import describes what an import would do.
type Import struct {
	Rows  []Row
	Cards []settings.Card // new cards
	Lacks []Lack          // values that the user must provide first
}

// Row describes what an import does with one entry of a client's file.
type Row struct {
	Source *Source
	Entry  clients.Entry
	Card   string // "" if the entry is skipped
	New    bool   // this is the first entry for that card
	Why    string // why the entry is skipped, or a remark
	Lacks  []Lack // values that the user must provide for it
}

// Options select what to import.
type Options struct {
	Config *config.Config
	Own    string            // the command by which clients start mcpdeck, if its name is another
	Only   []string          // names of entries or cards; empty means all
	Values map[string]string // values that clients ask their users for, by ID
}

// errNoServers means that a file has no servers to import.
var errNoServers = errors.New("no servers found")

// OfClients returns the existing files of clients: the user's own, and those of the project
// root, unless that is "". It returns a separate error for each file that cannot be read.
func OfClients(all []clients.Client, folders clients.Folders, root string) (out []*Source, errs []error) {
	for _, c := range all {
		var places []change.Place
		if c.User != nil {
			for _, path := range c.User(folders) {
				p, err := change.OfUser(path)
				if err != nil {
					errs = append(errs, fmt.Errorf("read %s: %w", path, err))
					continue
				}
				places = append(places, p)
			}
		}
		for _, name := range c.Project {
			if root == "" {
				break
			}
			p, err := change.InProject(root, filepath.FromSlash(name))
			if err != nil {
				errs = append(errs, fmt.Errorf("read %s: %w", p.Path(), err))
				continue
			}
			places = append(places, p)
		}
		for _, p := range places {
			s, err := open(c, p)
			switch {
			case err != nil:
				errs = append(errs, fmt.Errorf("read %s: %w", p.Path(), err))
			case s != nil:
				out = append(out, s)
			}
		}
	}
	return out, errs
}

// open reads a client's file; it returns nil if there is none. Comments and trailing commas
// are tolerated even if the client would reject them.
func open(c clients.Client, p change.Place) (*Source, error) {
	b, err := p.Read()
	if b == nil || err != nil {
		return nil, err
	}
	s := &Source{Client: c, place: p, before: b}
	g := c.Grammar
	if g != clients.TOML {
		g = clients.JSONC
	}
	if s.file, err = g.Decode(b); err != nil {
		return nil, err
	}
	return s, nil
}

// OfFile reads a file, given by its path, in the format of some client. The client is
// identified by the file's name or else by its content.
func OfFile(path string) (*Source, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	p, err := change.OfUser(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	guess := clients.Client{Grammar: clients.JSONC}
	if strings.HasSuffix(path, ".toml") {
		guess.Grammar = clients.TOML
	}
	s, err := open(guess, p)
	if err != nil || s == nil {
		return nil, err
	}
	if inner, ok := s.file["mcp"].(map[string]any); ok && inner["servers"] != nil { // VS Code's settings
		s.file = inner
	}
	for _, c := range clients.All() {
		named := slices.ContainsFunc(c.Project, func(f string) bool { return filepath.Base(f) == filepath.Base(path) })
		if c.User != nil {
			named = named || slices.ContainsFunc(c.User(clients.Folders{}), func(f string) bool { return filepath.Base(f) == filepath.Base(path) })
		}
		_, fits := s.file[c.Section].(map[string]any)
		if fits = fits && (c.Grammar == clients.TOML) == (guess.Grammar == clients.TOML); fits && (named || s.Client.ID == "") {
			s.Client = c
			if named {
				break
			}
		}
	}
	if s.Client.ID == "" {
		return nil, errNoServers
	}
	return s, nil
}

// Plan determines what an import would do.
func Plan(sources []*Source, o Options) Import {
	p := planner{o: o, names: map[string]string{}, same: map[string]string{}}
	for _, card := range o.Config.Cards {
		p.names[card.Name], p.same[key(card)] = card.Name, card.Name
	}
	for _, b := range o.Config.Broken {
		p.names[b.Name] = b.Name
	}
	for _, s := range sources {
		for _, e := range s.Client.Entries(s.file) {
			p.entry(s, e)
		}
	}
	return p.out
}

type planner struct {
	o     Options
	out   Import
	names map[string]string // names that are taken
	same  map[string]string // names of cards, by what they run
}

// key returns a string that is equal for cards that are the same to the user.
func key(c settings.Card) string {
	var tools []string
	for _, name := range slices.Sorted(maps.Keys(c.Tools)) {
		tools = append(tools, name+"="+c.Tools[name])
	}
	c, _, _ = c.Complete("x")
	if c.Transport == "http" { // the default tries http first
		c.Transport = "auto"
	}
	return c.Digest() + strings.Join(tools, "\n")
}

// entry adds an entry to the plan, or records why it is skipped.
func (p *planner) entry(s *Source, e clients.Entry) {
	name := nameFrom(e.Name())
	if len(p.o.Only) > 0 && !slices.Contains(p.o.Only, e.Name()) && !slices.Contains(p.o.Only, name) {
		return
	}
	row := Row{Source: s, Entry: e}
	defer func() { p.out.Rows = append(p.out.Rows, row) }()
	if e.Err != nil {
		row.Why = e.Err.Error()
		return
	}
	if why := p.ours(e); why != "" {
		row.Why = why
		return
	}
	r := &refs{ways: s.Client.Refs, card: name, inputs: inputsOf(s.file), values: p.o.Values}
	card, err := cardOf(e, r)
	if err == nil {
		_, _, err = card.Complete("x")
	}
	if err != nil {
		row.Why = err.Error()
		return
	}
	row.Lacks = r.lacks
	for _, l := range r.lacks {
		if !slices.ContainsFunc(p.out.Lacks, func(o Lack) bool { return o.ID == l.ID }) {
			p.out.Lacks = append(p.out.Lacks, l)
		}
	}
	row.Why = strings.Join(e.Notes, "; ")
	if row.Card = p.same[key(card)]; row.Card != "" {
		return
	}
	card.Name = p.free(name, s.Client.ID)
	row.Card, row.New = card.Name, true
	p.names[card.Name], p.same[key(card)] = card.Name, card.Name
	p.out.Cards = append(p.out.Cards, card)
}

// free returns name, with a suffix if name is taken.
func (p *planner) free(name, client string) string {
	taken := func(n string) bool { return p.names[n] != "" || p.o.Config.CheckCardName(n) != nil }
	suffixed := func(suffix string) string {
		return strings.TrimRight(name[:min(len(name), 24-len(suffix)-1)], "-") + "-" + suffix
	}
	out := name
	if taken(out) {
		out = suffixed(client)
	}
	for i := 2; taken(out); i++ {
		out = suffixed(fmt.Sprint(i))
	}
	return out
}

// RunsDeck is why an entry is skipped that is mcpdeck's own.
const RunsDeck = "it runs mcpdeck itself"

// ours returns why an entry is skipped if it refers to mcpdeck itself or one of its servers.
func (p *planner) ours(e clients.Entry) string {
	isDeck := func(address string) bool {
		u, err := url.Parse(address)
		return err == nil && slices.Contains([]string{"127.0.0.1", "localhost", "::1"}, u.Hostname()) &&
			u.Port() == fmt.Sprint(p.o.Config.File.HTTP.Port) && strings.HasPrefix(u.Path, "/mcp")
	}
	program := func(word string) bool {
		base := strings.TrimSuffix(filepath.Base(filepath.ToSlash(word)), ".exe")
		return word == p.o.Own || base == "mcpdeck" || strings.HasPrefix(base, "mcpdeck@")
	}
	if isDeck(e.URL) || slices.ContainsFunc(e.Command, isDeck) || slices.ContainsFunc(e.Command, program) {
		return RunsDeck
	}
	return p.o.Config.Included(e.Name())
}

// cardOf converts an entry into a card without a name.
func cardOf(e clients.Entry, r *refs) (settings.Card, error) {
	card := settings.Card{URL: r.text(e.URL), Transport: e.Transport, Cwd: r.text(e.Cwd), Inherit: e.Inherit}
	command := e.Command
	if e.URL != "" {
		command = nil
	}
	if len(command) == 1 && strings.ContainsAny(command[0], " \t") {
		if _, err := os.Stat(command[0]); err != nil {
			words, ok := shellWords(command[0])
			if !ok {
				return card, errors.New("the command needs a shell")
			}
			command = words
		}
	}
	for _, w := range command {
		card.Command = append(card.Command, r.text(w))
	}
	for k, v := range e.Env {
		card.Env = Set(card.Env, k, r.text(v))
	}
	for k, v := range e.Headers {
		card.Headers = Set(card.Headers, k, r.text(v))
	}
	for k, v := range e.EnvHeaders {
		card.Headers = Set(card.Headers, k, "${env:"+v+"}")
	}
	if e.Bearer != "" {
		card.Headers = Set(card.Headers, "Authorization", "Bearer ${env:"+e.Bearer+"}")
	}
	if e.URL == "" {
		card.Transport = ""
	} else {
		card.Env, card.Cwd, card.Inherit = nil, "", nil
	}
	for _, t := range e.Only {
		card.Tools = Set(Set(card.Tools, "*", "off"), t, "allow")
	}
	for _, t := range e.Except {
		card.Tools = Set(card.Tools, t, "off")
	}
	return card, r.err
}

// Edits returns the file changes of the import: the cards' files and, if relay is not nil,
// the clients' files, whose entries then run relay's command. relay returns the mcpdeck
// command that relays to a card.
func (m Import) Edits(cfg *config.Config, relay func(card string) []string) ([]change.Edit, error) {
	var out []change.Edit
	for _, card := range m.Cards {
		e, err := File(cfg.CardFile(card.Name), card)
		if err != nil {
			return nil, err
		}
		if e.Before != nil {
			return nil, fmt.Errorf("%s already exists", e.Place.Path())
		}
		out = append(out, e)
	}
	if relay == nil {
		return out, nil
	}
	replaced, err := m.inClients(func(row *Row, text []byte) ([]byte, error) {
		s := row.Source
		if row.Card == "" {
			return text, nil
		}
		return setup.Replace(s.Client.Grammar, text, row.Entry.Path, started(), s.Client.Form.Relay(relay(row.Card)))
	})
	return append(out, replaced...), err
}

// Without returns the file changes that take the entries for a card out of the user's own files
// of clients. What a project shares with others stays.
func (m Import) Without(card string) ([]change.Edit, error) {
	return m.inClients(func(row *Row, text []byte) ([]byte, error) {
		if !row.Of(card) {
			return text, nil
		}
		return setup.Remove(row.Source.Client.Grammar, text, row.Entry.Path)
	})
}

// Of reports whether the row is an entry for a card in a file of the user's own.
func (r *Row) Of(card string) bool { return r.Card == card && !r.Source.Shared() }

// inClients changes the entries of the clients' files, those of one file after another.
func (m Import) inClients(edit func(row *Row, text []byte) ([]byte, error)) ([]change.Edit, error) {
	var sources []*Source
	texts := map[*Source][]byte{}
	for i := range m.Rows {
		row := &m.Rows[i]
		s := row.Source
		if texts[s] == nil {
			sources, texts[s] = append(sources, s), s.before
		}
		after, err := edit(row, texts[s])
		if err != nil {
			return nil, fmt.Errorf("change %s in %s: %w", row.Entry.Name(), s.Path(), err)
		}
		texts[s] = after
	}
	var out []change.Edit
	for _, s := range sources {
		if e := (change.Edit{Place: s.place, Before: s.before, After: texts[s]}); !e.Same() {
			out = append(out, e)
		}
	}
	return out, nil
}

// started returns the keys of an entry that determine what is started, for all clients. They
// are removed when the entry is to start something else.
func started() []string {
	return []string{
		"command", "args", "env", "environment", "env_vars", "envFile", "cwd", "type", "transport", "url", "httpUrl", "serverUrl",
		"headers", "http_headers", "env_http_headers", "bearer_token_env_var", "oauth", "auth",
		// These settings move to the card.
		"enabled_tools", "disabled_tools", "includeTools", "excludeTools", "disabledTools",
	}
}
