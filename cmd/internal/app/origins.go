package app

import (
	"fmt"
	"slices"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cards"
	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/tui/page/servers"
)

// serversPage is the servers as their page sees them.
type serversPage struct {
	*Switches
	now func() *config.Config // as it is now
}

// Origins says of each server that was added where it comes from: which file configures it,
// which clients are set up with it, too, and what it needs that is not set. A client whose
// file cannot be read is left out.
func (p serversPage) Origins() map[string]servers.Origin {
	cfg := p.now()
	out := map[string]servers.Origin{}
	for _, card := range cfg.Cards {
		out[card.Name] = servers.Origin{File: card.File, Needs: Machine(cfg).Needs(card)}
	}
	sources, _ := cards.OfClients(clients.All(), cfg.ClientFolders(), cfg.ProjectRoot())
	for _, row := range cards.Plan(sources, cards.Options{Config: cfg}).Rows {
		o, added := out[row.Card]
		if id := row.Source.Client.ID; added && !slices.Contains(o.From, id) {
			o.From = append(o.From, id)
			out[row.Card] = o
		}
	}
	return out
}

// Remove takes a server that was added out of the deck, as mcpdeck remove does.
func (p serversPage) Remove(name string) (string, error) {
	cfg := p.now()
	where := cfg.WhereCard(name)
	if where == "" || where == cfg.Paths.Config {
		return "", fmt.Errorf("remove %s: it has no file of its own; edit %s", name, cfg.Paths.Config)
	}
	edits, err := cards.Removals(cfg, name, where)
	if err != nil {
		return "", fmt.Errorf("remove %s: %w", name, err)
	}
	entry, err := change.Journal{Dir: cfg.Paths.Undo}.Apply("remove "+name, edits, nil)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("removed %s; undo with: mcpdeck undo %s", name, entry.ID), nil
}
