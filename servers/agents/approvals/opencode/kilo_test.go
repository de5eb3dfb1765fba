package opencode_test

import (
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/opencode"
)

func TestKiloAsksAndIsAnsweredAsOpenCodeUnderItsOwnName(t *testing.T) {
	inDeckOf(t, opencode.Kilo(), approvals.Deps{}, func(w *world) {
		p := w.plugin()
		p.say(bash)
		r := w.item().Request
		if r.Client() != "kilo" || !strings.HasSuffix(r.Prompt.Grants[1].Effect, "(until Kilo CLI is restarted)") {
			t.Errorf("%s asks %+v", r.Client(), r.Prompt.Grants)
		}
		w.answer(ask.AnswerDraft{Chosen: []int{0}, Accepted: true})
		if path, body := p.post(); path != "/permission/per_1/reply" || body != `{"reply":"once"}` {
			t.Errorf("posted %s to %s", body, path)
		}
		p.say(`{"event":"permission.replied","properties":{"sessionID":"ses_1","requestID":"per_1","reply":"once"}}`)
		if h := w.q.Pending().History; h[0].Delivery != ask.Delivered {
			t.Errorf("it is %s", h[0].Delivery)
		}
		if all := w.roster.Sessions(); len(all) != 1 || all[0].Agent != "kilo" || all[0].Cost.Source != "Kilo CLI" {
			t.Errorf("the sessions are %+v", all)
		}
	})
	if file := string(opencode.Kilo().Plugin.File("", "")); !strings.Contains(file, `hello: "kilo"`) || !strings.Contains(file, "mcpdeck setup kilo --prompts") || strings.Contains(strings.ToLower(file), "opencode") {
		t.Errorf("its plug-in is\n%s", file)
	}
}
