package servers_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

// Whatever its rate and delay, with and without event types: also in the dialogs that a key
// opens, and with the key that opened them.
func TestAHeldKeyChangesOneServerOnce(t *testing.T) {
	const seed = 93
	r := rand.New(rand.NewPCG(seed, seed))
	for name, tt := range map[string]struct {
		before []string // keys
		key    string
		want   int
	}{
		"turned off":                             {nil, "space", 1},
		"opened, and not turned on":              {[]string{"down"}, "space", 0},
		"opened by enter, and not turned on":     {[]string{"down"}, "enter", 0},
		"turned on in the dialog":                {[]string{"down", "space"}, "y", 1},
		"left as it is in the dialog":            {[]string{"down", "space"}, "n", 0},
		"asked whether to restart":               {nil, "r", 0},
		"restarted in the dialog":                {[]string{"r"}, "y", 1},
		"restarted by enter":                     {[]string{"r"}, "enter", 1},
		"made on demand":                         {nil, "3", 1},
		"chosen as it is":                        {nil, "2", 0},
		"on demand in the dialog of what is off": {[]string{"down", "3"}, "y", 1},
		"changes accepted":                       {nil, "y", 1},
		"changes kept hidden":                    {nil, "n", 0},
		"asked whether to remove":                {nil, "x", 0},
		"removed in the dialog":                  {[]string{"x"}, "y", 1},
	} {
		for _, types := range []bool{false, true} {
			for _, hz := range []float64{2 + 6*r.Float64(), 8 + 52*r.Float64()} {
				delay := time.Duration(150+r.IntN(2250)) * time.Millisecond
				run(t, look{size: frame.Size{W: 60, H: 30}}, func(s *frame.Screen, _ *fake.Deck, c *cards) {
					c.set(long("d1", 0))
					s.EventTypes(types)
					s.Wait(3 * time.Second)
					s.Keys(tt.before...)
					s.Wait(3 * time.Second)
					s.Hold(tt.key, types, delay, hz)
					s.Wait(5 * time.Second)
					if len(c.did) != tt.want {
						t.Errorf("%s, %s held, event types %v, after %v at %.1f Hz (seed %d): %d times did %q, want %d\n%s", name, tt.key, types, delay, hz, seed, len(c.did), c.did, tt.want, s.Text())
					}
				})
			}
		}
	}
}
