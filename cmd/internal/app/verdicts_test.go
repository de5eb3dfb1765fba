package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// verdicts are those of a server's tools, as the screen shows them.
func verdicts(h *App, server string) map[string]snapshot.Verdict {
	d, _ := h.Servers.Details(server)
	out := map[string]snapshot.Verdict{}
	for _, t := range d.Tools {
		out[t.Original] = t.Verdict
	}
	return out
}

func listedTools(t *testing.T, h *App) []string {
	t.Helper()
	view, err := h.Host.View(router.ViewSpec{})
	if err != nil {
		t.Fatal(err)
	}
	agent := h.Host.Connect(snapshot.Caller{}, nil)
	defer agent.Close()
	reply := view.Route(agent, backend.Parse(nil, rpc.Message{Method: "tools/list"}))(t.Context())
	var result struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(reply.Result, &result); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range result.Tools {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	return names
}

func TestToolsOfTheDecksOwnServersAreTurnedOffAndStayOff(t *testing.T) {
	h := built(t, true)
	h.Host.Start()
	before := listedTools(t, h)
	if err := h.Servers.Allow("clippy", []string{"manage_memory", "haunt_desktop"}, false); err != nil {
		t.Fatal(err)
	}
	if err := h.Servers.Allow("clippy", []string{"haunt_desktop"}, true); err != nil {
		t.Fatal(err)
	}
	again, err := New(h.Config, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Stop()
	again.Host.Start()
	for name, h := range map[string]*App{"at once": h, "after a restart": again} {
		if got := listedTools(t, h); len(got) != len(before)-1 || slices.Contains(got, "manage_memory") {
			t.Errorf("%s: %q", name, got)
		}
		if got := verdicts(h, "clippy"); got["manage_memory"] != snapshot.Denied || got["haunt_desktop"] != snapshot.Allow {
			t.Errorf("%s: %v", name, got)
		}
	}
	if err := h.Servers.Allow("nobody", []string{"x"}, false); err == nil {
		t.Error("tools of a server that is not there were turned off")
	}
}

// What the user turns off is in the card's file, holds at once, and starts nothing anew.
func TestAToolOfAnAddedServerIsTurnedOffInItsFile(t *testing.T) {
	h := built(t, true)
	h.Host.Start()
	path := h.Config.CardFile("git")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := config.Load(config.Flags{Sections: plugin.Sections(), Port: -1, State: h.Config.Paths.State})
		if err != nil {
			t.Fatal(err)
		}
		h.TakeCards(cfg)
	}
	write("# mine\ncommand = ['git-server']\n")
	first, err := h.user.find("git")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Servers.Allow("git", []string{"push"}, false); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if want := "# mine\ncommand = ['git-server']\ntools = { push = \"off\" }\n"; string(b) != want || err != nil {
		t.Errorf("%v, the file is\n%s", err, b)
	}
	off := func(want bool) {
		t.Helper()
		now, err := h.user.find("git")
		if err != nil || now.Card != first.Card {
			t.Fatalf("%v, or the card is another one", err)
		}
		if got := whyOff(*now.tools.Load(), "push") != ""; got != want {
			t.Errorf("off: %t", got)
		}
	}
	off(true)
	write(string(b)) // as the watch of the folder does
	off(true)
	if err := h.Servers.Offer("git", snapshot.Prompts, false); err != nil {
		t.Fatal(err)
	}
	b, err = os.ReadFile(path)
	if want := "# mine\ncommand = ['git-server']\ntools = { push = \"off\" }\nprompts = \"off\"\n"; string(b) != want || err != nil {
		t.Errorf("%v, the file is\n%s", err, b)
	}
	off(true)
	if d, _ := h.Servers.Details("git"); !slices.Equal(d.Without, []snapshot.Kind{snapshot.Prompts}) {
		t.Errorf("without %q", d.Without)
	}
	if err := h.Servers.Offer("clippy", snapshot.Prompts, false); err == nil {
		t.Error("prompts of a part of the deck were turned off")
	}
	write("command = ['git-server']\n")
	off(false)
	if d, _ := h.Servers.Details("git"); len(d.Without) > 0 {
		t.Errorf("without %q", d.Without)
	}
	write("command = ['git-server']\ntools.x = 'off'\n")
	if err := h.Servers.Allow("git", []string{"push"}, false); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a file that cannot be changed: %v", err)
	}
	write("command = ['other']\n")
	if now, err := h.user.find("git"); err != nil || now.Card == first.Card {
		t.Errorf("%v, or what it runs is what it was", err)
	}
}
