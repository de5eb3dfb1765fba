package calllog

import (
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

func TestFiguresOfTools(t *testing.T) {
	l := New(Options{})
	for i := range 2 * tallied {
		c := snapshot.Call{Server: "s", Tool: "a", Status: snapshot.OK, Duration: time.Duration(i%100+1) * time.Millisecond}
		if i%4 == 0 {
			c.Status = snapshot.ToolError
		}
		l.count(&c)
	}
	l.count(&snapshot.Call{Server: "s", Tool: "b", Status: snapshot.Cancelled, Duration: time.Second})
	l.count(&snapshot.Call{Server: "other", Tool: "a", Status: snapshot.OK, Duration: time.Hour})
	got := l.Figures("s")
	if a := got["a"]; a.Calls != 2*tallied || a.Failed != tallied/2 || a.P50 < 45*time.Millisecond || a.P50 > 55*time.Millisecond || a.P95 < 93*time.Millisecond || a.P95 > 97*time.Millisecond {
		t.Errorf("a: %+v", a)
	}
	if b := got["b"]; b != (snapshot.Figures{Calls: 1, P50: time.Second, P95: time.Second}) {
		t.Errorf("b: %+v", b)
	}
	if all := got[""]; all.Calls != 2*tallied+1 || all.P95 > 100*time.Millisecond {
		t.Errorf("all: %+v", all)
	}
	if none := l.Figures("nobody")[""]; none != (snapshot.Figures{}) {
		t.Errorf("none: %+v", none)
	}
}

func TestInventedToolsTakeNoMemory(t *testing.T) {
	l := New(Options{})
	for i := range 2 * tools {
		l.count(&snapshot.Call{Server: "", Tool: string(rune(0x4e00 + i))})
	}
	if n := len(l.tallies[""]); n != tools {
		t.Errorf("%d are kept", n)
	}
}
