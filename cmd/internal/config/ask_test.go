package config

import (
	"strings"
	"testing"
)

func TestAskSocketComesFromTheEnvironment(t *testing.T) {
	tests := []struct {
		name, mcpdeck, pi string
		want              string // a path, or the error
	}{
		{"default", "", "", "/state/run/ask.sock"},
		{"PI_ASK_SOCKET", "", "/run/s-1.sock", "/run/s-1.sock"},
		{"MCPDECK_ASK_SOCKET wins", "/run/mine.sock", "/run/s-1.sock", "/run/mine.sock"},
		{"relative", "", "s-1.sock", `use PI_ASK_SOCKET="s-1.sock": it must be an absolute path`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("MCPDECK_ASK_SOCKET", tt.mcpdeck)
			t.Setenv("PI_ASK_SOCKET", tt.pi)
			c := &Config{Paths: Paths{AskSocket: "/state/run/ask.sock"}}
			got, err := c.AskSocket()
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAskSettings(t *testing.T) {
	c := &Config{File: defaults(), Paths: Paths{Drafts: "/d", History: "/h"}}
	if o := c.AskOptions(); o.StateFile != "/d" || o.HistoryFile != "/h" || o.Hold <= 0 {
		t.Errorf("defaults: %+v", o)
	}
	c.File.Ask.Persist, c.File.Ask.History, c.File.Ask.UndoSeconds = "off", "off", 0
	if o := c.AskOptions(); o.StateFile != "" || o.HistoryFile != "" || o.Hold >= 0 {
		t.Errorf("everything off: %+v", o)
	}
	t.Setenv("VISUAL", "code --wait")
	if o := c.InboxScreen(); o.Editor.Program != "code" || strings.Join(o.Editor.Args, "|") != "--wait" {
		t.Errorf("editor: %+v", o.Editor)
	}
}
