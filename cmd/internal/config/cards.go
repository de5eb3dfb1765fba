package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

const (
	cardFolder = "servers.d"
	cardSuffix = ".toml"
	cardLimit  = 1 << 20 // bytes of a file of settings
)

// CardFolder is where the cards are that belong to a configuration file.
func CardFolder(file string) string { return filepath.Join(filepath.Dir(file), cardFolder) }

// IsCardFile tells whether a path can be that of a card's file.
func IsCardFile(path string) bool {
	name := filepath.Base(path)
	return strings.HasSuffix(name, cardSuffix) && !strings.HasPrefix(name, ".")
}

// BrokenCard is one that cannot be used, and why.
type BrokenCard struct {
	Name, File string
	Err        error
}

// readCards reads the cards of the folder and of the configuration file, which wins.
// What is wrong with one concerns no other.
func (c *Config) readCards() {
	at := map[string]settings.Card{}
	take := func(card settings.Card, path string, warnings []string, err error) {
		card.File = path
		if slices.Contains(c.ownServers(), card.Name) {
			err = errors.New("mcpdeck has a server of this name; choose another")
		}
		where := "server." + card.Name
		if path != c.Paths.Config {
			where = filepath.Base(path)
		}
		for _, w := range warnings {
			c.warnCard(card, path, where, w)
		}
		if err != nil {
			c.warnCard(card, path, where, fmt.Sprintf("%v; this server is left out", err))
			c.Broken = append(c.Broken, BrokenCard{card.Name, path, err})
			return
		}
		at[card.Name] = card
	}
	for _, path := range c.cardFiles() {
		name := strings.TrimSuffix(filepath.Base(path), cardSuffix)
		if _, both := c.File.Server[name]; both {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s is not read: %s has [server.%s]", path, filepath.Base(c.Paths.Config), name))
			continue
		}
		b, err := file.ReadPlain(path, true, cardLimit)
		card, warnings := settings.Card{Name: name}, []string(nil)
		if err == nil {
			c.cardLines[path], _ = linesOf(b)
			card, warnings, err = settings.Decode(name, b)
		}
		take(card, path, warnings, err)
	}
	for _, name := range slices.Sorted(maps.Keys(c.File.Server)) {
		card, warnings, err := c.File.Server[name].Complete(name)
		take(card, c.Paths.Config, warnings, err)
	}
	for _, name := range slices.Sorted(maps.Keys(at)) {
		c.Cards = append(c.Cards, at[name])
	}
}

// warnCard adds a warning about a card, with the line of the setting that it begins with.
func (c *Config) warnCard(card settings.Card, path, where, text string) {
	key, _, _ := strings.Cut(text, ":")
	switch at := c.cardLines[path]; {
	case path == c.Paths.Config:
		c.warn("server."+card.Name+"."+key, where+": "+text)
	case at.set(key) > 0:
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s: line %d: %s", where, at.set(key), text))
	default:
		c.Warnings = append(c.Warnings, where+": "+text)
	}
}

// cardFiles are the files in the folder of cards. Others there, as editors leave them,
// are nobody's concern.
func (c *Config) cardFiles() []string {
	entries, err := os.ReadDir(c.Paths.Cards)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.Warnings = append(c.Warnings, fmt.Sprintf("read the servers you have added: %v", err))
	}
	var out []string
	for _, e := range entries {
		if IsCardFile(e.Name()) {
			out = append(out, filepath.Join(c.Paths.Cards, e.Name()))
		}
	}
	return out
}

// CardFile is where a card of a name is kept.
func (c *Config) CardFile(name string) string { return filepath.Join(c.Paths.Cards, name+cardSuffix) }

// CheckCardName says why a new card cannot have a name.
func (c *Config) CheckCardName(name string) error {
	if slices.Contains(c.ownServers(), name) {
		return fmt.Errorf("%q: mcpdeck has a server of this name; choose another", name)
	}
	return settings.CheckName(name)
}

// WhereCard is the file in which a name is configured, usable or not; "" when it is not.
func (c *Config) WhereCard(name string) string {
	for _, card := range c.Cards {
		if card.Name == name {
			return card.File
		}
	}
	for _, b := range c.Broken {
		if b.Name == name {
			return b.File
		}
	}
	return ""
}
