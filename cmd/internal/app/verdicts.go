package app

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// denied are the tools that the user has turned off of servers that have no file of
// their own.
type denied struct {
	mu sync.Mutex
	of map[string][]string // by server, sorted
}

// deniedFile is where they are kept, one a line.
func deniedFile(cfg *config.Config, server string) string {
	return filepath.Join(cfg.Paths.CardState, server, "denied")
}

// readDenied are those of every server.
func readDenied(cfg *config.Config) *denied {
	out := map[string][]string{}
	for _, name := range plugin.Names() {
		b, _ := file.Read(deniedFile(cfg, name), 1<<20) // there may be none
		if tools := strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' }); len(tools) > 0 {
			out[name] = tools
		}
	}
	return &denied{of: out}
}

// whyDenied is why agents do not have a tool of a server with a switch of its own.
func (d *denied) whyDenied(server, tool string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.Contains(d.of[server], tool) {
		return "turned off"
	}
	return ""
}

// Allow gives agents tools of a server, or takes them away, by the names by which the
// server lists them. Those of an added server are noted in its file, others in the
// deck's state.
func (w *Switches) Allow(name string, tools []string, allow bool) error {
	verdicts := map[string]string{}
	for _, t := range tools {
		verdicts[t] = "off"
		if allow {
			verdicts[t] = "allow"
		}
	}
	if c, err := w.user.find(name); err == nil {
		s := c.settings
		s.Tools = maps.Clone(s.Tools)
		if s.Tools == nil {
			s.Tools = map[string]string{}
		}
		maps.Copy(s.Tools, verdicts)
		return w.inFile(c, s, "tools", func(b []byte, table string) ([]byte, error) { return settings.SetTools(b, table, verdicts) })
	}
	w.denied.mu.Lock()
	off := slices.DeleteFunc(slices.Clone(w.denied.of[name]), func(t string) bool { return verdicts[t] == "allow" })
	if !allow {
		off = append(off, tools...)
	}
	slices.Sort(off)
	off = slices.Compact(off)
	w.denied.of[name] = off
	w.denied.mu.Unlock()
	if own := w.switchOf(name); own != nil {
		own.Program().Reoffer()
	} else if err := w.host.Deny(name, off); err != nil {
		return err
	}
	if err := file.Write(deniedFile(w.cfg, name), []byte(strings.Join(off, "\n")), file.Options{Folder: true}); err != nil {
		return fmt.Errorf("remember which tools of %s are off: %w", name, err)
	}
	return nil
}

// Offer gives agents the resources or the prompts of an added server, or takes them
// away, and notes it in the server's file.
func (w *Switches) Offer(name string, kind snapshot.Kind, offer bool) error {
	c, err := w.user.find(name)
	if err != nil {
		return fmt.Errorf("only tools of %s can be turned off", name)
	}
	s, word := c.settings, "off"
	if offer {
		word = "on"
	}
	switch kind {
	case snapshot.Resources:
		s.Resources = word
	case snapshot.Prompts:
		s.Prompts = word
	}
	return w.inFile(c, s, string(kind), func(b []byte, table string) ([]byte, error) {
		return settings.SetWord(b, table, string(kind), word, "on")
	})
}

// inFile changes what agents may have of a card, and its file. It holds at once; that the
// file has changed is noticed later.
func (w *Switches) inFile(c addedCard, s settings.Card, what string, edit func(b []byte, table string) ([]byte, error)) error {
	table := ""
	if s.File == w.cfg.Paths.Config {
		table = "server." + s.Name
	}
	e, err := change.EditOf(s.File)
	if err == nil {
		e.After, err = edit(e.Before, table)
	}
	if err == nil {
		err = file.Write(e.Place.Path(), e.After, file.Options{Keep: true})
	}
	if err != nil {
		return fmt.Errorf("turn %s of %s on or off: %w; edit %s", what, s.Name, err, s.File)
	}
	w.user.retool(s.Name, c, s)
	return nil
}

// Accept accepts those of a server's held definitions that are as the user has seen
// them, and returns a sentence for the user.
func (w *Switches) Accept(name string, seen []snapshot.Held) (string, error) {
	var c *upstream.Card
	if own := w.switchOf(name); own != nil {
		c = own.Program()
	} else {
		added, err := w.user.find(name)
		if err != nil {
			return "", err
		}
		c = added.Card
	}
	reply, err := c.AcceptShown(c.Status().Seen(seen))
	return reply.Text, err
}
