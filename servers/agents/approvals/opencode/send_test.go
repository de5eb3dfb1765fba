package opencode_test

import (
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

func TestAPromptIsPostedToTheProcessThatRunsItsSession(t *testing.T) {
	const runs = `{"event":"session.updated","properties":{"sessionID":"ses_1","prompts":true,"info":{"id":"ses_1","title":"t","agent":"plan"}}}`
	inDeck(t, approvals.Deps{}, func(w *world) {
		w.plugin().say(`{"event":"session.updated","properties":{"sessionID":"ses_2","info":{"id":"ses_2"}}}`)
		p := w.plugin()
		p.say(runs)
		for _, s := range w.roster.Sessions() {
			if s.Door.Open != (s.ID == "ses_1") {
				t.Errorf("%s of an older plugin has the door %+v", s.ID, s.Door)
			}
		}
		door := w.adapter.(approvals.Sender)
		if err := door.Send(t.Context(), snapshot.Session{ID: "ses_1"}, "Then the till"); err != nil {
			t.Fatal(err)
		}
		const want = `{"agent":"plan","parts":[{"text":"Then the till","type":"text"}]}`
		if path, body := p.post(); path != "/session/ses_1/prompt_async" || body != want {
			t.Errorf("posted %s %s", path, body)
		}
		if err := door.Send(t.Context(), snapshot.Session{ID: "ses_3"}, "x"); err == nil {
			t.Error("a session that nobody runs took a prompt")
		}
	})
}
