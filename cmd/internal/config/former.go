package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/support/tomledit"
)

// formerNames are settings by the names of before.
func formerNames() map[string]string {
	out := map[string]string{
		"ask.autofocus": "ui.follow_inbox",
		"ask.notify":    "notify.waiting", "ask.notify_private": "notify.private", "ask.notify_command": "notify.command",
		"prompts.notify_after": "notify.after", "prompts.notify_here": "notify.here",
	}
	for _, agent := range promptAgents() {
		out["prompts."+agent] = "prompts.agents." + agent
	}
	return out
}

// readFormer reads the settings under the names of before, and returns those names. It comes
// before those of now are read, which win.
func (c *Config) readFormer(b []byte, file any) (read []string) {
	t, err := tomledit.Parse(settings.Text(b))
	if err != nil {
		return nil // which reading the others says
	}
	for _, e := range t.Entries {
		path, value := strings.Join(e.Path, "."), ""
		if !e.Header {
			value = strings.TrimSpace(t.Between(e.Value, e.End))
		}
		all := map[string]string{path: value}
		if e.Inline {
			all = inline(path, value)
		}
		for _, was := range slices.Sorted(maps.Keys(all)) {
			if !e.Header && formerNames()[was] != "" {
				c.readAs(formerNames()[was], was, all[was], file)
				read = append(read, was)
			}
		}
	}
	return read
}

// readAs reads a setting by its name of now.
func (c *Config) readAs(now, was, value string, file any) {
	if was == "ask.autofocus" {
		value = fmt.Sprint(strings.Trim(value, `"'`) == "always")
	}
	c.Former = append(c.Former, fmt.Sprintf("%s line %d: %s is %s now", filepath.Base(c.Paths.Config), c.lines.of(was), was, now))
	if c.lines.set(now) > 0 {
		return
	}
	c.lines[now] = c.lines.of(was)
	if _, err := settings.Read([]byte(now+" = "+value), file); err != nil {
		_, why, _ := strings.Cut(err.Error(), ": ")
		c.warn(was, why)
	}
}

// inline are the settings in an inline table by their whole names, each with its value as it
// may be written.
func inline(table, text string) map[string]string {
	var in struct{ V map[string]any }
	if toml.Unmarshal([]byte("v = "+text), &in) != nil {
		return nil // which reading the others says
	}
	out := map[string]string{}
	for name, value := range in.V {
		if b, err := toml.Marshal(map[string]any{"v": value}); err == nil {
			out[table+"."+name] = strings.TrimSpace(strings.TrimPrefix(string(b), "v = "))
		}
	}
	return out
}

// withoutFormer leaves out the warnings that settings are unknown which were read under the
// names of before. Of one in an inline table, the warning has the last part of its name.
func (c *Config) withoutFormer(warnings, read []string) []string {
	return slices.DeleteFunc(warnings, func(w string) bool {
		line, name, _ := strings.Cut(w, ": unknown setting ")
		name, _, _ = strings.Cut(name, ",")
		return slices.ContainsFunc(read, func(was string) bool {
			return name == was || strings.HasSuffix(was, "."+name) && line == fmt.Sprint("line ", c.lines.of(was))
		})
	})
}
