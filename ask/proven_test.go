package ask

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/userauth"
)

func TestCommandLineAnswers(t *testing.T) {
	d := newDeck(t, Options{}, ListenOptions{})
	c := NewClient(ClientOptions{Path: d.l.Path()})
	d.send(plainAsk)
	d.pending(1)
	list, err := c.List()
	if err != nil || len(list) != 1 || list[0].Questions[0].ID != "auth" {
		t.Fatalf("list: %+v, %v", list, err)
	}
	if err := c.Answer(1, nil); err == nil || !strings.Contains(err.Error(), "does not accept answers") {
		t.Errorf("without a gate: %v", err)
	}
	d.l.opt.Gate = userauth.New(userauth.Options{Method: userauth.Off})
	if err := c.Answer(1, nil); err == nil || !strings.Contains(err.Error(), "ask.cli_answers") {
		t.Errorf("off by default: %v", err)
	}
	if tries := d.l.opt.Gate.State().Tries; len(tries) != 1 || !strings.Contains(tries[0].Why, "are off") {
		t.Errorf("shown in the deck: %+v", tries)
	}
	d.l.opt.Gate = pairing(t)
	d.l.opt.Gate.Pair()
	d.l.opt.Agents = func() []int { return []int{os.Getpid()} }
	if err := c.Answer(1, nil); err == nil || !strings.Contains(err.Error(), "only the user") {
		t.Errorf("descends from an agent: %v", err)
	}
	if tries := d.l.opt.Gate.State().Tries; len(tries) != 1 || !strings.Contains(tries[0].Why, "only the user") {
		t.Errorf("shown in the deck: %+v", tries)
	}
}

func pairing(t *testing.T) *userauth.Gate {
	t.Helper()
	g := userauth.New(userauth.Options{Method: userauth.Pair})
	if err := g.Open(true); err != nil {
		t.Fatal(err)
	}
	return g
}

// paired is a deck with one question and a gate that pairs.
func paired(t *testing.T) (*deck, *userauth.Gate) {
	t.Helper()
	gate := pairing(t)
	d := newDeck(t, Options{}, ListenOptions{Gate: gate})
	open(t, d.q, request(t)) // not by this process, which is to answer
	return d, gate
}

func TestOnlyAProvenConnectionAnswers(t *testing.T) {
	d, gate := paired(t)
	answer := []Result{{ID: "auth", SelectedOptions: []string{"OAuth"}}}
	show := func(secret string) *Client {
		return NewClient(ClientOptions{Path: d.l.Path(), Prove: func(method string) (string, error) {
			if method != "pair" {
				t.Errorf("asked for %q", method)
			}
			return secret, nil
		}})
	}
	if err := show("").Answer(1, answer); err == nil || !strings.Contains(err.Error(), "no pairing code") {
		t.Errorf("without a code: %v", err)
	}
	code := gate.Pair()
	if err := show("ABCD-EFGH").Answer(1, answer); err == nil || !strings.Contains(err.Error(), "wrong code") {
		t.Errorf("with a wrong code: %v", err)
	}
	for _, first := range []string{
		`{"type":"answer","request":1,"decline":true}`,
		`{"type":"answer","request":1,"decline":true,"secret":"` + code + `"}`,
		`{"type":"proof","secret":"` + code + `"}` + "\n" + `{"type":"answer","request":1,"decline":true}`,
		`{"type":"prove","secret":"` + code + `"}` + "\n" + `{"type":"answer","request":1,"decline":true}`,
		`{"type":"prove"}` + "\n" + `{"type":"answer","request":1,"decline":true}`,
		`{"type":"prove"}` + "\n" + `{"type":"proof","secret":"x"}` + "\n" + `{"type":"answer","request":1,"decline":true}`,
	} {
		p := d.send(first + "\n")
		_ = p.CloseWrite()
		_ = p.SetReadDeadline(time.Now().Add(20 * time.Second))
		if got, _ := io.ReadAll(p.r); strings.Contains(string(got), `"ok"`) {
			t.Errorf("%s got %s", first, got)
		}
	}
	d.pending(1)
	shown, refused := 0, map[string]int{}
	for _, try := range gate.State().Tries {
		if try.Why == "" {
			shown++
		} else {
			refused[try.Why]++
		}
		if try.PID == 0 {
			t.Errorf("it is not said who made %+v", try)
		}
	}
	if n := len(refused); shown != 2 || n != 2 { // without a code, and without a proof
		t.Errorf("%d attempts with a secret were shown, and %v without; want 2 and 2", shown, refused)
	}
	if err := show(code).Answer(1, answer); err != nil {
		t.Errorf("with the code: %v", err)
	}
	d.pending(0)
	if err := show(code).Answer(1, answer); err == nil {
		t.Error("a code counted twice")
	}
}

func TestACodeOfAnItemAnswersNoOther(t *testing.T) {
	gate := userauth.New(userauth.Options{Method: userauth.Push})
	if err := gate.Open(true); err != nil {
		t.Fatal(err)
	}
	d := newDeck(t, Options{}, ListenOptions{Gate: gate})
	open(t, d.q, request(t))
	other := request(t)
	other.Questions[0].Question = "Which cache?"
	open(t, d.q, other)
	one := gate.Bind(1)
	for _, claim := range []string{`"request":"1"`, `"requests":[1]`} {
		if got := d.send(`{"type":"prove",` + claim + "}\n").line(); !strings.Contains(got, "refused") {
			t.Errorf("%s: got %s", claim, got)
		}
	}
	all := `{"type":"prove","request":1}` + "\n" + `{"type":"proof","secret":"` + one + `"}` + "\n" + `{"type":"answer","request":2,"decline":true}` + "\n"
	p := d.send(all)
	_, proven, refused := p.line(), p.line(), p.line()
	if !strings.Contains(proven, `"ok"`) || !strings.Contains(refused, "answers question 1 only") {
		t.Errorf("its own code: %s; another question: %s", proven, refused)
	}
	d.pending(2)
}
