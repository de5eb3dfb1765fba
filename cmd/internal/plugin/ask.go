package plugin

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin/ask"
	"github.com/mcpdeck/mcpdeck/servers/builtin/ask/mcpserver"
	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog/journal"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
)

func askPlugin() Plugin {
	return Plugin{
		Config: config.Section{Name: "ask"}, // its table is about all that the user is asked
		New:    newAsk, Listed: "its calls wait for you, also after a restart",
		Commands: askCommands, Group: GroupQuestions,
	}
}

func newAsk(e *Env) (*Instance, error) {
	if e.Queue != nil {
		return &Instance{Server: mcpserver.InDeck(mcpserver.InProcess(e.Queue), e.Version)}, nil
	}
	// Without a user here, one may open a deck in the next moment.
	client := questions.NewClient(questions.ClientOptions{Path: e.Config.Paths.AskSocket, Lost: e.Lost, Begin: e.Begin})
	return &Instance{Server: mcpserver.InDeck(mcpserver.Remote(client), e.Version), Move: client.Move, Close: client.Close}, nil
}

// askCommands are the server of questions for one agent, and what can be done about
// questions from a shell.
func askCommands(p *Program) []*cobra.Command {
	all := ask.Commands(func() (ask.Settings, error) {
		cfg, err := p.Load()
		if err != nil {
			return ask.Settings{}, err
		}
		p.Log(cfg)
		program, err := os.Executable()
		if err != nil {
			return ask.Settings{}, fmt.Errorf("find this program: %w", err)
		}
		path, err := cfg.AskSocket()
		s := ask.Settings{
			Socket: path, Session: config.Env("MCPDECK_SESSION"), Root: cfg.ProjectRoot(), Roots: cfg.Roots, Program: program,
			Version: p.Version, Hints: config.Hints(), Redact: redact.Rules{ShapeOnly: cfg.File.Journal.ShapeOnly},
		}
		if cfg.File.Journal.Enabled {
			s.Journal = journal.New(journal.Options{Spool: cfg.Paths.Spool, Warn: func(sentence string) { slog.Warn(sentence) }})
		}
		return s, err
	})
	all[0].GroupID = GroupStarted // the server itself
	return all
}
