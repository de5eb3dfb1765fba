package upstream

import (
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// A list that was asked for before the server told of a change counts no more, however late
// it comes.
func TestAnOlderListOfResourcesDoesNotReplaceANewerOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		works := works()
		works["initialize"] = `{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"resources":{"listChanged":true}}}}`
		var uri atomic.Value
		var hold atomic.Pointer[chan struct{}]
		uri.Store("fake://old")
		start := func(process.Command) (*process.Child, error) {
			return played(func(method, id string, say func(string)) {
				switch answer := answered(works[method], id); method {
				case "resources/list":
					answer = `{"jsonrpc":"2.0","id":` + id + `,"result":{"resources":[{"uri":"` + uri.Load().(string) + `","name":"a"}]}}`
					if wait := hold.Swap(nil); wait != nil {
						go func() { <-*wait; say(answer) }()
						return
					}
					say(answer)
				case "resources/templates/list":
					say(`{"jsonrpc":"2.0","id":` + id + `,"result":{"resourceTemplates":[]}}`)
				case "tools/call":
					say(`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`)
					say(answer)
				default:
					say(answer)
				}
			}), nil
		}
		c := made(t, Options{Hooks: Hooks{Find: func(From) (Found, error) { return Found{}, nil }}}, start)
		c.switchedOn(t)
		testwait.Pass(freshFor)
		wait := make(chan struct{})
		hold.Store(&wait)
		c.Refresh()
		synctest.Wait()
		uri.Store("fake://new")
		if _, err := c.Call(t.Context(), Call{Tool: "git_echo"}); err != nil {
			t.Fatal(err)
		}
		testwait.Pass(relistEvery)
		if all := c.Published().Resources(); len(all) != 1 || all[0].Name != "fake://new" {
			t.Errorf("after the change: %v", all)
		}
		close(wait)
		synctest.Wait()
		if all := c.Published().Resources(); len(all) != 1 || all[0].Name != "fake://new" {
			t.Errorf("after the answer to the older request: %v", all)
		}
	})
}
