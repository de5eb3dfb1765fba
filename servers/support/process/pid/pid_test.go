package pid_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func TestAProcessIsToldFromALaterOneWithItsID(t *testing.T) {
	self := os.Getpid()
	born := pid.Born(self)
	if !pid.Alive(self) || !pid.Same(self, born) || !pid.Same(self, "") {
		t.Errorf("this process, born %q, does not run", born)
	}
	if born == "" {
		t.Skip("this system does not say when processes began")
	}
	if len(strings.Fields(born)) != 1 {
		t.Errorf("%q is no word", born)
	}
	if pid.Same(self, born+"0") {
		t.Error("one that was born at another time is taken for it")
	}
	testwait.Until(t, "one that is born later", func() bool { // at the next tick of the machine's clock
		p := start(t)
		later := pid.Born(p.Pid)
		if _, err := p.Wait(); err != nil {
			t.Fatal(err)
		}
		return later != born
	})
}

func TestWhenAProcessBeganIsKnown(t *testing.T) {
	const near = 100 * time.Millisecond // the system counts in hundredths of a second
	began := pid.Started(os.Getpid())
	if began.IsZero() {
		t.Skip("this system does not say when processes began")
	}
	if ago := time.Since(began); ago < -2*time.Second || ago > time.Hour {
		t.Errorf("this process began at %v, %v ago", began, ago)
	}
	before := time.Now()
	p := start(t)
	if at := pid.Started(p.Pid); at.Before(before.Add(-near)) || at.After(time.Now().Add(near)) {
		t.Errorf("a process that was started at %v began at %v", before, at)
	}
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	if at := pid.Started(-1); !at.IsZero() {
		t.Errorf("one that is not there began at %v", at)
	}
}

// start starts a process that ends at once.
func start(t *testing.T) *os.Process {
	t.Helper()
	p, err := os.StartProcess(os.Args[0], []string{os.Args[0], "-test.run=^$"}, &os.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAProcessThatHasEndedDoesNotRun(t *testing.T) {
	p := start(t)
	id := p.Pid
	if !pid.Alive(id) {
		t.Error("one that was just started does not run")
	}
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, id := range []int{id, 0, -1} {
		if pid.Alive(id) || pid.Born(id) != "" {
			t.Errorf("process %d runs, born %q", id, pid.Born(id))
		}
	}
}
