package pencil

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// A deck that is killed takes its child along, even one that heeds nothing.
func TestChildDiesWithTheDeck(t *testing.T) {
	deck := exec.Command(os.Args[0], asDeck)
	out, err := deck.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := deck.Start(); err != nil {
		t.Fatal(err)
	}
	var child int
	if _, err := fmt.Fscan(out, &child); err != nil || child == 0 || !runs(child) {
		t.Fatalf("child %d: %v", child, err)
	}
	if err := deck.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = deck.Wait() // it was killed
	testwait.Until(t, "the child ends", func() bool { return !runs(child) })
}
