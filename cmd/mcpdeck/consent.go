package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/card/settings"
	"github.com/mcpdeck/mcpdeck/servers/file"
)

// consentFile is where it is kept what of a card the user has agreed to run.
func consentFile(cfg *config.Config, name string) string {
	return filepath.Join(cfg.Paths.CardState, name, "consent")
}

// agreed tells whether the user has turned the card on as it is configured. One that
// has not been, or that runs something else since, does not start by itself: its file
// may have come from anywhere.
func agreed(cfg *config.Config, s settings.Card) bool {
	b, err := file.Read(consentFile(cfg, s.Name), 1<<10)
	return err == nil && strings.TrimSpace(string(b)) == s.Digest()
}

// agree remembers what the user has turned on.
func agree(cfg *config.Config, s settings.Card) error {
	path := consentFile(cfg, s.Name)
	err := file.Folder(filepath.Dir(path))
	if err == nil {
		err = file.Write(path, []byte(s.Digest()+"\n"), file.Options{})
	}
	if err != nil {
		return fmt.Errorf("remember what it runs: %w", err)
	}
	return nil
}

// startsOn tells whether a card is on from the start, and warns when it would be but
// for the user's consent.
func (h *instance) startsOn(cfg *config.Config, s settings.Card) bool {
	switch mode := lastMode(cfg, s.Name); {
	case s.Mode == "on", s.Mode == lazyWord:
	case s.Mode == "last" && (mode == "on" || mode == lazyWord):
	default:
		return false
	}
	if agreed(cfg, s) {
		return true
	}
	what := "is new"
	if _, err := file.Read(consentFile(cfg, s.Name), 1<<10); !errors.Is(err, fs.ErrNotExist) {
		what = "has changed"
	}
	h.host.SetWarnings(s.Name, false, fmt.Sprintf("stays off, because what it runs %s (%s); turn it on with space on it, or with mcpdeck on %s",
		what, strings.Join(strings.Fields(strings.Join(s.Runs(), ", ")), " "), s.Name))
	return false
}
