package testwait_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// failing is a test that notes how it fails.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Helper()                        {}
func (f *failing) Fatalf(format string, a ...any) { f.said = fmt.Sprintf(format, a...) }

func TestAConditionIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		after := func(d time.Duration) func() bool { return func() bool { return time.Since(start) >= d } }
		testwait.Until(t, "a minute", after(time.Minute))
		if waited := time.Since(start); waited > time.Minute+20*time.Millisecond {
			t.Errorf("waited %s for a minute", waited)
		}
		f := &failing{}
		testwait.Until(f, "an hour", after(time.Hour))
		if f.said != "waited in vain: an hour" {
			t.Errorf("failed with %q", f.said)
		}
		got := testwait.For(f, "enough", func() time.Duration { return time.Since(start) }, func(d time.Duration) bool { return d > time.Hour })
		if got == 0 || !strings.Contains(f.said, "enough; last: "+got.String()) {
			t.Errorf("after %s failed with %q", got, f.said)
		}
	})
}

func TestTimePassesInABubbleAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rang := false
		time.AfterFunc(time.Hour, func() { rang = true })
		if testwait.Pass(time.Hour); !rang {
			t.Error("what is due has not happened")
		}
	})
	defer func() {
		if recover() == nil {
			t.Error("it slept outside a bubble")
		}
	}()
	testwait.Pass(time.Hour)
}
