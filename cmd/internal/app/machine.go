package app

import (
	"github.com/mcpdeck/mcpdeck/cmd/internal/cards"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
)

// Machine is where a card is started for the user.
func Machine(cfg *config.Config) cards.Machine {
	return cards.Machine{Environ: cfg.Environ, Dir: cfg.Dir, Root: cfg.ProjectRoot(), Home: cfg.Home, Version: cli.Version()}
}
