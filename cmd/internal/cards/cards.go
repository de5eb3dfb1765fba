// Package cards adds third-party MCP servers to the deck: from a command line, from a
// registry's server description, and from the configuration of agents' clients.
package cards

import (
	"fmt"
	"strings"

	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/servers/card/settings"
)

// header is the beginning of a card's file.
const header = "# Written by mcpdeck. Changes to this file apply immediately.\n"

// File returns the edit that creates a card's file.
func File(path string, card settings.Card) (change.Edit, error) {
	place, err := change.OfUser(path)
	if err != nil {
		return change.Edit{}, fmt.Errorf("find the file of %s: %w", card.Name, err)
	}
	before, err := place.Read()
	if err != nil {
		return change.Edit{}, fmt.Errorf("read the file of %s: %w", card.Name, err)
	}
	body, err := card.Encode()
	if err != nil {
		return change.Edit{}, err
	}
	return change.Edit{Place: place, Before: before, After: append([]byte(header), body...)}, nil
}

// Removal returns the edit that deletes a card's file.
func Removal(path string) (change.Edit, error) {
	place, err := change.OfUser(path)
	if err != nil {
		return change.Edit{}, err
	}
	before, err := place.Read()
	return change.Edit{Place: place, Before: before}, err
}

// NameFrom derives a valid card name from another name.
func NameFrom(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	name := strings.Trim(b.String(), "-")
	if name == "" || name[0] < 'a' {
		name = strings.Trim("server-"+name, "-")
	}
	return strings.Trim(name[:min(len(name), 24)], "-")
}
