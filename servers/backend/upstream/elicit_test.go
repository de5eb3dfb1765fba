package upstream

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
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

// TestAFormIsDeliveredOnlyToAChildThatLives answers forms of children that then say
// something, stay, or end.
func TestAFormIsDeliveredOnlyToAChildThatLives(t *testing.T) {
	for name, tt := range map[string]struct {
		then  func(p *process.Child, say func(string))
		after time.Duration // when it is known
		want  string
	}{
		"its next message comes": {func(_ *process.Child, say func(string)) {
			say(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
		}, aliveFor / 4, "[true]"},
		"it stays":         {func(*process.Child, func(string)) {}, aliveFor, "[true]"},
		"nothing is known": {func(*process.Child, func(string)) {}, aliveFor - time.Millisecond, "[]"},
		"it ends":          {func(p *process.Child, _ func(string)) { p.Kill() }, aliveFor / 4, "[false]"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				works := works()
				told := []bool{}
				o := Options{Hooks: Hooks{Find: func(From) (Found, error) { return Found{}, nil }}}
				o.Elicit = func(context.Context, Elicitation) (Elicited, error) {
					return Elicited{Action: "decline", Told: func(reached bool) { told = append(told, reached) }}, nil
				}
				begin, asked := make(chan struct{}), atomic.Bool{}
				c := made(t, o, func(process.Command) (p *process.Child, err error) {
					p = played(func(method, id string, say func(string)) {
						switch method {
						case "": // the answer
							go tt.then(p, say)
						case "notifications/initialized":
							go func() {
								<-begin
								if asked.Swap(true) {
									return // one that was started instead of the first
								}
								say(`{"jsonrpc":"2.0","id":"f","method":"elicitation/create","params":{"message":"Name?","requestedSchema":{"type":"object","properties":{}}}}`)
							}()
						default:
							say(answered(works[method], id))
						}
					})
					return p, nil
				})
				c.switchedOn(t)
				close(begin)
				testwait.Pass(tt.after)
				if got := fmt.Sprint(told); got != tt.want {
					t.Errorf("told is %s, want %s", got, tt.want)
				}
			})
		})
	}
}
