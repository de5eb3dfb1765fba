package upstream

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// What a server would add is known while it is off: from its own last list, whichever deck
// that was in, and else from a trial.
func TestAnOffServerKnowsItsLastCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{OnDemand: true, Count: filepath.Join(t.TempDir(), "git", "count.json")}
		c := over(t, works(), o)
		if got := c.Status().Adds; got != (snapshot.Count{}) {
			t.Errorf("before anything was counted: %s", got)
		}
		{
			tried := snapshot.Count{Tools: 26, Context: 16_400}
			if err := KeepCount(o.Count, tried); err != nil {
				t.Fatal(err)
			}
			c.Recount()
			if got := c.Status().Adds; got != tried || got.String() != "+26 tools ≈ +4.1k tokens" {
				t.Errorf("after a trial: %+v, %q", got, got)
			}
		}
		c.switchedOn(t)
		own := snapshot.Count{Tools: 1, Context: c.Status().Context}
		c.Off()
		synctest.Wait()
		if got := LastCount(o.Count); own.Context == 0 || got != own || c.Status().Adds != own {
			t.Errorf("after its own list: %+v is kept, %+v is shown, want %+v", got, c.Status().Adds, own)
		}
		if err := KeepCount(o.Count, snapshot.Count{Tools: 2}); err != nil {
			t.Fatal(err)
		}
		c.Recount()
		if got := c.Status().Adds; got != own {
			t.Errorf("a trial counts more than the card's own list: %+v", got)
		}
		failing := works()
		failing["tools/list"] = `{"jsonrpc":"2.0","id":ID,"error":{"code":-32603,"message":"fetch failed"}}`
		next := over(t, failing, o)
		next.On()
		testwait.Pass(time.Second)
		if got := next.Status(); got.Mode != Off || got.Adds.Tools != 2 {
			t.Errorf("%s, after a start that failed: %+v", got.Mode, got.Adds)
		}
	})
}

func TestADamagedCountIsNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "count.json")
	for _, text := range []string{"", "{", `{"tools":-3}`, `{"tools":1,"contextBytes":-1}`, `[]`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := LastCount(path); got != (snapshot.Count{}) {
			t.Errorf("%q is %+v", text, got)
		}
	}
}
