package mirror

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// scene is a line of a conversation of two programs of the first version that spoke the protocol, as it
// was recorded: a frame, or what an agent or user did before the next one.
type scene struct {
	From  string `json:"from"` // deck, host or test
	Step  string `json:"step"`
	Frame struct {
		Conn int            `json:"c"`
		Line map[string]any `json:"l"`
		End  bool           `json:"end,omitempty"`
	} `json:"frame"`
}

// firstVersion is the conversation, and the key of its deck.
func firstVersion(t *testing.T) (all []scene, key ed25519.PrivateKey) {
	t.Helper()
	raw, err := os.ReadFile("testdata/version1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(raw) {
		var s scene
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all, ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
}

// kind is that of a request or reply.
func (s *scene) kind() string {
	for kind := range s.Frame.Line {
		return kind
	}
	return ""
}

// fields are those of a request or reply.
func (s *scene) fields() map[string]any {
	of, _ := s.Frame.Line[s.kind()].(map[string]any)
	return of
}

// older is a pair of which one side is a program of the first version.
type older struct {
	*pair

	call *ask.Call
}

// does is what happens on the host.
func (o *older) does(step string) {
	switch text, asks := strings.CutPrefix(step, "ask "); {
	case step == "session":
		o.roster.Report(snapshot.Session{Agent: "claude", ID: "s1", State: snapshot.Working, Folder: "/src/shop", Since: time.Now(), Title: "Add a cart"})
	case text == "Allow Bash?":
		o.call = o.ask(permission("make"))
	case asks:
		o.call = o.ask(question(text))
	case step == "delivered":
		o.call.Delivered(ask.Delivered)
	case step == "gone":
		o.call.Gone("its program has ended")
	}
}

// answeredBy is what the deck of the first version signed with its key.
func answeredBy(key ed25519.PrivateKey, item string, body []byte) []byte {
	return ed25519.Sign(key, append([]byte("mcpdeck-fleet-1\nanswer\nssh/HOST/"+item+"\n"+item+"\n"), body...))
}

// passing are the fields that are others in each conversation.
var passing = []string{"version", "now", "program", "arrived", "age", "Since"}

// has reports whether a program that knows want finds it in got.
func has(got, want any) bool {
	switch want := want.(type) {
	case nil:
		return true
	case map[string]any:
		got, _ := got.(map[string]any)
		for name, of := range want {
			if !slices.Contains(passing, name) && !has(got[name], of) {
				return false
			}
		}
		return true
	case []any:
		got, _ := got.([]any)
		return slices.EqualFunc(got, want, has)
	}
	return got == want
}

// readable has the text of each item in place of its bytes.
func readable(t *testing.T, line map[string]any) (keys []string) {
	t.Helper()
	items, _ := line["items"].(map[string]any)
	open, _ := items["open"].([]any)
	for _, it := range open {
		it := it.(map[string]any)
		raw, err := base64.StdEncoding.DecodeString(it["asked"].(string))
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, wire.KeyOf(raw))
		var asked any
		if err := json.Unmarshal(raw, &asked); err != nil {
			t.Fatal(err)
		}
		it["asked"] = asked
	}
	return keys
}

// TestADeckOfTheFirstVersionIsServed sends this host what the deck has sent in the conversation: what that was told then it is
// told by this one, and its answers count.
func TestADeckOfTheFirstVersionIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, key := firstVersion(t)
		public, _ := key.Public().(ed25519.PublicKey)
		o := &older{pair: newPair(t, func(p *pair) { p.key, p.trust.keys, p.idle = key, []ed25519.PublicKey{public}, true })}
		defer o.end()
		conn, err := o.dial(o.ctx)
		if err != nil {
			t.Fatal(err)
		}
		replies := make(chan map[string]any, len(all))
		go func() {
			for in := bufio.NewScanner(conn); in.Scan(); {
				var s scene
				d := json.NewDecoder(bytes.NewReader(in.Bytes()))
				d.UseNumber()
				_ = d.Decode(&s.Frame) // it is compared
				replies <- map[string]any{s.kind(): s.fields(), "conn": s.Frame.Conn}
			}
		}()
		versions, keys := map[string]any{}, map[string]string{}
		for i := range all {
			s := &all[i]
			switch s.From {
			case "test":
				o.does(s.Step)
			case "deck":
				f := s.fields()
				if _, since := f["version"]; since {
					f["version"] = versions[s.kind()]
				}
				if s.kind() == "answer" {
					resign(t, key, f, keys)
				}
				line, err := json.Marshal(s.Frame)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := conn.Write(append(line, '\n')); err != nil {
					t.Fatal(err)
				}
			case "host":
				was, then := readable(t, s.Frame.Line), replied(replies, s.Frame.Conn)
				for i, k := range readable(t, then) {
					keys[was[min(i, len(was)-1)]] = k
				}
				if !has(then, s.Frame.Line) {
					t.Fatalf("it was told\n%v\nand is told\n%v", s.Frame.Line, then)
				}
				if of, _ := then[s.kind()].(map[string]any); of["version"] != nil {
					versions[s.kind()] = of["version"]
				}
			}
		}
		conn.Close()
	})
}

// replied is the reply on a connection, nil if there is none in two minutes.
func replied(replies chan map[string]any, conn int) map[string]any {
	for wait := time.Duration(0); wait < 2*time.Minute; wait += time.Second {
		settle(min(wait, time.Second))
		for range len(replies) {
			r := <-replies
			if r["conn"] == conn {
				return r
			}
			replies <- r
		}
	}
	return nil
}

// resign makes an answer one to the item as this host has it.
func resign(t *testing.T, key ed25519.PrivateKey, answer map[string]any, keys map[string]string) {
	t.Helper()
	item, _ := answer["item"].(string)
	text, _ := answer["body"].(string)
	body, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	if sign := base64.StdEncoding.EncodeToString(answeredBy(key, item, body)); sign != answer["sign"] {
		t.Fatalf("the first version signed %q, and not %q", answer["sign"], sign)
	}
	answer["item"] = keys[item]
	answer["sign"] = answeredBy(key, keys[item], body)
}

// TestAHostOfTheFirstVersionIsShownAndAnswered tells this deck what the host has told in the conversation, and compares its
// answers with what that has taken.
func TestAHostOfTheFirstVersionIsShownAndAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, key := firstVersion(t)
		o := &older{pair: newPair(t, func(p *pair) { p.key, p.idle = key, true })}
		defer o.end()
		ours, theirs := net.Pipe()
		o.conn = ours
		dialed := false
		o.m = New(Options{Name: "build1", Host: "HOST", Key: key, Queue: o.here, Changed: func() {}, Version: "1", Dial: func(context.Context) (io.ReadWriteCloser, error) {
			if dialed {
				return nil, errors.New("the link was lost")
			}
			dialed = true
			return ours, nil
		}})
		o.m.watch(true) // of calls it tells nothing
		asked := make(chan scene, len(all))
		go func() {
			for in := bufio.NewScanner(theirs); in.Scan(); {
				var s scene
				_ = json.Unmarshal(in.Bytes(), &s.Frame) // it is compared
				if k := s.kind(); k != "hello" && k != "items" && k != "sessions" && k != "answer" {
					s.Frame.Line, s.Frame.End = map[string]any{"error": "unsupported"}, true
					line, _ := json.Marshal(s.Frame)
					_, _ = theirs.Write(append(line, '\n')) // the test sees that the link is lost
					continue
				}
				asked <- s
			}
		}()
		go o.m.Run(o.ctx)
		for i := range all {
			s := &all[i]
			settle(time.Second)
			switch {
			case s.From == "test":
				o.user(s.Step)
			case s.From == "deck" && s.kind() == "answer":
				got := request(asked, "answer")
				if f := got.fields(); f == nil || !has(f, s.fields()) {
					t.Fatalf("this deck answers with %v, and that with %v", f, s.fields())
				}
				asked <- got
			case s.From == "host":
				to := request(asked, s.kind())
				s.Frame.Conn = to.Frame.Conn
				line, err := json.Marshal(s.Frame)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := theirs.Write(append(line, '\n')); err != nil {
					t.Fatal(err)
				}
			}
		}
		settle(time.Minute)
		var how []string
		for _, r := range o.here.Pending().History {
			how = append(how, r.Request.Questions[0].Question+" "+r.Words(""))
		}
		want := []string{"Which database? answered", "Allow Bash? denied", "Which cache? declined", "Which queue? withdrawn: its program has ended"}
		if !slices.Equal(how, want) {
			t.Errorf("here they are\n%q, want\n%q", how, want)
		}
		if all := o.m.sessions; len(all) != 1 || all[0].Title != "Add a cart" || all[0].Machine != "build1" {
			t.Errorf("its sessions are %+v", all)
		}
		if s := o.m.State(); !s.Linked || !s.Answers || s.Program != "older" {
			t.Errorf("it is %+v", s)
		}
		if _, err := o.m.Prompt(wire.Prompt{Agent: "claude", Session: "s1", Text: "go on"}); !errors.Is(err, errOlder) {
			t.Errorf("a prompt for it: %v", err)
		}
		theirs.Close()
	})
}

// user is what the user does in this deck.
func (o *older) user(step string) {
	option, does := strings.CutPrefix(step, "user ")
	if !does {
		return
	}
	types(o.t, o.here, "a draft, of which it does not know")
	settle(time.Second)
	it := o.shown()
	var err error
	if option == "declines" {
		err = o.here.Decline(it.ID, "not now")
	} else {
		err = o.here.Answer(it.ID, []ask.Result{{ID: it.Request.Questions[0].ID, SelectedOptions: []string{option}}})
	}
	if err != nil {
		o.t.Fatal(err)
	}
}

// request is the one of a kind that waits for its reply.
func request(asked chan scene, kind string) (s scene) {
	for range len(asked) {
		s := <-asked
		if s.kind() == kind {
			return s
		}
		asked <- s
	}
	return s
}
