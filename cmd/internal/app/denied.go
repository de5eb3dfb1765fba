package app

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setup"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setupcmd"
	programs "github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/rules"
	"github.com/mcpdeck/mcpdeck/servers/rules/granted"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/tui"
)

// Exact implements inbox.Grants: it plans the entry by which the agent's program allows exactly what it
// has denied by itself.
func (g grants) Exact(d *ask.Denied) (tui.SetupPlan, error) {
	return exactly(g.now(), &d.Record.Request)
}

func exactly(cfg *config.Config, r *ask.Request) (plan tui.SetupPlan, err error) {
	p := r.Prompt
	known := programs.Of(p.Agent).Granted
	switch {
	case known == nil || known.Exact == nil:
		return plan, errors.New("how its program would allow it is not known")
	case r.Peer.Machine != "" || r.Peer.Host != "":
		return plan, errors.New("it was on another machine")
	case p.Command == "" || len(p.Args) > 0:
		return plan, errors.New("only plain commands can be allowed exactly")
	case !redact.Whole([]byte(p.Command)):
		return plan, errors.New("the history does not keep all of it")
	}
	entry := known.Exact.Entry(p.Tool, p.Command)
	if entry == "" {
		return plan, errors.New("its program has no entry for this text alone")
	}
	in := rules.At(cmp.Or(p.Dir, r.Cwd()), r.Cwd(), cfg.Home)
	in.Shell = p.Shell
	if read := rules.Read(p.Command, in); read.Class() == "never" {
		return plan, errors.New(read.Facts()[0].String())
	}
	if in.Root == filepath.ToSlash(cfg.Home) {
		return plan, errors.New("it was in no project")
	}
	place, err := change.InProject(filepath.FromSlash(in.Root), filepath.FromSlash(known.Exact.File))
	if err != nil {
		return plan, fmt.Errorf("find the file: %w", err)
	}
	before, err := place.Read()
	if err != nil {
		return plan, fmt.Errorf("read the file: %w", err)
	}
	after, err := withEntry(before, known.Exact, entry)
	if err != nil {
		return plan, err
	}
	shown, err := setupcmd.Lines(cfg, []setupcmd.Diff{{Path: place.Path(), Does: []string{"allows exactly this command"}, Edit: change.Edit{Place: place, Before: before, After: after}}}, nil)
	if err != nil {
		return plan, err
	}
	for _, s := range shown {
		plan.Files = append(plan.Files, tui.SetupFile{Path: setupcmd.Short(cfg.Home, s.Path), Does: s.Does, Lines: s.Lines})
	}
	plan.Remarks = []string{"Nothing judges this text then: it runs unasked, in each session in this project. Sessions that run may see it only when they are started again; tell the agent to try again."}
	plan.Apply = func() (tui.SetupDone, error) {
		id, err := setupcmd.Apply(cfg, "rules denied", shown)
		if err != nil {
			return tui.SetupDone{}, err
		}
		return tui.SetupDone{Then: []string{"allowed; mcpdeck undo " + id + " takes it back"}}, nil
	}
	return plan, nil
}

// withEntry is the file with an entry at the end of its list.
func withEntry(before []byte, e *granted.Exact, entry string) ([]byte, error) {
	at := map[string]any{}
	if len(before) > 0 {
		var err error
		if at, err = clients.JSON.Decode(before); err != nil {
			return nil, fmt.Errorf("read the file: %w", err)
		}
	}
	last := len(e.List) - 1
	for _, key := range e.List[:last] {
		inner, ok := at[key].(map[string]any)
		if at[key] != nil && !ok {
			return nil, errors.New("the file is not as its program writes it")
		}
		at = inner
	}
	all, ok := at[e.List[last]].([]any)
	switch {
	case at[e.List[last]] != nil && !ok:
		return nil, errors.New("the file is not as its program writes it")
	case slices.Contains(all, any(entry)):
		return nil, errors.New("it is allowed there already")
	}
	return setup.Replace(clients.JSON, before, e.List[:last], nil, []clients.Member{{Key: e.List[last], Value: append(slices.Clip(all), entry)}})
}
