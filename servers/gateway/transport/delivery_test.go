package transport

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// TestAReplyHasReachedItsClientOnlyIfTheConnectionLives writes replies, and then has the
// client say something, stay, or go.
func TestAReplyHasReachedItsClientOnlyIfTheConnectionLives(t *testing.T) {
	for name, tt := range map[string]struct {
		then func(d *deliveries)
		want []bool
	}{
		"its next message comes":    {func(d *deliveries) { d.heard(true) }, []bool{true}},
		"it stays":                  {func(*deliveries) { testwait.Pass(aliveFor) }, []bool{true}},
		"it goes":                   {func(d *deliveries) { d.heard(false) }, []bool{false}},
		"it goes later":             {func(d *deliveries) { d.heard(true); d.heard(false); testwait.Pass(time.Hour) }, []bool{true}},
		"nothing is known so early": {func(*deliveries) { testwait.Pass(aliveFor - time.Millisecond) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var d deliveries
				var got []bool
				one := &delivery{of: &d}
				one.OnDelivery(func(reached bool) { got = append(got, reached) })
				one.wrote()
				tt.then(&d)
				synctest.Wait()
				if len(got) != len(tt.want) || len(got) > 0 && got[0] != tt.want[0] {
					t.Errorf("told is %v, want %v", got, tt.want)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		var d deliveries
		d.heard(false)
		one := &delivery{of: &d}
		told := false
		one.OnDelivery(func(reached bool) { told = !reached })
		one.wrote() // into a connection that has ended
		if !told {
			t.Error("it is not said that it was lost")
		}
	})
}
