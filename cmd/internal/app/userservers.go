package app

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cards"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/fuzzy"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
)

// userServers are the servers that the user has added, while the deck runs.
type userServers struct {
	host     *router.Host
	person   bool // one can answer here
	form     func(ctx context.Context, e upstream.Elicitation, title, program string) (upstream.Elicited, error)
	marks    *marking
	consents *Consents

	mu sync.Mutex // guards what follows
	at map[string]addedCard
}

type addedCard struct {
	*upstream.Card
	settings settings.Card
	replaced chan struct{}                  // closed when another is in its place, or none
	tools    *atomic.Pointer[settings.Card] // of what agents may have of it
}

// replaceLimit is how long the program of a card may take to end that is removed or
// configured anew.
const replaceLimit = 5 * time.Second

// take has the host serve the cards that a configuration names, and no others. It
// is for one goroutine at a time.
func (u *userServers) take(cfg *config.Config) {
	now := map[string]settings.Card{}
	for _, s := range cfg.Cards {
		now[s.Name] = s
	}
	u.mu.Lock()
	before := maps.Clone(u.at)
	u.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, stays := now[name]; !stays {
			u.replace(name, addedCard{}, u.host.Remove)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		old, known := before[name]
		if known && reflect.DeepEqual(old.settings, now[name]) {
			continue
		}
		if known && retooled(old.settings, now[name]) {
			u.retool(name, old, now[name])
			continue
		}
		c := u.make(cfg, now[name])
		u.host.SetLazy(name, startsLazy(cfg, now[name]))
		module := upstream.NewAdapter(c.Card, upstream.AdapterOptions{})
		u.replace(name, c, func(ctx context.Context, _ string) error {
			if known {
				return u.host.Replace(ctx, module)
			}
			return u.host.Add(module)
		})
	}
}

// retooled tells whether settings differ in nothing but what agents may have of a server.
func retooled(before, after settings.Card) bool {
	after.Tools, after.Prompts, after.Resources = before.Tools, before.Prompts, before.Resources
	return reflect.DeepEqual(before, after)
}

// retool lets agents have other tools, prompts and resources of a card that goes on.
func (u *userServers) retool(name string, c addedCard, s settings.Card) {
	c.settings = s
	c.tools.Store(&s)
	u.mu.Lock()
	u.at[name] = c
	u.mu.Unlock()
	c.Reoffer()
}

// replace changes what the host serves by that name, and warns if that fails.
func (u *userServers) replace(name string, c addedCard, change func(context.Context, string) error) {
	ctx, cancel := context.WithTimeout(context.Background(), replaceLimit)
	defer cancel()
	if old, err := u.find(name); err == nil {
		close(old.replaced)
	}
	if err := change(ctx, name); err != nil {
		u.host.Warn(name, err.Error())
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if c.Card == nil {
		delete(u.at, name)
		return
	}
	if u.at == nil {
		u.at = map[string]addedCard{}
	}
	u.at[name] = c
}

// make makes a card of its settings.
func (u *userServers) make(cfg *config.Config, s settings.Card) addedCard {
	tools := &atomic.Pointer[settings.Card]{}
	tools.Store(&s)
	o := upstream.Options{
		Name: s.Name, Title: s.Label(), Version: cli.Version(), Pins: filepath.Join(cfg.Paths.CardState, s.Name, "pins.json"), Fault: FaultFile(cfg, s.Name), Count: CountFile(cfg, s.Name),
		Era: cards.EraOf(s.Era), OnDemand: true, StartOn: u.startsOn(cfg, s), Share: shareOf(s), Warm: s.Keep && u.person, Root: cfg.ProjectRoot(),
		Hold:    catalogue.Hold(s.Pin),
		Ask:     func(tool string) bool { return tools.Load().Verdict(tool) == "ask" },
		NoRoots: s.Roots == "none",
		Catalogue: catalogue.Options{
			Prefix: s.ToolPrefix(), Bare: s.ToolPrefix() == "", RawTexts: s.Texts == "raw", Trim: s.Trim,
			Without: func(k catalogue.Kind) bool { return isWithout(*tools.Load(), k) }, Off: func(tool string) string { return whyOff(*tools.Load(), tool) },
		},
		Limits: upstream.Limits{InFlight: s.MaxInFlight, Call: time.Duration(s.CallTimeout), Start: time.Duration(s.StartTimeout), Idle: time.Duration(s.IdleStop)},
	}
	// Without a deck, there is only the agent to pass a question of the server on to the user.
	o.ElicitAgent, o.SampleAgent = s.Elicit == "agent" || s.Elicit == "deck" && !u.person, s.Sampling == "agent"
	if u.person && s.Elicit != "refuse" && !o.ElicitAgent {
		o.Elicit = func(ctx context.Context, e upstream.Elicitation) (upstream.Elicited, error) {
			return u.form(ctx, e, s.Label(), cmp.Or(strings.Join(s.Command[:min(len(s.Command), 1)], ""), s.Name))
		}
	}
	o.Secrets = &redact.Known{}
	o.Hooks.Find = func(from upstream.From) (upstream.Found, error) {
		o.Secrets.Add(cards.Secrets(s, machineOf(cfg, from))...)
		return behindCard(cfg, s, from)
	}
	var c *upstream.Card
	o.Start = u.marks.starter(func(text string) { c.Note(text) })
	c = upstream.New(o)
	return addedCard{Card: c, settings: s, replaced: make(chan struct{}), tools: tools}
}

// shareOf is which agents have a child of the card in common.
func shareOf(s settings.Card) upstream.Share {
	if s.Share == "auto" && s.URL != "" {
		return upstream.ShareSession // a session of HTTP is the agent's own, in either era
	}
	return upstream.Share(s.Share)
}

// machineOf is where a card is started on someone's behalf: an agent's in its project.
func machineOf(cfg *config.Config, from upstream.From) cards.Machine {
	m := Machine(cfg)
	if from.Agent == "" {
		return m
	}
	m.Root = from.Root
	if info, err := os.Stat(from.Root); err == nil && info.IsDir() { // an agent elsewhere may have one that is not here
		m.Dir = from.Root
	}
	return m
}

// behindCard is what runs behind a card on someone's behalf.
func behindCard(cfg *config.Config, s settings.Card, from upstream.From) (upstream.Found, error) {
	found := upstream.Found{Source: s.File}
	machine := machineOf(cfg, from)
	var err error
	if s.URL != "" {
		found.Open, err = cards.Connection(s, machine)
	} else {
		found.Command, err = cards.Program(s, machine)
	}
	return found, err
}

// whyOff is why agents do not have a tool.
func whyOff(s settings.Card, tool string) string {
	switch s.Verdict(tool) {
	case "off":
		return "turned off in the settings"
	}
	return ""
}

// isWithout tells whether agents have no prompts of a card, or no resources.
func isWithout(s settings.Card, k catalogue.Kind) bool {
	return k == catalogue.OfPrompt && s.Prompts == "off" || k == catalogue.OfTemplate && s.Resources == "off"
}

// modeFile is where it is kept whether a card was on.
func modeFile(cfg *config.Config, name string) string {
	return filepath.Join(cfg.Paths.CardState, name, "mode")
}

// FaultFile is where it is kept what went wrong last with a server.
func FaultFile(cfg *config.Config, name string) string {
	return filepath.Join(cfg.Paths.CardState, name, "fault.json")
}

// CountFile is where it is kept how many tools a server had when they were counted last.
func CountFile(cfg *config.Config, name string) string {
	return filepath.Join(cfg.Paths.CardState, name, "count.json")
}

// LastMode is what the user chose last, "" for nothing yet.
func LastMode(cfg *config.Config, name string) string {
	mode, _, _ := strings.Cut(keptMode(cfg, name), " ")
	return mode
}

// keptMode are the words that are kept of a server's mode.
func keptMode(cfg *config.Config, name string) string {
	b, _ := file.Read(modeFile(cfg, name), 1<<10) // there may be none
	return strings.TrimSpace(string(b))
}

// find finds a card by its name.
func (u *userServers) find(name string) (addedCard, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if c, ok := u.at[name]; ok {
		return c, nil
	}
	if meant := fuzzy.Meant(name, slices.Collect(maps.Keys(u.at))); meant != "" {
		return addedCard{}, fmt.Errorf("unknown server %q; did you mean %q?", name, meant)
	}
	return addedCard{}, fmt.Errorf("unknown server %q; mcpdeck list shows them", name)
}
