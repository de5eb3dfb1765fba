package approvals_test

import (
	"encoding/json"
	"testing"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

func TestOnlyWhatTheUserChoseIsSent(t *testing.T) {
	all := append([]approvals.Choice{approvals.AllowOnce(json.RawMessage(`"yes"`))}, approvals.Denials(json.RawMessage(`"no"`))...)
	all = append(all, approvals.DenyAndStop(json.RawMessage(`"stop"`)))
	one := func(r ask.Result) ask.Reply { return ask.Reply{Status: ask.Answered, Results: []ask.Result{r}} }
	for name, tt := range map[string]struct {
		reply      ask.Reply
		want, note string
	}{
		"allowed":        {one(ask.Result{SelectedOptions: []string{"Allow once"}, Note: "not for an allow"}), `"yes"`, ""},
		"denied":         {one(ask.Result{SelectedOptions: []string{"Deny"}}), `"no"`, ""},
		"with a note":    {one(ask.Result{SelectedOptions: []string{"Deny with a message"}, Notes: map[string]string{"Deny with a message": " use make "}}), `"no"`, "use make"},
		"in own words":   {one(ask.Result{SelectedOptions: []string{"Deny with a message"}, CustomInput: "use make"}), `"no"`, "use make"},
		"stopped":        {one(ask.Result{SelectedOptions: []string{"Deny and stop the turn"}}), `"stop"`, ""},
		"declined":       {ask.Reply{Status: ask.Declined, Reason: "not now"}, `"no"`, "not now"},
		"timed out":      {ask.Reply{Status: ask.TimedOut}, "", ""},
		"another option": {one(ask.Result{SelectedOptions: []string{"Allow all"}}), "", ""},
		"two options":    {one(ask.Result{SelectedOptions: []string{"Allow once", "Deny"}}), "", ""},
		"nothing":        {ask.Reply{}, "", ""},
	} {
		c, note, ok := approvals.Chosen(all, tt.reply)
		if string(c.Result) != tt.want || note != tt.note || ok != (tt.want != "") {
			t.Errorf("%s: %s with the note %q, %v", name, c.Result, note, ok)
		}
	}
	if left := approvals.OnceOnly(append(all, approvals.Choice{Label: "Always allow", Grant: ask.Grant{Allow: true, Scope: ask.Always}})); len(left) != 4 {
		t.Errorf("once only, there are %+v", left)
	}
}

func TestWhatCannotBeShownIsAnsweredInItsTerminal(t *testing.T) {
	r := approvals.Request(&snapshot.Session{Agent: "claude", ID: "s", Folder: "/p", Verified: true}, &ask.Prompt{Kind: ask.Permission, Tool: "Edit", Path: "/q/a", Door: ask.Shared})
	approvals.MarkPath(r.Prompt, "/p")
	approvals.Permit(&r, []approvals.Choice{approvals.AllowOnce(nil)})
	approvals.InTerminal(&r, "it is too large")
	if !r.InTerminal() || len(r.Questions) != 1 || r.Questions[0].Description != "it is too large" || len(r.Prompt.Grants) != 1 || r.Prompt.Grants[0].Allow || len(r.Prompt.Marks) != 1 {
		t.Errorf("%+v %+v", r, r.Prompt)
	}
	o, err := rawjson.SplitObject([]byte(`{"a":1,"b":2}`))
	if left := o.Without("a"); err != nil || string(left.JSON()) != `{"b":2}` {
		t.Errorf("without a it is %s, %v", left.JSON(), err)
	}
}
