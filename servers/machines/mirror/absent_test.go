package mirror

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
)

func TestOfAnAgentThatIsExpectedBackOnItsMachineTheDeckSaysThatItIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		defer p.end()
		r := question("Which database?")
		call := p.ask(r)
		is := func(when string, want ask.Absence) {
			t.Helper()
			settle(time.Second)
			if it := p.shown(); it.Absent != want || !it.Waits() {
				t.Errorf("%s it is %q, want %q", when, it.Absent, want)
			}
		}
		is("while it waits", ask.Present)
		call.HandOver()
		is("told to come back", ask.HandedOver)
		p.cut(false)
		settle(time.Minute)
		is("by the next link", ask.HandedOver)
		call, err := p.there.Resume(r.ResumeKey, r.Owner, r.Peer)
		if err != nil {
			t.Fatal(err)
		}
		is("come back", ask.Present)
		call.HandOver()
		settle(time.Second)
		if err := p.here.Answer(p.shown().ID, answers("Postgres")); err != nil {
			t.Fatal(err)
		}
		settle(time.Second)
		if call, err = p.there.Resume(r.ResumeKey, r.Owner, r.Peer); err != nil {
			t.Fatal(err)
		}
		gets(t, call, "Postgres")
	})
}
