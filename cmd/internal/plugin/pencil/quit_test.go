//go:build unix

package pencil

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// TestQuittingWithAStuckCallEndsTheChild holds that a deck that is told to end
// ends Pencil's server although a call waits for it, and tells the caller.
func TestQuittingWithAStuckCallEndsTheChild(t *testing.T) {
	d := startDeck(t, build(t), `args = ["--silent", "1h"]`)
	if out, err := d.command(t.Context(), "pencil", "on").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	call := d.command(t.Context(), "call", "pencil_batch_get")
	var said bytes.Buffer
	call.Stdout, call.Stderr = &said, &said
	if err := call.Start(); err != nil {
		t.Fatal(err)
	}
	child := 0
	testwait.For(t, "a call is running", func() string {
		out, _ := d.command(t.Context(), "pencil", "status").CombinedOutput()
		return string(out)
	}, func(status string) bool {
		if m := regexp.MustCompile(`process (\d+)`).FindStringSubmatch(status); m != nil && strings.Contains(status, "1 running") {
			_, _ = fmt.Sscan(m[1], &child)
		}
		return child != 0
	})
	if err := d.serve.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = call.Wait() // it fails
	if !strings.Contains(said.String(), "mcpdeck closed during this call. It may have taken effect") {
		t.Errorf("the caller reads %q", said.String())
	}
	if err := d.serve.Wait(); err != nil {
		t.Errorf("the deck ended with %v", err)
	}
	if syscall.Kill(child, 0) == nil {
		t.Errorf("process %d lives on", child)
	}
}
