package process

import (
	"os/exec"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func TestAWatchLooksAgainAtNewProcessesAndOnceAMinuteAtAll(t *testing.T) {
	c := exec.Command("sh", "-c", "read -r line; exec sleep 600")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var w, later Watch
	w.All()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	name := func(w *Watch) string {
		for _, p := range w.All() {
			if p.PID == c.Process.Pid {
				return p.Name
			}
		}
		return ""
	}
	for range 2 {
		if got := name(&w); got != "sh" {
			t.Fatalf("a new process is %q", got)
		}
	}
	name(&later)
	if _, err := in.Write([]byte("go\n")); err != nil {
		t.Fatal(err)
	}
	testwait.For(t, "it is another program", func() string { p, _ := look(c.Process.Pid); return p.name }, func(name string) bool { return name == "sleep" })
	if got := name(&later); got != "sleep" {
		t.Errorf("one that was new the last time is %q", got)
	}
	if got := name(&w); got != "sh" {
		t.Errorf("one that was there the last two times is looked at: %q", got)
	}
	w.looked = w.looked.Add(-time.Minute)
	if got := name(&w); got != "sleep" {
		t.Errorf("a minute later it is %q", got)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was killed
	if got := name(&w); got != "" {
		t.Errorf("when it has ended it is %q", got)
	}
}
