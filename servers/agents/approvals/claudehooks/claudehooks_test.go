package claudehooks

import (
	"encoding/json"
	"testing"
)

func TestADecisionIsPrintedAsHooksPrintIt(t *testing.T) {
	for want, d := range map[string]Decision{
		`{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"the user denied this"},"hookEventName":"PermissionRequest"}}`: Deny(" "),
		`{"hookSpecificOutput":{"decision":{"behavior":"allow","updatedInput":{"a":"<b>"}},"hookEventName":"PermissionRequest"}}`:      {Behavior: "allow", Input: json.RawMessage(`{"a":"<b>"}`)},
	} {
		if got := d.Printed(); got != want {
			t.Errorf("printed %s, want %s", got, want)
		}
	}
}

// FuzzSameInput holds that what a model wrote is in itself, and in that with a default added.
func FuzzSameInput(f *testing.F) {
	f.Add(`{"command":"make"}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, input string) {
		if !json.Valid([]byte(input)) {
			return
		}
		wrote := json.RawMessage(input)
		if !SameInput(wrote, wrote) || !SameInput(json.RawMessage(`{"a":`+input+`}`), json.RawMessage(`{"b":1,"a":`+input+`}`)) {
			t.Errorf("%s is not in itself", input)
		}
		if SameInput(json.RawMessage(`{"a":`+input+`,"b":1}`), json.RawMessage(`{"a":`+input+`}`)) {
			t.Errorf("more than %s is in it", input)
		}
	})
}
