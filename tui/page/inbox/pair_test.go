package inbox_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/userauth"
	page "github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

// gate is one whose code is known.
type gate struct{ *userauth.Gate }

func (g gate) Pair() string {
	g.Gate.Pair()
	return "K7QF-2MWX"
}

func gated(t *testing.T, m userauth.Method) gate {
	t.Helper()
	g := userauth.New(userauth.Options{Method: m, Path: t.TempDir() + "/passphrase"})
	if err := g.Open(true); err != nil {
		t.Fatal(err)
	}
	return gate{g}
}

func TestAPairingCodeIsShownUntilItIsUsedOrHidden(t *testing.T) {
	setup{gate: userauth.Pair}.run(t, func(d *driver) {
		g := d.gate
		d.Keys("f7")
		d.Golden("pair")
		d.Keys("esc")
		d.Lacks("K7QF")
		if g.State().Until.IsZero() {
			t.Error("hiding the code ended it")
		}
		d.Keys("f7", "x")
		d.Lacks("K7QF")
		if !g.State().Until.IsZero() {
			t.Error("the code is still valid")
		}
		d.Keys("f7")
		_ = g.Try(userauth.Who{PID: 7, Program: "sh\x1b[2J", Folder: "/tmp"}, "wrong")
		d.Wait(time.Second)
		d.Has("sh (process 7) in /tmp showed a wrong code", "K7QF-2MWX")
		g.Refused(userauth.Who{PID: 8, Program: "node"}, errors.New("answers from a shell are off; answer in the deck"))
		d.Wait(time.Second)
		d.Has("node (process 8) was refused: answers from a shell are")
		d.Wait(11 * time.Minute)
		d.Has("has expired")
	})
}

func TestAnUnlockedGateIsTheUsersDoing(t *testing.T) {
	setup{gate: userauth.Pair}.run(t, func(d *driver) {
		g := d.gate
		for range 10 {
			g.Gate.Pair()
			_ = g.Try(userauth.Who{PID: 7, Program: "sh"}, "wrong")
			d.Wait(2 * time.Minute)
		}
		d.Keys("f7")
		d.Has("Unlock answers from a shell?", "sh (process 7)")
		d.Keys("enter")
		if !g.State().Locked {
			t.Fatal("enter unlocked")
		}
		d.Keys("f7", "u")
		if g.State().Locked {
			t.Error("still locked")
		}
	})
}

func TestAPassphraseIsSetUnseen(t *testing.T) {
	setup{gate: userauth.Passphrase}.run(t, func(d *driver) {
		g := d.gate
		d.Keys("f7")
		d.Type("short")
		d.Keys("enter")
		d.Wait(time.Second)
		d.Has("at least 12 characters")
		d.Type(" but longer")
		d.Has("****************")
		d.Lacks("longer")
		d.Keys("enter")
		d.Wait(time.Second)
		d.Has("the passphrase is set")
		if err := g.Try(userauth.Who{}, "short but longer"); err != nil {
			t.Error(err)
		}
		if strings.Contains(d.Raw(), "longer") {
			t.Error("it was drawn")
		}
	})
}

func TestNobodyPairsWhereAnswersFromAShellAreOff(t *testing.T) {
	for name, su := range map[string]setup{
		"off": {gate: userauth.Off}, "no gate": {}, "watching only": {gate: userauth.Pair, page: page.Options{Watch: true}},
	} {
		t.Run(name, func(t *testing.T) {
			su.run(t, func(d *driver) {
				d.Keys("f7")
				d.Lacks("K7QF")
			})
		})
	}
}
