package servers_test

import (
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

func TestNoClickSwitches(t *testing.T) {
	size := frame.Size{W: 60, H: 30}
	for name, before := range map[string][]string{"the page": nil, "commands": {":"}, "what a server runs": {"down", "space"}, "whether to restart": {"r"}, "whether to remove": {"x"}} {
		run(t, look{size: size}, func(s *frame.Screen, _ *fake.Deck, c *cards) {
			c.set(long("d1", 0))
			s.Wait(3 * time.Second)
			s.ClickAll(size, before...)
			s.Wait(5 * time.Second)
			if len(c.did) > 0 {
				t.Errorf("%s: clicks did %q", name, c.did)
			}
		})
	}
}
