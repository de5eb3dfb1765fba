package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
)

// Profile is what some agents have of the servers that are on.
type Profile struct {
	// Servers that they have; none: all.
	Servers []string `toml:"servers"`
	// Tools to allow or turn off, by the names that agents see, or patterns such as "github_*".
	Tools map[string]string `toml:"tools"`
	// Servers whose tools they find by search; "auto" is as for all agents.
	Lazy any `toml:"lazy"`
	// Agents that have the profile without naming it: all of this must fit.
	Match ProfileMatch `toml:"match"`
}

// ProfileMatch says which agents have a profile.
type ProfileMatch struct {
	// What the client says it is, or a pattern.
	Client string `toml:"client"`
	// Folder of the project, or one that it lies in.
	Project string `toml:"project"`
	// The program, as the system knows it.
	Program string `toml:"program"`
}

// Profiles are those of the file, in its order.
func (c *Config) Profiles() (out []router.Profile) {
	names := slices.DeleteFunc(slices.Clone(c.profiles), func(n string) bool { _, is := c.File.Profile[n]; return !is })
	for _, n := range slices.Sorted(maps.Keys(c.File.Profile)) {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	for _, n := range names {
		p := c.File.Profile[n]
		made := router.Profile{Name: n, Servers: p.Servers, Tools: p.Tools, Match: router.Match{Client: p.Match.Client, Program: p.Match.Program}}
		made.Lazy, _ = lazyIn(p.Lazy)
		if dir := p.Match.Project; dir != "" {
			if rest, home := strings.CutPrefix(dir, "~"); home && (rest == "" || rest[0] == '/') {
				dir = c.Home + rest
			}
			made.Match.Project = filepath.Clean(dir)
		}
		out = append(out, made)
	}
	return out
}

// lazyIn are the servers that a profile names as lazy, nil for "auto"; false for
// something else.
func lazyIn(v any) ([]string, bool) {
	list, is := v.([]any)
	if !is {
		return nil, v == nil || v == "auto"
	}
	out := []string{}
	for _, w := range list {
		s, text := w.(string)
		if !text {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

// checkProfiles warns of profiles that are not what they seem.
func (c *Config) checkProfiles() {
	known := c.ownServers()
	for _, card := range c.Cards {
		known = append(known, card.Name)
	}
	for _, n := range slices.Sorted(maps.Keys(c.File.Profile)) {
		p := c.File.Profile[n]
		where := "profile." + n
		lazy, ok := lazyIn(p.Lazy)
		if !ok {
			c.warn(where+".lazy", where+`.lazy: use "auto" or a list of servers`)
		}
		for _, s := range slices.Concat(p.Servers, lazy) {
			if s != "*" && !slices.Contains(known, s) {
				c.warn(where+".servers", fmt.Sprintf("%s: unknown server %q%s", where, s, didYouMean(s, known)))
			}
		}
		for _, tool := range slices.Sorted(maps.Keys(p.Tools)) {
			if w := p.Tools[tool]; w != "allow" && w != "off" {
				c.warn(where+".tools."+tool, fmt.Sprintf("%s.tools.%s: unknown value %q counts as off; use allow, off", where, tool, w))
			}
		}
		if dir := p.Match.Project; dir != "" && !filepath.IsAbs(dir) && !strings.HasPrefix(dir, "~") {
			c.warn(where+".match.project", where+".match.project: use an absolute path or one that begins with ~")
		}
	}
}
