package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/gittree"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/page/agents"
	"github.com/mcpdeck/mcpdeck/tui/page/ask"
	"github.com/mcpdeck/mcpdeck/tui/page/calls"
	"github.com/mcpdeck/mcpdeck/tui/page/card"
	"github.com/mcpdeck/mcpdeck/tui/page/clippy"
	"github.com/mcpdeck/mcpdeck/tui/page/deck"
	"github.com/mcpdeck/mcpdeck/tui/page/drift"
	"github.com/mcpdeck/mcpdeck/tui/page/pencil"
	"github.com/mcpdeck/mcpdeck/tui/page/pixels"
)

// page is one page of the screen. Its place in the table gives it the digit that
// leads to it; its title and its keys are its own.
type page struct {
	id   string // in actions, configuration and state
	make func(h *instance, watch bool, d *drift.Page) tui.Page
}

// pages is the table of them; the first is home. The page of drift comes with it,
// since it has a line on the deck, too.
func pages() []page {
	return []page{
		{deck.ID, func(h *instance, watch bool, d *drift.Page) tui.Page {
			return deck.New(deck.Options{
				Host: h.host, Cards: h, CallsPage: calls.ID, AskPage: ask.ID, AgentsPage: agents.ID, Questions: h.queue, Setup: screenSetup{h.cfg}, Watch: watch,
				Tells: map[string]string{"pencil": card.ID}, CardsPage: card.ID, Jump: h.jumpTo,
				Widgets: []deck.Widget{pencil.NewWidget(h.pencil), clippy.NewWidget(h.clippy), drift.NewWidget(d)},
			})
		}},
		{ask.ID, func(h *instance, watch bool, _ *drift.Page) tui.Page {
			o := h.cfg.AskScreen()
			o.Watch, o.Gate, o.Jump, o.LooksAt, o.Files = watch, h.gate, h.jumpTo, h.looksAt, h.filesIn
			return ask.New(h.queue, o)
		}},
		{agents.ID, func(h *instance, _ bool, _ *drift.Page) tui.Page {
			return agents.New(agents.Options{Jump: h.jump, AskPage: ask.ID, CallsPage: calls.ID, Questions: h.queue})
		}},
		{calls.ID, func(h *instance, _ bool, _ *drift.Page) tui.Page {
			o := calls.Options{Bodies: h, Pictures: h.host, Questions: h.queue, Commands: h.repeating}
			if h.earlier != nil {
				o.Earlier = h.earlier
			}
			return calls.New(o)
		}},
		{card.ID, func(h *instance, _ bool, _ *drift.Page) tui.Page {
			return card.New(card.Options{Cards: h, CallsPage: calls.ID, Parts: map[string]card.Part{
				"pencil": pencil.New(pencil.Options{Mode: h.pencil, Page: card.ID, Folder: h.cfg.Dir}),
			}})
		}},
		{pixels.ID, func(h *instance, _ bool, _ *drift.Page) tui.Page { return h.pictures }},
		{drift.ID, func(_ *instance, _ bool, d *drift.Page) tui.Page { return d }},
	}
}

// pageIDs are those of the table, in its order.
func pageIDs() []string {
	var ids []string
	for _, p := range pages() {
		ids = append(ids, p.id)
	}
	return ids
}

func (h *instance) pages(watch bool) []tui.Page {
	contracts := drift.New(drift.Options{Source: h.stamp.Service(), Project: h.cfg.ProjectRoot(), Editor: h.cfg.Editor()})
	var out []tui.Page
	for _, p := range pages() {
		out = append(out, p.make(h, watch, contracts))
	}
	return out
}

// filesIn lists the files of a project; none where a folder cannot be one.
func (h *instance) filesIn(folder string) []string {
	ctx, done := context.WithTimeout(context.Background(), 2*time.Second)
	defer done()
	files, _ := h.cfg.Roots.Files(ctx, folder, h.listedByGit) // what cannot be read is not offered
	return files
}

// listedByGit are the files of a project that git does not ignore; none without git or a
// repository, or where that is not to be read, and then all of them count.
func (h *instance) listedByGit(ctx context.Context, project string) []string {
	ctx, done := context.WithTimeout(ctx, time.Second) // leaves time to look for them without git
	defer done()
	repo := gittree.Repo{Project: project, Scratch: filepath.Join(h.cfg.Paths.Stamp, "git"), Environ: h.cfg.Environ}
	files, _ := repo.Files(ctx)
	return files
}
