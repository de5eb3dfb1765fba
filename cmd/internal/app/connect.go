package app

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setupcmd"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/tui"
)

// Connector connects clients from the screen, as mcpdeck setup does: in the user's own files,
// since one deck is for all projects. It implements tui.Setup.
type Connector struct {
	Config func() *config.Config // as it is now
	// Imported hears how a server answered that was imported; nil: it is not started.
	Imported func(server, text string)
}

// Clients implements tui.Setup.
func (s Connector) Clients() []tui.SetupClient {
	var out []tui.SetupClient
	for _, c := range setupcmd.New(s.Config(), setupcmd.Filter{NoImport: true, NoLine: true}).Clients {
		out = append(out, tui.SetupClient{Name: c.ID, Files: c.Files, SetUp: c.SetUp, Apart: c.Apart})
	}
	return out
}

// Plan implements tui.Setup. Without clients there is nothing to change.
func (s Connector) Plan(clients []string) (tui.SetupPlan, error) {
	if len(clients) == 0 {
		return tui.SetupPlan{}, nil
	}
	if err := setupcmd.Lasts(); err != nil {
		return tui.SetupPlan{}, err
	}
	cfg := s.Config()
	p := setupcmd.New(cfg, setupcmd.Filter{Clients: clients, Own: Own(cfg)})
	diffs, err := p.Diffs()
	if err != nil {
		return tui.SetupPlan{}, err
	}
	if p.Own != "" {
		p.Remarks = append(p.Remarks, p.Own+"; S turns them off")
	}
	out := tui.SetupPlan{Remarks: p.Remarks, Question: setupcmd.Question(diffs)}
	for _, d := range diffs {
		out.Files = append(out.Files, tui.SetupFile{Path: setupcmd.Short(cfg.Home, d.Path), Does: slices.Clone(d.Does), Lines: d.Lines})
	}
	out.Apply = func() (tui.SetupDone, error) {
		id, err := p.Apply(diffs)
		if err != nil {
			return tui.SetupDone{}, fmt.Errorf("%w; nothing was changed", err)
		}
		if all := p.Cards(); len(all) > 0 && s.Imported != nil {
			m := Machine(cfg)
			m.Run = cfg.Paths.Run
			recovery.Go("count imported servers", func() { Count(context.Background(), cfg, m, all, s.Imported) })
		}
		return tui.SetupDone{Then: p.Then(), Undo: func() error { return undo(cfg, id) }}, nil
	}
	return out, nil
}

// Own are the servers that are parts of mcpdeck and on. What one costs that could not be made is
// not known.
func Own(cfg *config.Config) (out []setupcmd.Own) {
	for _, p := range plugin.All() {
		if p.HasSwitch || LastMode(cfg, p.Name()) == "off" {
			continue
		}
		made, err := p.New(&plugin.Env{Config: cfg})
		if err != nil {
			continue
		}
		out = append(out, setupcmd.Own{Title: made.Server.Info().Title, Adds: router.Adds(made.Server.Catalogue()), Mode: modeFile(cfg, p.Name())})
	}
	return out
}

// imported logs how a server answered: its row says what it adds, or lacks.
func imported(server, text string) { slog.Info("imported", "server", server, "answer", text) }

func undo(cfg *config.Config, id string) error {
	j := change.Journal{Dir: cfg.Paths.Undo}
	e, err := j.Entry(id)
	if err != nil {
		return err
	}
	u, err := j.Plan(e)
	if err != nil {
		return err
	}
	return u.Apply()
}

// Snippet implements tui.Setup.
func (s Connector) Snippet() string {
	text, err := setupcmd.Snippet(s.Config())
	if err != nil {
		return "" // the page leads to mcpdeck setup instead
	}
	return text
}

// AsIs is the flag of mcpdeck mcp with which a card has its tools under the names that
// the server gave them.
const AsIs = "as-is"
