package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Consents are what of each card the user has agreed to, as digests of its settings. They are
// read once: a process that writes them while the deck runs turns nothing on in it.
type Consents struct {
	mu sync.Mutex
	of map[string]string // by the name of the card
}

// consentFile is where it is kept what of a card the user has agreed to.
func consentFile(cfg *config.Config, name string) string {
	return filepath.Join(cfg.Paths.CardState, name, "consent")
}

// readConsents reads those of all cards that have some state.
func readConsents(cfg *config.Config) *Consents {
	out := map[string]string{}
	entries, _ := os.ReadDir(cfg.Paths.CardState) // there may be none
	for _, e := range entries {
		if b, err := file.Read(consentFile(cfg, e.Name()), 1<<10); err == nil {
			out[e.Name()] = strings.TrimSpace(string(b))
		}
	}
	return &Consents{of: out}
}

// terms are what a card runs and may do, and whether the user has agreed to all of it. To one
// that they have not turned on as it is, they have not: its file may have come from anywhere.
func (c *Consents) terms(s settings.Card) snapshot.Terms {
	t := s.Terms()
	c.mu.Lock()
	defer c.mu.Unlock()
	was, known := c.of[s.Name]
	t.Agreed, t.Changed = known && was == t.Digest, known && was != t.Digest
	return t
}

// Agree remembers what the user has turned on.
func (c *Consents) Agree(cfg *config.Config, s settings.Card) error {
	digest := s.Digest()
	c.mu.Lock()
	if c.of == nil {
		c.of = map[string]string{}
	}
	c.of[s.Name] = digest
	c.mu.Unlock()
	if err := file.Write(consentFile(cfg, s.Name), []byte(digest+"\n"), file.Options{Folder: true}); err != nil {
		return fmt.Errorf("remember what it runs: %w", err)
	}
	return nil
}

// startsOn tells whether a card is on from the start, and warns when it would be but
// for the user's consent.
func (u *userServers) startsOn(cfg *config.Config, s settings.Card) bool {
	switch mode := LastMode(cfg, s.Name); {
	case s.Mode == "on", s.Mode == LazyWord:
	case s.Mode == "last" && (mode == "on" || mode == LazyWord):
	default:
		return false
	}
	t := u.consents.terms(s)
	if t.Agreed {
		return true
	}
	why := "it is new"
	if t.Changed {
		why = "its settings have changed"
	}
	u.host.SetWarnings(s.Name, false, fmt.Sprintf("stays off, because %s (%s); see what it runs and turn it on with space on it, or with mcpdeck on %s",
		why, strings.Join(strings.Fields(strings.Join(s.Runs(), ", ")), " "), s.Name))
	return false
}
