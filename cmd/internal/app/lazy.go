package app

import (
	"fmt"
	"strings"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// LazyWord stands in the file of a server's mode: alone when it is on and lazy, behind
// another word when it will be lazy once it is on again.
const LazyWord = "lazy"

// startsLazy tells whether a card is lazy, once it is on.
func startsLazy(cfg *config.Config, s settings.Card) bool {
	return s.Mode == LazyWord || s.Mode != "on" && wasLazy(cfg, s.Name)
}

func wasLazy(cfg *config.Config, name string) bool {
	return strings.Contains(keptMode(cfg, name), LazyWord)
}

// chooseLazy takes what a verb says of whether agents list a server's tools or find
// them, and returns the verb of the switch itself. A server stays as it was for verbs
// that say nothing of it.
func chooseLazy(host *router.Host, name, verb string) (string, error) {
	switch verb {
	case "on":
		host.SetLazy(name, false)
	case LazyWord:
		if p := plugin.Of(name); p != nil && p.Listed != "" {
			return "", fmt.Errorf("%s is always listed: %s", name, p.Listed)
		}
		host.SetLazy(name, true)
		verb = "on"
	}
	return verb, nil
}

// sayLazy says in a sentence on a server that is on that it is lazy.
func sayLazy(host *router.Host, name string, r upstream.Reply) upstream.Reply {
	if !host.IsLazy(name) {
		return r
	}
	for _, is := range []string{" is on: ", " is already on: "} {
		if before, after, on := strings.Cut(r.Text, is); on {
			r.Text = before + " is on demand: " + after + " Agents search for them with find_tools instead of listing them."
		}
	}
	return r
}

// keepMode remembers what the user chose.
func keepMode(cfg *config.Config, host *router.Host, name, mode string) {
	words := mode
	switch lazy := host.IsLazy(name); {
	case lazy && mode == "on":
		words = LazyWord
	case lazy:
		words += " " + LazyWord
	}
	if err := file.Write(modeFile(cfg, name), []byte(words+"\n"), file.Options{Folder: true}); err != nil {
		host.Warn(name, "remember that it is "+mode+": "+err.Error())
	}
}
