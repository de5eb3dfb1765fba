// Package settings defines the configuration of a server that the user has added to the
// deck: what to run or connect to, and how agents may use it.
package settings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// Card is the configuration of one server. The fields that determine what is started may
// contain the variables of [Values].
type Card struct {
	Name string `toml:"-"`
	File string `toml:"-"` // where the card is configured

	// Its name on the screen; empty is the name of its file or table.
	Title string `toml:"title,omitempty"`
	// A sentence about it.
	About string `toml:"about,omitempty"`

	// Program and arguments. A server has either a command or a url.
	Command []string `toml:"command,omitempty"`
	// Address to connect to.
	URL string `toml:"url,omitempty"`
	// Protocol of the url.
	Transport string `toml:"transport,omitempty"`
	// Variables for its environment, with values such as "${env:NAME}".
	Env map[string]string `toml:"env,inline,omitempty"`
	// Variables to pass on from mcpdeck's environment.
	Inherit []string `toml:"inherit,omitempty"`
	// Headers of requests to the url.
	Headers map[string]string `toml:"headers,inline,omitempty"`
	// Allow plain HTTP to another machine.
	AllowHTTP bool `toml:"allow_http,omitempty"`
	// Folder to start it in; empty is the project that it is started for.
	Cwd string `toml:"cwd,omitempty"`
	// Not supported yet: on refuses to start it.
	Sandbox string `toml:"sandbox,omitempty"`

	// Whether it is on when the deck starts: last is as you left it.
	Mode string `toml:"mode,omitempty"`
	// Who shares one process of it.
	Share string `toml:"share,omitempty"`
	// Version of the protocol, where its answer does not tell.
	Era string `toml:"era,omitempty"`
	// Keep one process running for the next agent.
	Keep bool `toml:"keep,omitempty"`
	// Which changes of its definitions wait until you accept them.
	Pin string `toml:"pin,omitempty"`
	// Members to leave out of definitions.
	Trim []string `toml:"trim,omitempty"`
	// raw leaves the names of tools in descriptions as they are.
	Texts string `toml:"texts,omitempty"`
	// What the names of its tools and prompts begin with, "" for nothing. Without it: its name.
	Prefix *string `toml:"prefix,omitempty"`
	// Verdicts on tools, by name or by pattern: allow, ask or off. Exact names take precedence.
	Tools map[string]string `toml:"tools,inline,omitempty"`

	// off leaves its resources out.
	Resources string `toml:"resources,omitempty"`
	// off leaves its prompts out.
	Prompts string `toml:"prompts,omitempty"`
	// Who is asked what it wants to know of the user.
	Elicit string `toml:"elicit,omitempty"`
	// agent passes its requests to a model on to its agent.
	Sampling string `toml:"sampling,omitempty"`
	// Folders that it is told of; list is not supported yet.
	Roots string `toml:"roots,omitempty"`
	// When its definitions are read again; start is not supported yet.
	Relist string `toml:"relist,omitempty"`

	// Calls of one process at a time.
	MaxInFlight int `toml:"max_in_flight,omitempty"`
	// How long a call may take; "0s" is without a limit.
	CallTimeout humanize.Duration `toml:"call_timeout,omitempty"`
	// How long a start may take.
	StartTimeout humanize.Duration `toml:"start_timeout,omitempty"`
	// End a process without a call for so long; "0s" is five minutes, except for a process of one agent.
	IdleStop humanize.Duration `toml:"idle_stop,omitempty"`

	// Not supported yet.
	OAuth map[string]any `toml:"oauth,inline,omitempty"`
}

// Label returns the card's name as shown to the user.
func (c Card) Label() string {
	return cmp.Or(c.Title, c.Name)
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
