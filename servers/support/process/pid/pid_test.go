package pid_test

import (
	"os"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
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
	if parent := pid.Born(os.Getppid()); parent == born {
		t.Errorf("its parent was born at the same time: %q", parent)
	}
}

func TestAProcessThatHasEndedDoesNotRun(t *testing.T) {
	p, err := os.StartProcess(os.Args[0], []string{os.Args[0], "-test.run=^$"}, &os.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
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
