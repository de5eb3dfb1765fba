package app

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cards"
	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setupcmd"
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
	for _, row := range p.imports(cfg).Rows {
		o, added := out[row.Card]
		if id := row.Source.Client.ID; added && !slices.Contains(o.From, id) {
			o.From = append(o.From, id)
		}
		if added {
			o.Own = o.Own || row.Of(row.Card)
			out[row.Card] = o
		}
	}
	return out
}

// imports are the clients' entries, with the servers of the deck that are the same.
func (p serversPage) imports(cfg *config.Config) cards.Import {
	sources, _ := cards.OfClients(clients.All(), cfg.ClientFolders(), cfg.ProjectRoot()) // what cannot be read is left out
	return cards.Plan(sources, cards.Options{Config: cfg})
}

// Elsewhere plans to take a server out of the user's own files of clients.
func (p serversPage) Elsewhere(name string) (servers.Elsewhere, error) {
	there, _, err := p.elsewhere(name)
	return there, err
}

func (p serversPage) elsewhere(name string) (there servers.Elsewhere, edits []change.Edit, err error) {
	cfg := p.now()
	found := p.imports(cfg)
	if edits, err = found.Without(name); err != nil {
		return there, nil, err
	}
	for i := range found.Rows {
		if row := &found.Rows[i]; row.Of(name) && !slices.Contains(there.Clients, row.Source.Client.ID) {
			there.Clients = append(there.Clients, row.Source.Client.ID)
		}
	}
	var secrets []string
	for _, card := range cfg.Cards {
		secrets = append(secrets, card.Secrets()...)
	}
	for _, e := range edits {
		there.Rows = append(append(there.Rows, setupcmd.Short(cfg.Home, e.Place.Path())), change.Preview(e.Before, e.After, secrets...)...)
	}
	return there, edits, nil
}

// RemoveElsewhere takes a server out of the user's own files of clients.
func (p serversPage) RemoveElsewhere(name string, shown servers.Elsewhere) (string, error) {
	there, edits, err := p.elsewhere(name)
	if err == nil && !slices.Equal(there.Rows, shown.Rows) {
		err = errors.New("these files are not as they were shown; nothing was changed")
	}
	if err != nil {
		return "", err
	}
	entry, err := p.journal().Apply(fmt.Sprintf("remove %s from %s", name, strings.Join(there.Clients, ", ")), edits, nil)
	return entry.ID, err
}

func (p serversPage) journal() change.Journal { return change.Journal{Dir: p.now().Paths.Undo} }

// Undo takes a change of files back.
func (p serversPage) Undo(id string) error { return undo(p.now(), id) }

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
	entry, err := p.journal().Apply("remove "+name, edits, nil)
	return entry.ID, err
}
