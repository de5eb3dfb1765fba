package setupcmd

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cards"
	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setup"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Filter leaves out parts of a plan.
type Filter struct {
	Clients   []string // IDs; none: all that are found
	Project   bool     // the project's files instead of the user's own
	NoEntries bool     // of mcpdeck in clients
	NoPrompts bool
	NoImport  bool
	NoLine    bool // of tmux
	Own       []Own
}

// Own is a server that is a part of mcpdeck and on, which the user may turn off.
type Own struct {
	Title string
	Adds  snapshot.Count // to what each agent gets
	Mode  string         // the file that says whether it is on
}

// Plan is what would connect the clients on this machine.
type Plan struct {
	Clients []Client // those that are found
	Items   []Item
	Remarks []string // what is left as it is, and why
	Own     string   // what the servers that are parts of mcpdeck cost; "" if none is on
	cfg     *config.Config
}

// Client is an agent's client that was found.
type Client struct {
	ID    string
	Files []string // that the plan changes, or that have the entry; ~ stands for the home
	SetUp bool     // it needs nothing of the plan
	Apart bool     // the plan brings its prompts, which stay in its terminal as it is
	Now   string   // what the user does once the plan is made
}

// Item is one change of one file.
type Item struct {
	Does string // "adds mcpdeck to Claude Code"
	Off  bool   // the user does not want it

	keeps  string // what stays if the user does not want it: a tick says so
	client string
	card   settings.Card // of a server that is imported
	edit   change.Edit   // if it is the only one of its file
	onto   func(change.Edit) (change.Edit, error)
}

// Path is the file's.
func (i *Item) Path() string { return i.edit.Place.Path() }

// Diff is what becomes of one file.
type Diff struct {
	Path  string
	Does  []string
	Lines []string // with + and - before them; secrets are hidden
	Edit  change.Edit
}

// New looks for clients and plans what connects them. It writes nothing.
func New(cfg *config.Config, f Filter) *Plan {
	p := &Plan{cfg: cfg}
	e, prompts := EntryOf(cfg), PrompterOf(cfg)
	e.User, prompts.Project = !f.Project, f.Project
	states := setup.SurveyPrompts(prompts)
	for _, s := range Surveyed(e) {
		named := slices.Contains(f.Clients, s.Client)
		if len(f.Clients) > 0 && !named || !named && rank(s) > 0 {
			continue
		}
		c := Client{ID: s.Client}
		if !f.NoEntries {
			c.Now = p.entry(e, s)
		}
		if i := slices.IndexFunc(states, func(s setup.PromptStatus) bool { return s.Client.ID == c.ID }); i >= 0 && !f.NoPrompts {
			n := len(p.Items)
			c.Now = strings.TrimSpace(c.Now + " " + p.prompts(prompts, states[i]))
			c.Apart = len(p.Items) > n
		}
		for _, item := range p.Items {
			if item.client == c.ID && !slices.Contains(c.Files, Short(cfg.Home, item.Path())) {
				c.Files = append(c.Files, Short(cfg.Home, item.Path()))
			}
		}
		if c.SetUp = len(c.Files) == 0; c.SetUp {
			c.Files = []string{Short(cfg.Home, s.Path)}
		}
		p.Clients = append(p.Clients, c)
	}
	if !f.NoImport {
		p.servers(f)
	}
	if !f.NoLine {
		p.line()
	}
	p.own(f.Own)
	return p
}

// own lets the user turn parts of mcpdeck off, which stay on.
func (p *Plan) own(all []Own) {
	var costs []string
	for _, o := range all {
		place, err := change.OfUser(o.Mode)
		if err != nil {
			continue
		}
		before, err := place.Read()
		if err != nil {
			continue
		}
		cost := o.Title + " ≈ " + snapshot.AboutTokens(o.Adds.Context)
		costs = append(costs, cost)
		p.add(Item{
			Does: "turns " + o.Title + " off, from the next start of mcpdeck", Off: true, keeps: o.Title + " stays on: " + humanize.Count(o.Adds.Tools, "tool") + ", ≈ " + snapshot.AboutTokens(o.Adds.Context) + " tokens per agent",
			edit: change.Edit{Place: place, Before: before, After: []byte("off\n")},
		})
	}
	if len(costs) > 0 {
		p.Own = "mcpdeck's own servers stay on, for each agent: " + strings.Join(costs, ", ") + " tokens"
	}
}

// entry plans the one of mcpdeck in a client, and returns what the user does then.
func (p *Plan) entry(e setup.Entry, s setup.Status) (now string) {
	c, _ := clients.Find(s.Client)
	if s.State == setup.Differs {
		p.remark("%s: the entry in %s is not the one that setup writes; see the difference with: mcpdeck setup %s --user", c.ID, Short(p.cfg.Home, s.Path), c.ID)
		return ""
	}
	change, err := setup.Plan(c.ID, e)
	switch {
	case err != nil:
		p.remark("%s: left alone: %v", c.ID, err)
		return ""
	case change.Same():
		return ""
	}
	does := "adds mcpdeck to " + c.Title
	if change.Edit().Place.Shared() {
		does += " for all who work on this project"
	}
	p.add(Item{Does: does, client: c.ID, edit: change.Edit(), onto: change.Onto})
	return toDo(c, change.Notes)
}

// toDo is what the user does once a change is made, but for restarting the client.
func toDo(c clients.Client, notes []string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.Join(notes, " "), "Restart "+c.Title+".", ""))
}

// prompts plans what brings a client's own prompts into the inbox.
func (p *Plan) prompts(with setup.Prompter, s setup.PromptStatus) (now string) {
	if s.State == setup.SetUp && len(s.Missing) == 0 {
		if len(s.Off) > 0 {
			p.remark("%s: its prompts stay in its terminal: %s is set in %s", s.Client.ID, strings.Join(s.Off, ", "), Short(p.cfg.Home, s.Path))
		}
		return ""
	}
	if why := offBecause(p.cfg, s.Client.ID); why != "" {
		p.remark("%s: its prompts stay in its terminal: config.toml has %s", s.Client.ID, why)
		return ""
	}
	change, err := setup.PlanPrompts(s.Client.ID, with)
	switch {
	case err != nil:
		p.remark("%s: its prompts stay in its terminal: %v", s.Client.ID, err)
		return ""
	case change == nil || change.Same():
		return ""
	}
	for _, part := range change.Parts() {
		does := cmp.Or(part.Does, "brings the prompts of "+s.Client.Title+" to the inbox")
		p.add(Item{Does: does, client: s.Client.ID, edit: part.Edit(), onto: part.Onto})
	}
	return toDo(s.Client, append(change.Notes, change.Says))
}

// servers plans the import of those that the clients have.
func (p *Plan) servers(f Filter) {
	root := ""
	if f.Project {
		root = p.cfg.ProjectRoot()
	}
	var all []clients.Client
	for _, c := range clients.All() {
		if slices.ContainsFunc(p.Clients, func(found Client) bool { return found.ID == c.ID }) {
			all = append(all, c)
		}
	}
	sources, errs := cards.OfClients(all, p.cfg.ClientFolders(), root)
	for _, err := range errs {
		p.remark("no servers are imported from there: %v", err)
	}
	found := cards.Plan(sources, cards.Options{Config: p.cfg, Own: ownPath()})
	from := map[string][]string{}
	for _, row := range found.Rows {
		switch name := row.Source.Client.ID; {
		case row.Why == cards.RunsDeck:
		case row.Card == "":
			p.remark("%s: %s is not imported: %s", name, row.Entry.Name(), row.Why)
		case len(row.Lacks) > 0:
			p.remark("%s: %s is not imported: it asks for %s; see mcpdeck import %[1]s", name, row.Entry.Name(), row.Lacks[0].ID)
			from[row.Card] = nil
		case !slices.Contains(from[row.Card], name):
			from[row.Card] = append(from[row.Card], name)
		}
	}
	for _, card := range found.Cards {
		if len(from[card.Name]) == 0 {
			continue
		}
		edit, err := cards.File(p.cfg.CardFile(card.Name), card)
		if err == nil && edit.Before != nil {
			err = fmt.Errorf("%s already exists", edit.Place.Path())
		}
		if err != nil {
			p.remark("%s is not imported: %v", card.Name, err)
			continue
		}
		does := fmt.Sprintf("imports %s from %s, off", card.Name, strings.Join(from[card.Name], " and "))
		if lacks := card.Missing(func(string) bool { return false }); len(lacks) > 0 {
			does += "; it needs the secret " + strings.Join(lacks, ", ")
		}
		p.add(Item{Does: does, card: card, edit: edit})
	}
}

// tmuxLine shows who waits at the end of tmux's status line.
const tmuxLine = "set -ga status-right ' #(%s status --format tmux)'\n"

// line plans that of tmux, where tmux is used.
func (p *Plan) line() {
	command := strings.Join(append([]string{ownPath()}, p.cfg.Options()...), " ")
	if strings.ContainsAny(command, "'\"\\#)") || !found("tmux") {
		return
	}
	folders := p.cfg.ClientFolders()
	files := []string{filepath.Join(folders.Home, ".tmux.conf"), filepath.Join(folders.Config, "tmux", "tmux.conf"), filepath.Join(folders.Home, ".config", "tmux", "tmux.conf")}
	at := slices.IndexFunc(files, func(path string) bool {
		info, err := os.Stat(path)
		return filepath.IsAbs(path) && err == nil && info.Mode().IsRegular()
	})
	if at < 0 && config.Env("TMUX") == "" {
		return
	}
	place, err := change.OfUser(files[max(at, 0)])
	if err != nil {
		return
	}
	before, err := place.Read()
	if err != nil || strings.Contains(string(before), "status --format") {
		return
	}
	after := slices.Clone(before)
	if n := len(after); n > 0 && after[n-1] != '\n' {
		after = append(after, '\n')
	}
	after = fmt.Appendf(after, tmuxLine, command)
	p.add(Item{Does: "shows who waits in tmux's status line", edit: change.Edit{Place: place, Before: before, After: after}})
}

func (p *Plan) add(i Item) { p.Items = append(p.Items, i) }

func (p *Plan) remark(format string, args ...any) {
	p.Remarks = append(p.Remarks, fmt.Sprintf(format, args...))
}

// Wanted are how many items are.
func (p *Plan) Wanted() (n int) {
	for _, i := range p.Items {
		if !i.Off {
			n++
		}
	}
	return n
}

// Cards are the servers that are wanted.
func (p *Plan) Cards() (out []settings.Card) {
	for _, i := range p.Items {
		if !i.Off && i.card.Name != "" {
			out = append(out, i.card)
		}
	}
	return out
}

// Diffs are what becomes of each file by what is wanted.
func (p *Plan) Diffs() ([]Diff, error) {
	var out []Diff
	for _, i := range p.Items {
		if i.Off {
			continue
		}
		at := slices.IndexFunc(out, func(d Diff) bool { return d.Path == i.Path() })
		if at < 0 {
			out = append(out, Diff{Path: i.Path(), Does: []string{i.Does}, Edit: i.edit})
			continue
		}
		edit, err := i.onto(out[at].Edit)
		if err != nil {
			return nil, err
		}
		out[at].Does, out[at].Edit = append(out[at].Does, i.Does), edit
	}
	return Lines(p.cfg, out, p.Cards())
}

// Lines returns diffs with their lines and, where servers are imported, what becomes of the
// schema of their files.
func Lines(cfg *config.Config, all []Diff, imported []settings.Card) ([]Diff, error) {
	var secrets []string
	for _, c := range append(imported, cfg.Cards...) {
		secrets = append(secrets, c.Secrets()...)
	}
	for i := range all {
		all[i].Lines = change.Preview(all[i].Edit.Before, all[i].Edit.After, secrets...)
	}
	if len(imported) > 0 {
		schema, err := cards.Schema(cfg)
		if err != nil {
			return nil, err
		}
		if !schema.Same() { // nobody wants to read what is in it
			all = append(all, Diff{Path: schema.Place.Path(), Does: []string{"tells editors what a server's file may hold"}, Edit: schema})
		}
	}
	return all, nil
}

// Apply makes what was shown, all of it or nothing, and returns the ID by which it is undone.
func (p *Plan) Apply(shown []Diff) (id string, err error) { return Apply(p.cfg, "setup", shown) }

// Apply makes what was shown, all of it or nothing, and returns the ID by which it is undone.
func Apply(cfg *config.Config, what string, shown []Diff) (id string, err error) {
	var edits []change.Edit
	for _, d := range shown {
		edits = append(edits, d.Edit)
	}
	e, err := change.Journal{Dir: cfg.Paths.Undo}.Apply(what, edits, nil)
	return e.ID, err
}
