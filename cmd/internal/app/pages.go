package app

import (
	"context"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	programs "github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/page/agents"
	"github.com/mcpdeck/mcpdeck/tui/page/calls"
	"github.com/mcpdeck/mcpdeck/tui/page/inbox"
	"github.com/mcpdeck/mcpdeck/tui/page/servers"
)

// page is one page of the screen. The first letter of its title is the key that leads to
// it.
type page struct {
	id   string // in actions, configuration and state
	make func(h *App, watch bool, s []plugin.Screen) tui.Page
}

// pages is the table of them; the first is home. Those of servers follow.
func pages() []page {
	return []page{
		{inbox.ID, func(h *App, watch bool, screens []plugin.Screen) tui.Page {
			o := h.Config.InboxScreen()
			o.Watch, o.Gate, o.Jump, o.JumpTo, o.LooksAt, o.Files = watch, h.gate, h.others.jumpTo, h.others.jump, h.others.looksAt, h.filesIn
			o.Reply, o.Home, o.Read, o.CallsPage, o.Widgets = h.line, h.Config.Home, h.others.MarkRead, calls.ID, shown(screens, func(s plugin.Screen) inbox.Widget { return s.Widget })
			if h.person {
				o.Rules, o.RulesFor, o.Grants = h.Agents.Book, programs.Ruled(), grants{h.now.Load}
			}
			if !h.Agents.Alone { // a demo leads its user by itself
				o.Setup = Connector{Config: h.now.Load, Imported: imported}
			}
			return inbox.New(h.Queue, o)
		}},
		{agents.ID, func(h *App, _ bool, _ []plugin.Screen) tui.Page {
			return agents.New(agents.Options{Jump: h.others.jump, Reply: h.line, Sessions: h.others, AskPage: inbox.ID, CallsPage: calls.ID, Questions: h.Queue, Answered: inbox.Answered})
		}},
		{calls.ID, func(h *App, _ bool, _ []plugin.Screen) tui.Page {
			o := calls.Options{Bodies: h, Pictures: h.Host, Afar: afar{h.others.Set}, Questions: h.Queue, Commands: h.repeating, Cancel: h.Host.Cancel, Repeat: h.repeat}
			if h.Earlier != nil {
				o.Earlier = h.Earlier
			}
			return calls.New(o)
		}},
		{servers.ID, func(h *App, _ bool, screens []plugin.Screen) tui.Page {
			return servers.New(servers.Options{Servers: serversPage{h.Servers, h.now.Load}, CallsPage: calls.ID, Parts: parts(h, screens), Editor: h.Config.Editor()})
		}},
	}
}

// PageIDs are those of the table, in its order.
func PageIDs() []string {
	var ids []string
	for _, p := range pages() {
		ids = append(ids, p.id)
	}
	for _, p := range plugin.All() {
		if p.Page != "" {
			ids = append(ids, p.Page)
		}
	}
	return ids
}

// screens are what the servers show, in their order.
func (h *App) screens() (out []plugin.Screen) {
	for _, s := range h.Own {
		var shown plugin.Screen
		if s.Screen != nil {
			shown = s.Screen()
		}
		out = append(out, shown)
	}
	return out
}

func (h *App) pages(watch bool, screens []plugin.Screen) (out []tui.Page) {
	for _, p := range pages() {
		out = append(out, p.make(h, watch, screens))
	}
	return append(out, shown(screens, func(s plugin.Screen) tui.Page { return s.Page })...)
}

// parts are what servers add to the page of servers.
func parts(h *App, screens []plugin.Screen) map[string]servers.Part {
	out := map[string]servers.Part{}
	for i, s := range screens {
		if s.Part != nil {
			out[h.Own[i].Name()] = s.Part
		}
	}
	return out
}

// filesIn lists the files of a project; none where a folder cannot be one.
func (h *App) filesIn(folder string) []string {
	ctx, done := context.WithTimeout(context.Background(), 2*time.Second)
	defer done()
	files, _ := h.Config.Roots.Files(ctx, folder, h.notIgnored) // what cannot be read is not offered
	return files
}

// notIgnored are the files of a project that its version control does not ignore; none where
// that is not known, and then all of them count.
func (h *App) notIgnored(ctx context.Context, project string) []string {
	ctx, done := context.WithTimeout(ctx, time.Second) // leaves time to look for them without it
	defer done()
	for _, s := range h.Own {
		if s.Files != nil {
			return s.Files(ctx, project)
		}
	}
	return nil
}
