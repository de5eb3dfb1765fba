package app

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

func TestTheSwitchOfTheDeckPageKnowsPencil(t *testing.T) {
	h := built(t, true)
	h.Host.Start()
	if said, err := h.Servers.TurnOn("pencil", false, ""); said != "" || err != nil {
		t.Errorf("Pencil: %q, %v", said, err)
	}
	if err := h.Servers.switchOf("pencil").Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d, ok := h.Servers.Details("pencil"); !ok || d.Error == "" && !d.Offered {
		t.Errorf("Pencil was not turned on: %+v", d)
	}
	if err := h.Servers.Restart("nobody"); err == nil {
		t.Error("a server that is not there was restarted")
	}
	if _, ok := h.Servers.Details("nobody"); ok {
		t.Error("a server that is not there has details")
	}
}

func TestTheDecksOwnServersAreTurnedOffAndStayOff(t *testing.T) {
	h := built(t, true)
	h.Host.Start()
	before := listedTools(t, h)
	own := slices.DeleteFunc(plugin.Names(), func(name string) bool { return !isOwn(name) })
	for _, name := range own {
		if said, err := h.Servers.TurnOff(name); err != nil || !strings.HasSuffix(said, " is off: agents no longer have its tools.") {
			t.Errorf("%s: %q, %v", name, said, err)
		}
		if err := h.Servers.Restart(name); err == nil || err.Error() != name+" is off" {
			t.Errorf("%s, which is off, is restarted: %v", name, err)
		}
	}
	if got := listedTools(t, h); len(got) > 0 {
		t.Errorf("off, agents have %q", got)
	}
	again, err := New(h.Config, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Stop()
	again.Host.Start()
	for _, s := range again.Host.Snapshot().Servers {
		if s.State.Status != snapshot.Off {
			t.Errorf("after a restart %s is %s", s.Name, s.State.Status)
		}
	}
	for _, name := range own {
		if said, err := h.Servers.TurnOn(name, false, ""); err != nil || !strings.Contains(said, " is on: ") {
			t.Errorf("%s: %q, %v", name, said, err)
		}
	}
	if got := listedTools(t, h); !slices.Equal(got, before) {
		t.Errorf("on again, agents have %q, before %q", got, before)
	}
}
