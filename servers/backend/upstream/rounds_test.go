package upstream

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// A server is told that nobody answers when an agent of the newer era has not come back.
func TestAServerIsDeclinedForAnAgentThatDoesNotComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		works, declined := works(), make(chan string, 1)
		o := Options{OnDemand: true, Share: ShareSession, ElicitAgent: true, Hooks: Hooks{Find: func(From) (Found, error) { return Found{}, nil }}}
		c := made(t, o, func(process.Command) (*process.Child, error) {
			call := ""
			return played(func(method, id string, say func(string)) {
				switch method {
				case "tools/call":
					call = id
					say(`{"jsonrpc":"2.0","id":"f","method":"elicitation/create","params":{"message":"Name?","requestedSchema":{"type":"object","properties":{}}}}`)
				case "":
					declined <- id
					say(answered(works["tools/call"], call))
				default:
					say(answered(works[method], id))
				}
			}), nil
		})
		c.switchedOn(t)
		in := Invocation{Tool: "git_echo", Modern: true, From: From{Agent: "1", Answers: Answers{Forms: true}}}
		r, err := c.Call(t.Context(), in)
		asked, _ := rawjson.SplitObject(r.Raw)
		if err != nil || asked.Str("resultType") != inputRequired {
			t.Fatalf("got %s, %v", r.Raw, err)
		}
		time.Sleep(roundLimit - time.Second)
		synctest.Wait()
		if len(declined) > 0 {
			t.Error("the agent had time left")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if len(declined) != 1 {
			t.Error("the server still waits")
		}
		in.More = rawjson.Object{{Key: "requestState", Value: asked.Get("requestState")}, {Key: "inputResponses", Value: json.RawMessage(`{}`)}}
		if _, err := c.Call(t.Context(), in); err == nil || !strings.Contains(err.Error(), "no longer in progress") {
			t.Errorf("the agent came back and got %v", err)
		}
	})
}
