package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// ownIn are the servers of mcpdeck's own that the user has put into one of some modes.
func ownIn(cfg *config.Config, modes ...string) (names []string) {
	for _, name := range plugin.Names() {
		if slices.Contains(modes, LastMode(cfg, name)) {
			names = append(names, name)
		}
	}
	return names
}

// server is a server as the screen shows it.
func (w *Switches) server(name string) snapshot.Server {
	for _, s := range w.host.Snapshot().Servers {
		if s.Name == name {
			return s
		}
	}
	return snapshot.Server{Name: name, Title: name}
}

// controlOwn does what the user asks of a server of mcpdeck's own.
func (w *Switches) controlOwn(name, verb string) (upstream.Reply, error) {
	s := w.server(name)
	verb, err := chooseLazy(w.host, name, verb)
	if err != nil {
		return upstream.Reply{}, err
	}
	on := s.State.Status != snapshot.Off
	switch verb {
	case "toggle":
		on = !on
	case "on", "off":
		on = verb == "on"
	case "reconnect":
		return w.restartOwn(s)
	case "status":
		return sayLazy(w.host, name, upstream.Reply{Text: statusOfOwn(s)}), nil
	default:
		return upstream.Reply{}, fmt.Errorf("%s: no command %q (on, lazy, off, toggle, status, reconnect)", name, verb)
	}
	tools, err := w.host.Switch(name, on)
	if err != nil {
		return upstream.Reply{}, err
	}
	mode, already := "on", ""
	if was := s.State.Status != snapshot.Off; was == on {
		already = "already "
	}
	text := fmt.Sprintf("%s is %son: %s offered.", s.Title, already, humanize.Count(tools, "tool"))
	switch {
	case !on && already != "":
		mode, text = "off", s.Title+" is already off."
	case !on:
		mode, text = "off", s.Title+" is off: agents no longer have its tools."
	}
	keepMode(w.cfg, w.host, name, mode)
	return sayLazy(w.host, name, upstream.Reply{Text: text}), nil
}

func statusOfOwn(s snapshot.Server) string {
	state := string(s.State.Status)
	if missing := s.Missing(); missing != "" {
		state = "on, " + missing
	}
	text := fmt.Sprintf("%s is %s", s.Title, state)
	if s.State.Status != snapshot.Off {
		text += ": " + humanize.Count(s.Tools, "tool") + ", " + snapshot.ContextCost(s.Context)
	}
	text += "."
	if s.State.Reason != "" {
		text += " " + s.State.Reason + "."
	}
	return text
}

// restartLimit is how long a server of mcpdeck's own may take to stop.
const restartLimit = 30 * time.Second

func (w *Switches) restartOwn(s snapshot.Server) (upstream.Reply, error) {
	if s.State.Status == snapshot.Off {
		return upstream.Reply{}, fmt.Errorf("%s is off", s.Name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), restartLimit)
	defer cancel()
	if err := w.host.RestartServer(ctx, s.Name); err != nil {
		return upstream.Reply{}, err
	}
	return upstream.Reply{Text: s.Title + " was restarted."}, nil
}
