// Package settings defines the configuration of a card, which is any MCP server that the
// user has added to the deck: what to run or connect to, and how agents may use it.
package settings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/mcpdeck/mcpdeck/servers/clients"
	"github.com/mcpdeck/mcpdeck/servers/span"
)

// Card is the configuration of one server. The fields that determine what is started may
// contain the variables of [Values].
type Card struct {
	Name string `toml:"-"`
	File string `toml:"-"` // where the card is configured

	Title string `toml:"title,omitempty"` // shown to the user; "" means Name
	About string `toml:"about,omitempty"`
	Key   string `toml:"key,omitempty"` // turns the card on or off on the deck's page

	// Command is the program and its arguments. A card has either a Command or a URL.
	Command   []string          `toml:"command,omitempty"`
	URL       string            `toml:"url,omitempty"`
	Transport string            `toml:"transport,omitempty"` // for a URL: auto, http, sse
	Env       map[string]string `toml:"env,inline,omitempty"`
	Inherit   []string          `toml:"inherit,omitempty"` // names of mcpdeck's environment variables to pass on
	Headers   map[string]string `toml:"headers,inline,omitempty"`
	AllowHTTP bool              `toml:"allow_http,omitempty"` // allow plain HTTP to another machine
	Cwd       string            `toml:"cwd,omitempty"`        // "" means the project it is started for
	Sandbox   string            `toml:"sandbox,omitempty"`    // off, on

	Mode  string   `toml:"mode,omitempty"`  // last, off, on, lazy
	Share string   `toml:"share,omitempty"` // auto, session, project, deck
	Era   string   `toml:"era,omitempty"`   // auto, legacy, modern
	Keep  bool     `toml:"keep,omitempty"`  // keep one child running
	Pin   string   `toml:"pin,omitempty"`   // all, changes, off
	Trim  []string `toml:"trim,omitempty"`  // members left out of definitions
	Texts string   `toml:"texts,omitempty"` // rename, raw
	// Prefix is prepended to the names of tools and prompts; nil means the card's name.
	Prefix *string `toml:"prefix,omitempty"`
	// Tools are verdicts by name or pattern: allow, ask, off. See [Card.Verdict].
	Tools map[string]string `toml:"tools,inline,omitempty"`

	Resources string `toml:"resources,omitempty"` // on, off
	Prompts   string `toml:"prompts,omitempty"`   // on, off
	Elicit    string `toml:"elicit,omitempty"`    // deck, agent, refuse
	Sampling  string `toml:"sampling,omitempty"`  // refuse, agent
	Roots     string `toml:"roots,omitempty"`     // project, none, list
	Relist    string `toml:"relist,omitempty"`    // auto, start

	MaxInFlight  int           `toml:"max_in_flight,omitempty"`
	CallTimeout  span.Duration `toml:"call_timeout,omitempty"` // 0 means no limit
	StartTimeout span.Duration `toml:"start_timeout,omitempty"`
	IdleStop     span.Duration `toml:"idle_stop,omitempty"` // 0 means five minutes, except for a child of one agent

	OAuth map[string]any `toml:"oauth,inline,omitempty"`
}

// Label returns the card's name as shown to the user.
func (c Card) Label() string {
	if c.Title != "" {
		return c.Title
	}
	return c.Name
}

// ToolPrefix returns the prefix for the names of the card's tools and prompts.
func (c Card) ToolPrefix() string {
	if c.Prefix != nil {
		return *c.Prefix
	}
	return strings.ReplaceAll(c.Name, "-", "_") + "_"
}

// Decode parses and completes a card's file. An error means that the card cannot be used.
func Decode(name string, b []byte) (c Card, warnings []string, err error) {
	if warnings, err = Read(b, &c); err != nil {
		return Card{Name: name}, nil, err
	}
	c, more, err := c.Complete(name)
	return c, append(warnings, more...), err
}

// Encode returns the card's file, omitting default values.
func (c Card) Encode() ([]byte, error) {
	b, err := toml.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("write the settings of %s: %w", c.Name, err)
	}
	return b, nil
}

// Verdict returns the verdict on calls of a tool, by its original name: allow, ask or off.
// An exact name takes precedence over patterns, which may have * at either end, and the
// longest matching pattern over others. A tool without a match is allowed.
func (c Card) Verdict(tool string) string {
	if v, ok := c.Tools[tool]; ok {
		return v
	}
	best, verdict := "", "allow"
	for pattern, v := range c.Tools {
		if clients.Match(pattern, tool) && (best == "" || len(pattern) > len(best) || len(pattern) == len(best) && stricter(v, verdict)) {
			best, verdict = pattern, v
		}
	}
	return verdict
}

func stricter(a, b string) bool {
	order := []string{"allow", "ask", "off"}
	return slices.Index(order, a) > slices.Index(order, b)
}
