package userauth

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func opened(t *testing.T, o Options, screen bool) *Gate {
	t.Helper()
	g := New(o)
	if err := g.Open(screen); err != nil {
		t.Fatal(err)
	}
	return g
}

func pairing(t *testing.T) *Gate {
	t.Helper()
	return opened(t, Options{Method: Pair}, true)
}

func TestNothingIsProvedByDefault(t *testing.T) {
	unopened := New(Options{Method: Pair})
	for name, g := range map[string]*Gate{
		"off":                      opened(t, Options{Method: Off}, true),
		"an unknown word":          opened(t, Options{Method: "true"}, true),
		"no word":                  opened(t, Options{}, true),
		"pairing without a screen": opened(t, Options{Method: Pair}, false),
		"pairing without a code":   opened(t, Options{Method: Pair}, true),
		"no passphrase set yet":    opened(t, Options{Method: Passphrase, Path: filepath.Join(t.TempDir(), "none")}, true),
		"not opened":               unopened,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := g.Ready(); err == nil {
				t.Error("something could be shown")
			}
			for _, secret := range []string{"", "\x00", "off", "00000000"} {
				if g.Try(Who{}, secret) == nil {
					t.Errorf("%q is a proof", secret)
				}
			}
		})
	}
	if unopened.Try(Who{}, unopened.Pair()) == nil {
		t.Error("a code was taken that no screen can have shown")
	}
}

func TestAPairingCodeCountsOnceAndForTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := pairing(t)
		code := g.Pair()
		if len(code) != 9 || g.State().Until.IsZero() {
			t.Fatalf("code %q, %+v", code, g.State())
		}
		if err := g.Try(Who{PID: 7}, strings.ToLower(strings.ReplaceAll(code, "-", " "))); err != nil {
			t.Errorf("however it is typed: %v", err)
		}
		if g.Try(Who{}, code) == nil {
			t.Error("used twice")
		}
		old := g.Pair()
		code = g.Pair()
		if g.Try(Who{}, old) == nil {
			t.Error("an older code was taken")
		}
		testwait.Pass(codeFor - time.Nanosecond)
		if err := g.Try(Who{}, code); err != nil {
			t.Errorf("just in time: %v", err)
		}
		code = g.Pair()
		testwait.Pass(codeFor)
		if g.Try(Who{}, code) == nil {
			t.Error("taken after its time")
		}
		code = g.Pair()
		g.Withdraw()
		if g.Try(Who{}, code) == nil {
			t.Error("taken after it was withdrawn")
		}
	})
}

func TestFailedAttemptsPauseAndThenLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := pairing(t)
		code := g.Pair()
		for n := 1; n <= tooMany; n++ {
			if err := g.Try(Who{PID: n}, "nope"); err == nil {
				t.Fatal("a wrong code was taken")
			}
			if n%someWrong != 0 || n == tooMany {
				continue
			}
			if err := g.Try(Who{}, code); err == nil || !strings.Contains(err.Error(), "wait") {
				t.Fatalf("after %d failed attempts the right code: %v", n, err)
			}
			testwait.Pass(pause)
		}
		testwait.Pass(time.Hour)
		code = g.Pair()
		if err := g.Try(Who{}, code); !errors.Is(err, errLocked) {
			t.Errorf("locked: %v", err)
		}
		s := g.State()
		looked := slices.DeleteFunc(s.Tries, func(t Try) bool { return t.Why != "" })
		if !s.Locked || s.Total != tooMany+4 || len(looked) != tooMany || looked[9].PID != 10 || looked[9].OK {
			t.Errorf("the screen is told %+v", s)
		}
		g.Unlock()
		if err := g.Try(Who{}, code); err != nil || g.State().Locked {
			t.Errorf("unlocked: %v", err)
		}
	})
}

func TestThePassphraseIsKeptAsASlowSaltedHash(t *testing.T) {
	const phrase = "correct horse battery"
	o := Options{Method: Passphrase, Path: filepath.Join(t.TempDir(), "passphrase")}
	g := opened(t, o, true)
	if err := g.SetPassphrase("short"); err == nil || g.State().Set {
		t.Error("a short passphrase was taken")
	}
	if err := g.SetPassphrase(phrase); err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(o.Path)
	info, err := os.Stat(o.Path)
	if err != nil || info.Mode().Perm() != 0o600 || strings.Contains(string(b), "horse") || !strings.HasPrefix(string(b), argonName) {
		t.Errorf("%v %v: %s", info.Mode(), err, b)
	}
	if err := g.SetPassphrase(phrase); err != nil {
		t.Fatal(err)
	}
	if again, _ := os.ReadFile(o.Path); string(again) == string(b) {
		t.Error("the same passphrase has the same hash twice")
	}
	g = opened(t, o, false)
	if g.Try(Who{}, phrase+".") == nil || g.Try(Who{}, string(b)) == nil {
		t.Error("something else was taken")
	}
	for range 2 { // it is not used up
		if err := g.Try(Who{}, phrase); err != nil {
			t.Error(err)
		}
	}
}

func TestADamagedHashOpensNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "passphrase")
	for _, content := range []string{"", "x", "argon2id,t=3,m=65536,p=4$$", "argon2id,t=1,m=8,p=1$c2FsdHNhbHRzYWx0c2FsdA$AAAA"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		g := New(Options{Method: Passphrase, Path: path})
		if err := g.Open(true); err == nil || g.Try(Who{}, "") == nil {
			t.Errorf("%q: %v", content, err)
		}
	}
	os.Remove(path)
	if err := os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), path); err != nil {
		t.Skipf("no links here: %v", err)
	}
	if New(Options{Method: Passphrase, Path: path}).Open(true) == nil {
		t.Error("a link was followed")
	}
}

// Whoever is refused is shown, once in a while, and locks nobody out.
func TestWhoIsRefusedIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := opened(t, Options{Method: Off}, true)
		_, off := g.Ready()
		for i := range 100 {
			g.Refused(Who{PID: 100 + i, Program: "sh"}, off)
		}
		g.Refused(Who{PID: 7, Program: "node"}, off)
		if s := g.State(); len(s.Tries) != 2 || s.Total != 2 || s.Locked || s.Tries[0].PID != 100 || s.Tries[1].Program != "node" || !strings.HasPrefix(s.Tries[0].Why, "answers from a shell are off") {
			t.Errorf("%+v", s)
		}
		testwait.Pass(time.Minute)
		g.Refused(Who{PID: 9, Program: "sh"}, off)
		if s := g.State(); s.Total != 3 {
			t.Errorf("a minute later: %+v", s)
		}
		paused := pairing(t)
		paused.Pair()
		for range someWrong {
			_ = paused.Try(Who{Program: "sh"}, "wrong")
		}
		for range 5 {
			testwait.Pass(time.Second)
			_ = paused.Try(Who{Program: "sh"}, "wrong")
		}
		if s := paused.State(); s.Total != someWrong+1 || s.Tries[someWrong].Why != "too many failed attempts" {
			t.Errorf("in a pause: %+v", s)
		}
	})
}

func TestACodeThatWasSentAnswersItsItemOnce(t *testing.T) {
	g := New(Options{Method: Push})
	if err := g.Open(true); err != nil {
		t.Fatal(err)
	}
	if _, err := g.ReadyFor(3); err == nil {
		t.Error("before one was sent")
	}
	three, four := g.Bind(3), g.Bind(4)
	if three == four || g.Bind(3) != three {
		t.Errorf("codes %s, %s, then %s", three, four, g.Bind(3))
	}
	if _, err := g.Ready(); err == nil {
		t.Error("for all that the user may do")
	}
	for item, code := range map[int]string{0: three, 3: four, 5: three} {
		if g.TryFor(Who{}, item, code) == nil {
			t.Errorf("code %s answers %d", code, item)
		}
	}
	if g.TryFor(Who{}, 3, "") == nil {
		t.Error("no code answers 3")
	}
	if err := g.TryFor(Who{}, 3, strings.ToLower(three)); err != nil {
		t.Errorf("its own code: %v", err)
	}
	if g.TryFor(Who{}, 3, three) == nil {
		t.Error("a used code is taken again")
	}
	g.Unbind(func(item int) bool { return item != 4 })
	if g.TryFor(Who{}, 4, four) == nil {
		t.Error("the code of an item that waits no longer is taken")
	}
	five, shown := g.Bind(5), g.Pair()
	if g.TryFor(Who{}, 5, shown) == nil || g.Try(Who{}, five) == nil {
		t.Error("a code of an item and one of the screen are taken for each other")
	}
	if err := g.Try(Who{}, shown); err != nil {
		t.Errorf("the code on the screen: %v", err)
	}
}

func TestGuessingACodeThatWasSentLocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{Method: Push})
		if err := g.Open(true); err != nil {
			t.Fatal(err)
		}
		codes := map[int]string{}
		for item := range 5 {
			codes[item+1] = g.Bind(item + 1)
		}
		guesses := 0
		for item := range 100 { // each item in turn: there is one count for all
			if err := g.TryFor(Who{}, item%5+1, "AAAA-AAAA"); errors.Is(err, errWrong) {
				guesses++
			}
			time.Sleep(time.Minute) // the time of a bubble, which costs none
		}
		if guesses >= tooMany || !g.State().Locked {
			t.Errorf("%d guesses, locked %v", guesses, g.State().Locked)
		}
		g.Unlock()
		if g.TryFor(Who{}, 1, codes[1]) == nil {
			t.Error("a code from before the lock is taken")
		}
	})
}
