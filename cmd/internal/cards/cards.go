// Package cards adds third-party MCP servers to the deck: from a command line, from
// a registry's description of them, and from the configuration of agents' clients.
package cards

import (
	"fmt"
	"strings"

	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/servers/card/settings"
)

// header begins the file of a card.
const header = "# Written by mcpdeck. Changes to this file apply immediately.\n"

// File is the edit that makes the file of a card.
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

// Removal is the edit that takes a card's file away.
func Removal(path string) (change.Edit, error) {
	place, err := change.OfUser(path)
	if err != nil {
		return change.Edit{}, err
	}
	before, err := place.Read()
	return change.Edit{Place: place, Before: before}, err
}

// NameFrom makes the name of a card out of another.
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
