package cards

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child/streamable"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
)

// patience is how long a card's program may take to exit: some save their data first.
const patience = 1500 * time.Millisecond

func (m Machine) variable(name string) (string, bool) { return process.Lookup(m.Environ, name) }

// expand replaces the variables of a card. The text of an error is for the user.
func (m Machine) expand(card settings.Card) (settings.Card, error) {
	full, missing := card.Expand(settings.Values{Root: m.Root, Home: m.Home, Env: m.variable})
	if len(missing) > 0 {
		return full, fmt.Errorf("it needs %s", strings.Join(missing, ", "))
	}
	return full, nil
}

// Needs returns the names of the variables and secrets that a card needs and that are not set.
func (m Machine) Needs(card settings.Card) []string {
	_, missing := card.Expand(settings.Values{Root: "/", Home: "/", Env: m.variable})
	for i, whole := range missing {
		_, missing[i], _ = strings.Cut(strings.TrimSuffix(whole, "}"), ":")
	}
	return missing
}

// Secrets returns what looks like a secret among all that a card's program or URL is given.
func Secrets(card settings.Card, m Machine) []string {
	full, err := m.expand(card)
	if err != nil {
		full = card
	}
	full.Env = maps.Clone(full.Env)
	if full.Env == nil {
		full.Env = map[string]string{}
	}
	for _, name := range full.Inherit {
		if v, ok := m.variable(name); ok {
			full.Env[name] = v
		}
	}
	return full.Secrets()
}

// Program returns how to start a card's program. The text of an error is for the user.
func Program(card settings.Card, m Machine) (process.Command, error) {
	full, err := m.expand(card)
	if err != nil {
		return process.Command{}, err
	}
	c := process.Of(full.Command, process.Install, m.Environ) // npx and uvx download what they start
	c.Patience = patience
	if c.Dir = full.Cwd; c.Dir == "" {
		c.Dir = m.Dir
	}
	for _, name := range full.Inherit {
		if v, ok := m.variable(name); ok {
			c.Extra = append(c.Extra, name+"="+v)
		}
	}
	for name, value := range full.Env {
		c.Extra = append(c.Extra, name+"="+value)
	}
	return c, nil
}

// Connection returns how to connect to a card's URL. The text of an error is for the user.
func Connection(card settings.Card, m Machine) (func(*child.Log) (child.Link, error), error) {
	full, err := m.expand(card)
	if err != nil {
		return nil, err
	}
	return func(log *child.Log) (child.Link, error) {
		return streamable.Open(streamable.Options{
			Name: card.Name, URL: full.URL, Transport: streamable.Transport(card.Transport), Headers: full.Headers, AllowHTTP: card.AllowHTTP,
			Version: m.Version, Log: log, Proxy: http.ProxyFromEnvironment,
		})
	}, nil
}
