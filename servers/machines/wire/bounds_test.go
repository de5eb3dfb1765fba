package wire

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

func TestWhatAMachineSaysOfItselfIsBounded(t *testing.T) {
	far := time.Date(200_000, 1, 1, 0, 0, 0, 0, time.UTC)
	s := snapshot.Session{
		Title: strings.Repeat("ä", 1<<20), Subagents: -4, Since: far, Started: time.Unix(1<<40, 0), Usage: snapshot.Usage{In: math.MaxInt64, Out: math.MaxInt64},
		Cost:   snapshot.Cost{USD: math.MaxFloat64, Today: -1},
		Record: &snapshot.Record{Asked: far, Steps: make([]snapshot.Step, 5000), Changed: snapshot.Changed{Files: []snapshot.ChangedFile{{Runs: make([]int, 5000)}}}},
	}
	r := Reply{
		Error:    "\x1b[2J" + strings.Repeat("x", 1<<20),
		Hello:    &Welcome{Program: "1\x1b]0;x\a" + strings.Repeat("x", 1<<20), Decks: []Deck{{Name: strings.Repeat("x\n", 1<<16)}}},
		Items:    &Items{Open: make([]Item, 100_000), Ended: make([]Ended, 100_000)},
		Sessions: &Sessions{Spent: math.MaxFloat64, Sessions: []snapshot.Session{s}},
	}
	r.Items.Open[0] = Item{Age: -time.Hour, Left: math.MaxInt64, Asked: make([]byte, 5000)}
	r.Items.Ended[99_999].Arrived = math.MaxInt64
	if err := r.Bound(); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatalf("what was bounded cannot be written: %v", err)
	}
	if len(b) > 1<<20 || strings.Contains(string(b), "u001b") {
		t.Errorf("%d bytes are kept", len(b))
	}
	s = r.Sessions.Sessions[0]
	if s.Subagents != 0 || s.Usage.In+s.Usage.Out <= 0 || s.Cost.Today != 0 || !s.Since.IsZero() || len(s.Record.Steps) != mostElements {
		t.Errorf("the session is %+v", s)
	}
	if it := r.Items.Open[0]; it.Age != 0 || it.Left <= 0 || len(it.Asked) != 5000 {
		t.Errorf("the item is %+v", it)
	}
	if r.Items.Ended[len(r.Items.Ended)-1].Arrived != math.MaxInt64 {
		t.Error("the latest that has ended is left out")
	}
	calls := &Calls{Run: math.MaxInt64, Calls: make([]Call, 5000)}
	for i := range calls.Calls {
		calls.Calls[i].Call = snapshot.Call{ID: 1, Status: snapshot.OK, Tool: "\x1b[2J" + strings.Repeat("x", 1<<16), Args: strings.Repeat("x", 1<<16), Duration: -1, Started: far, Afar: &snapshot.Afar{Machine: "other"}}
	}
	calls.Calls[4999].Status = "\x1b[2J"
	r = Reply{Calls: calls, Body: &Body{Args: json.RawMessage(`"` + strings.Repeat("x", 2<<20) + `"`), Pictures: make([]string, 5000)}}
	if err := r.Bound(); err != nil {
		t.Fatal(err)
	}
	c := &calls.Calls[0]
	if len(calls.Calls) != MostCalls-1 || len(c.Tool) > 2*mostName || len(c.Args) > 2*mostBrief || c.Duration != 0 || !c.Started.IsZero() || c.Afar != nil || strings.Contains(c.Tool, "\x1b") {
		t.Errorf("of %d calls the first is %+v", len(calls.Calls), c)
	}
	if len(r.Body.Args) > mostBody || !r.Body.Cut || !json.Valid(r.Body.Args) || len(r.Body.Pictures) != mostShown {
		t.Errorf("%d bytes are kept of what a call carried, and %d pictures", len(r.Body.Args), len(r.Body.Pictures))
	}
	if err := (&Reply{Picture: &Picture{Data: make([]byte, MostPicture+1)}}).Bound(); err == nil {
		t.Error("a picture of any size is taken")
	}
	if err := (&Reply{Hello: &Welcome{Decks: make([]Deck, MostDecks+1)}}).Bound(); err == nil {
		t.Error("any number of decks may answer there")
	}
}

func TestAPromptSaysOfEachOptionWhatItDoes(t *testing.T) {
	for n, want := range map[int]bool{0: true, 1: false, 2: true, 3: false} {
		a := Asked{Questions: []ask.Question{{ID: "p", Kind: ask.Choice, Options: []ask.Option{{Label: "Allow"}, {Label: "Deny"}}}}, Prompt: &ask.Prompt{Kind: ask.Permission, Grants: make([]ask.Grant, n)}}
		asked, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (&Item{Asked: asked}).Read(); (err == nil) != want {
			t.Errorf("with %d grants for two options: %v", n, err)
		}
	}
}
