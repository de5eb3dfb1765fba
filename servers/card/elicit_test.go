package card

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/mcpdeck/mcpdeck/servers/process"
)

// However many forms a server asks for, the user sees a bounded number of them.
func TestAServerMayOnlyAskForSoManyFormsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const asks = maxForms + 10
		works, begin := works(), make(chan struct{})
		var open, refused atomic.Int32
		o := Options{Hooks: Hooks{Find: func(From) (Found, error) { return Found{}, nil }}}
		o.Elicit = func(ctx context.Context, _ Elicitation) (Elicited, error) {
			open.Add(1)
			<-ctx.Done()
			return Elicited{}, ctx.Err()
		}
		c := made(t, o, func(process.Command) (*process.Child, error) {
			return played(func(method, id string, say func(string)) {
				switch method {
				case "": // an answer
					refused.Add(1)
				case "notifications/initialized":
					go func() {
						<-begin
						for i := range asks {
							say(fmt.Sprintf(`{"jsonrpc":"2.0","id":"f%d","method":"elicitation/create","params":{"message":"Name?","requestedSchema":{"type":"object","properties":{}}}}`, i))
						}
					}()
				default:
					say(answered(works[method], id))
				}
			}), nil
		})
		c.switchedOn(t)
		close(begin)
		synctest.Wait()
		if o, r := open.Load(), refused.Load(); o == 0 || o > maxForms || o+r != asks {
			t.Errorf("%d forms are open and %d were refused, of %d", o, r, asks)
		}
	})
}
