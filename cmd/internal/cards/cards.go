// Package cards adds third-party MCP servers to the deck: from a command line, from a
// registry's server description, and from the configuration of agents' clients.
package cards

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
)

// schemaName is what the schema of a card's file is called, to which its first line leads editors.
const schemaName = "server"

// Schema returns the edit that writes the schema that cards' files name, which is none
// where there is one.
func Schema(cfg *config.Config) (change.Edit, error) {
	e, err := change.EditOf(filepath.Join(filepath.Dir(cfg.Paths.Config), config.SchemaFile(schemaName)))
	if e.After = e.Before; err == nil && e.Before == nil {
		e.After, err = config.Schema(schemaName)
	}
	return e, err
}

// File returns the edit that creates a card's file.
func File(path string, card settings.Card) (change.Edit, error) {
	e, err := change.EditOf(path)
	if err != nil {
		return e, err
	}
	body, err := card.Encode()
	if err != nil {
		return e, err
	}
	e.After = append([]byte("#:schema ../"+config.SchemaFile(schemaName)+"\n\n# Written by mcpdeck. Changes to this file apply immediately.\n"), body...)
	return e, nil
}

// Removals delete what is kept of a card, and its file, given by its path, last: once that is
// back, the deck may start the card.
func Removals(cfg *config.Config, name, path string) (edits []change.Edit, err error) {
	kept, err := filepath.Glob(filepath.Join(cfg.Paths.CardState, name, "*")) // a name has no pattern in it
	if err != nil {
		return nil, err
	}
	isFile := func(p string) bool {
		info, err := os.Lstat(p)
		return err == nil && info.Mode().IsRegular()
	}
	for _, p := range append(slices.DeleteFunc(kept, func(p string) bool { return !isFile(p) }), path) {
		e, err := change.EditOf(p)
		if err != nil {
			return nil, err
		}
		edits = append(edits, e)
	}
	return edits, nil
}

// nameFrom derives a valid card name from another name.
func nameFrom(s string) string {
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
