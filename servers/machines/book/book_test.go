package book

import (
	"crypto/ed25519"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func newDeck(t *testing.T, name string) Deck {
	t.Helper()
	public, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return Deck{Name: name, Key: public, Added: time.Unix(1, 0).UTC()}
}

func TestADeckThatIsLearnedWhileOthersAreLookedForAnswers(t *testing.T) {
	trust := NewTrust(Book{Dir: t.TempDir()})
	over := make(chan struct{})
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					trust.Decks()
				}
			}
		})
	}
	for range 5 {
		d := newDeck(t, "desk")
		if _, err := trust.Learn(d); err != nil {
			t.Fatal(err)
		}
		if _, ok := trust.Find(d.Key); !ok {
			t.Error("a deck that was just learned may not answer")
		}
	}
	close(over)
	all.Wait()
}

func TestADeckThatIsWrittenIntoTheFileDoesNotAnswerInARunningDeck(t *testing.T) {
	b := Book{Dir: t.TempDir()}
	mine, later, planted := newDeck(t, "laptop"), newDeck(t, "desk"), newDeck(t, "laptop2")
	if _, err := b.Learn(mine); err != nil {
		t.Fatal(err)
	}
	trust := NewTrust(b)
	takes := func(d Deck) bool { _, ok := trust.Find(d.Key); return ok }
	if takes(mine) {
		t.Error("a deck that has not begun takes answers")
	}
	if err := trust.Begin(); err != nil {
		t.Fatal(err)
	}
	if _, err := trust.Learn(later); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Learn(planted); err != nil { // as any process of the user's can
		t.Fatal(err)
	}
	if !takes(mine) || !takes(later) || takes(planted) {
		t.Errorf("answers are taken of the first %v, of one that was learned since %v, of one that was written into the file %v", takes(mine), takes(later), takes(planted))
	}
	if all := trust.Untold(); len(all) != 1 || all[0].Name != "laptop2" {
		t.Errorf("what was written into the file is named as %v", all)
	}
	if _, err := b.Forget(func(d Deck) bool { return d.Name == "laptop" }); err != nil {
		t.Fatal(err)
	}
	if takes(mine) {
		t.Error("a deck answers that was removed")
	}
	if _, err := b.Learn(mine); err != nil {
		t.Fatal(err)
	}
	if takes(mine) {
		t.Error("a deck that was removed came back by the file")
	}
	next := NewTrust(b)
	if err := next.Begin(); err != nil {
		t.Fatal(err)
	}
	if n := len(next.Decks()); n != 3 {
		t.Errorf("the next deck takes answers of %d decks, want all in the file", n)
	}
}

func TestAMachineKeepsItsNameAndADeckItsKey(t *testing.T) {
	b := Book{Dir: filepath.Join(t.TempDir(), "machines")}
	if all, err := b.Machines(); err != nil || all != nil {
		t.Errorf("an empty book has %v, %v", all, err)
	}
	if _, err := os.Stat(b.Dir); !os.IsNotExist(err) {
		t.Errorf("reading it has made its folder: %v", err)
	}
	d := newDeck(t, "laptop")
	first, err := b.Learn(d)
	if err != nil || first == "" {
		t.Fatalf("the machine calls itself %q, %v", first, err)
	}
	d.Name, d.Added = "desk", time.Unix(2, 0).UTC()
	if again, err := b.Learn(d); err != nil || again != first {
		t.Errorf("it calls itself %q then, %v", again, err)
	}
	if all, err := b.Decks(); err != nil || len(all) != 1 || all[0].Name != "desk" || all[0].Added != time.Unix(1, 0).UTC() {
		t.Errorf("a deck that was added twice is kept as %v, %v", all, err)
	}
	key, err := b.Key()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := b.Key(); err != nil || !again.Equal(key) {
		t.Errorf("the deck has another key the second time, %v", err)
	}
	if i, err := os.Stat(b.keyFile()); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("the key is in a file of mode %v, %v", i.Mode(), err)
	}
	for _, m := range []Machine{{Name: "build1", Target: "a"}, {Name: "build2", Target: "b"}, {Name: "build1", Target: "c"}} {
		if err := b.SetMachine(m); err != nil {
			t.Fatal(err)
		}
	}
	if m, had, err := b.RemoveMachine("build1"); err != nil || !had || m.Target != "c" {
		t.Errorf("removed was %v, %v, %v", m, had, err)
	}
	if _, had, _ := b.RemoveMachine("build1"); had {
		t.Error("it was there twice")
	}
	if err := os.WriteFile(b.decksFile(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Learn(d); err == nil {
		t.Error("a file that cannot be read is overwritten")
	}
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"build1", "a:b", "", "-x", "x y", "ä", "a.b_c-d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if Named(name) != nil {
			return
		}
		for _, c := range name {
			if c <= ' ' || c == ':' || c == '/' || c > '~' {
				t.Errorf("%q is taken for a name", name)
			}
		}
	})
}
