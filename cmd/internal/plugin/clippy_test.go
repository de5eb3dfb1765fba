package plugin

import (
	"sync/atomic"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/builtin/clippy"
	clippyscreen "github.com/mcpdeck/mcpdeck/tui/page/clippy"
)

func TestBellGoesToTheScreen(t *testing.T) {
	h := &Env{Config: config.With(&Clippy{})}
	var shown atomic.Pointer[clippyscreen.Bell]
	bell := clippyscreen.NewBell()
	shown.Store(bell)
	feed := bell.Feed()
	if feed.Load() != nil {
		t.Error("it rings by itself")
	}
	rung := make(chan error, 1)
	go func() { rung <- clippyOptions(h, &shown).Bell() }()
	<-feed.Hint
	select {
	case err := <-rung:
		t.Errorf("it rang before the screen had heard: %v", err)
	default:
	}
	if feed.Load() == nil {
		t.Error("the screen hears nothing")
	}
	if err := <-rung; err != nil {
		t.Error(err)
	}
}

func TestClippyFollowsTheConfiguration(t *testing.T) {
	service := clippy.New(clippy.Options{Dir: t.TempDir()})
	cfg := func(enabled, muted bool) *config.Config {
		return config.With(&Clippy{Enabled: enabled, Muted: muted})
	}
	apply := clippyFollows(service, cfg(true, false))
	service.Mute(true) // by the key
	for _, step := range []struct {
		name           string
		enabled, muted bool
		wantMuted      bool
	}{
		{"another setting leaves what the key did", false, false, true},
		{"back again", true, false, true},
		{"muted there as well", true, true, true},
		{"loud again", true, false, false},
	} {
		apply(cfg(step.enabled, step.muted))
		if off := service.Off("manage_memory") != ""; off == step.enabled || service.Muted() != step.wantMuted {
			t.Errorf("%s: got turned off %v, muted %v; want %v, %v", step.name, off, service.Muted(), !step.enabled, step.wantMuted)
		}
	}
}
