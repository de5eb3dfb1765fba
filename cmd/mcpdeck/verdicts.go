package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/card/settings"
	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/file"
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
func readDenied(cfg *config.Config) map[string][]string {
	out := map[string][]string{}
	for _, name := range serverNames() {
		b, _ := os.ReadFile(deniedFile(cfg, name)) // there may be none
		if tools := strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' }); len(tools) > 0 {
			out[name] = tools
		}
	}
	return out
}

// whyDenied is why agents do not have a tool of Pencil's.
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
func (h *instance) Allow(name string, tools []string, allow bool) error {
	verdicts := map[string]string{}
	for _, t := range tools {
		verdicts[t] = "off"
		if allow {
			verdicts[t] = "allow"
		}
	}
	if c, err := h.addedCard(name); err == nil {
		if err := h.allowInFile(c, verdicts); err != nil {
			return fmt.Errorf("turn tools of %s on or off: %w; edit %s", name, err, c.settings.File)
		}
		return nil
	}
	h.denied.mu.Lock()
	off := slices.DeleteFunc(slices.Clone(h.denied.of[name]), func(t string) bool { return verdicts[t] == "allow" })
	if !allow {
		off = append(off, tools...)
	}
	slices.Sort(off)
	off = slices.Compact(off)
	h.denied.of[name] = off
	h.denied.mu.Unlock()
	if name == "pencil" {
		h.pencil.Reoffer()
	} else if err := h.host.Deny(name, off); err != nil {
		return err
	}
	path := deniedFile(h.cfg, name)
	err := file.Folder(filepath.Dir(path))
	if err == nil {
		err = file.Write(path, []byte(strings.Join(off, "\n")), file.Options{})
	}
	if err != nil {
		return fmt.Errorf("remember which tools of %s are off: %w", name, err)
	}
	return nil
}

// allowInFile writes verdicts into a card's file. They hold at once; that the file has
// changed is noticed later.
func (h *instance) allowInFile(c addedCard, verdicts map[string]string) error {
	place, err := change.OfUser(c.settings.File)
	if err != nil {
		return err
	}
	b, err := place.Read()
	if err != nil {
		return err
	}
	table := ""
	if c.settings.File == h.cfg.Paths.Config {
		table = "server." + c.settings.Name
	}
	b, err = settings.SetTools(b, table, verdicts)
	if err == nil {
		err = file.Write(place.Path(), b, file.Options{Keep: true})
	}
	if err != nil {
		return err
	}
	s := c.settings
	s.Tools = maps.Clone(s.Tools)
	if s.Tools == nil {
		s.Tools = map[string]string{}
	}
	maps.Copy(s.Tools, verdicts)
	h.retool(s.Name, c, s)
	return nil
}

// Accept accepts those of a server's held definitions that are as the user has seen
// them, and returns a sentence for the user.
func (h *instance) Accept(name string, seen []deck.Held) (string, error) {
	c := h.pencil.Card
	if name != "pencil" {
		added, err := h.addedCard(name)
		if err != nil {
			return "", err
		}
		c = added.Card
	}
	reply, err := c.AcceptSeen(seen)
	return reply.Text, err
}
