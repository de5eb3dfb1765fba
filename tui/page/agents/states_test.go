package agents_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/agents"
	"github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

// script is what happens in a session, and what its row then says, which the adapters of all
// agents are held to.
const script = "../../../servers/agents/testdata/states.txt"

// TestEveryStateIsDrawn draws the pages after each of the 60 moves of the script.
func TestEveryStateIsDrawn(t *testing.T) {
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	var onAgents, onInbox strings.Builder
	var s state
	n := 0
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), " | ")
		if line[0] == '#' || len(fields) < 2 {
			continue
		}
		n++
		s.moves(fields[0], append(fields[1:], "", "", "")...)
		list, home := s.drawn(t)
		fmt.Fprintf(&onAgents, "%d %s → %s\n%s\n", n, fields[0], fields[1], list)
		fmt.Fprintf(&onInbox, "%d %s → %s\n%s\n", n, fields[0], fields[1], home)
	}
	if n != 60 {
		t.Errorf("there are %d states", n)
	}
	frame.Compare(t, "60-states-80x24", onAgents.String())
	frame.Compare(t, "60-states-inbox-80x24", onInbox.String())
}

// state is what a session is like after some moves.
type state struct {
	word, name, prompt, said, changed string
	named                             string
	steps                             []snapshot.Step
	open                              []ask.Request
}

const shop = "/home/ana/src/shop"

// moves takes in a move, and what the row then says.
func (s *state) moves(move string, row ...string) {
	does, about, _ := strings.Cut(move, " ")
	s.word, s.prompt, s.said, s.changed = row[0], row[1], row[2], row[3]
	switch does {
	case "prompt":
		s.steps = nil
	case "rename":
		s.named = about
	case "clear":
		s.named = ""
	case "call":
		s.steps = append(s.steps, snapshot.Step{Tool: "Bash", Subject: about, Running: true})
	case "return":
		s.steps[len(s.steps)-1].Running = false
	case "edit":
		s.steps = append(s.steps, snapshot.Step{Tool: "Edit", Subject: "shop.go", Outcome: "+2 −1"})
	case "write":
		s.steps = append(s.steps, snapshot.Step{Tool: "Write", Subject: "notes.md", Outcome: "+3"})
	case "permit", "subpermit":
		r := fake.Permission("claude", shop, ask.Prompt{ID: about, Tool: "Bash", Command: about, Session: "claude-shop"})
		s.open = append(s.open, r)
		s.steps = append(s.steps, snapshot.Step{Tool: "Bash", Subject: about, Running: true})
	case "ask":
		s.asks(ask.OwnQuestion, ask.Question{ID: "q", Question: about, Kind: ask.Choice, Required: true, Options: []ask.Option{{Label: "one"}, {Label: "two"}}})
	case "form":
		s.asks(ask.ServerForm, ask.Question{ID: "form", Question: about, Kind: ask.Form, Required: true, Schema: json.RawMessage(`{"type":"object","properties":{"colour":{"type":"string","enum":["red","blue"]}},"required":["colour"]}`)})
	case "plan":
		r := fake.Plan("claude", shop, about)
		r.Prompt.Session, r.From.Session = "claude-shop", "claude-shop"
		s.open = append(s.open, r)
	case "allow", "deny", "answer", "suballow", "reply", "accept", "fill":
		if p := s.open[0].Prompt; p.Kind == ask.Permission {
			s.ends(p.Command, does == "deny" || about == "deny")
		}
		s.open = s.open[1:]
	case "stop":
		s.open = nil
	}
	if s.name = s.named; s.name == "" {
		s.name = s.prompt
	}
}

func (s *state) asks(kind ask.PromptKind, q ask.Question) {
	s.open = append(s.open, ask.Request{
		Questions: []ask.Question{q}, From: ask.From{Client: "claude", Session: "claude-shop"}, Local: true, Peer: ask.Peer{PID: 7, Program: "claude", Cwd: shop, Key: "claude-shop"},
		Prompt: &ask.Prompt{Kind: kind, ID: q.Question, Tool: "paint", Agent: "claude", Session: "claude-shop", Door: ask.Shared},
	})
}

// ends ends the step of a command.
func (s *state) ends(command string, denied bool) {
	for i := range s.steps {
		if st := &s.steps[i]; st.Subject == command {
			if st.Running = false; denied {
				st.Failed, st.Outcome = true, "denied"
			}
		}
	}
}

// session is the session, none if it has no row.
func (s *state) session(now time.Time) (all []snapshot.Session) {
	if s.word == "-" {
		return nil
	}
	word, more, _ := strings.Cut(s.word, " +")
	x := snapshot.Session{
		Agent: "claude", ID: "claude-shop", State: snapshot.SessionState(word), Since: now.Add(-12 * time.Second), Folder: shop, Title: s.named, Named: s.named != "", Verified: true,
		Record: &snapshot.Record{Prompt: s.prompt, Asked: now.Add(-time.Minute), Said: s.said, SaidAt: now.Add(-12 * time.Second), Steps: s.steps},
	}
	x.Subagents, _ = strconv.Atoi(more) // mostly there are none
	switch word {
	case "allow?", "plan?":
		x.State, x.Asks = snapshot.WaitsForPermission, word
	case "answer?", "form?":
		x.State, x.Asks = snapshot.WaitsForAnswer, word
	case "done":
		x.State, x.Unread = snapshot.Idle, true
	}
	c := &x.Record.Changed
	if n, _ := fmt.Sscanf(s.changed, "+%d −%d", &c.Added, &c.Removed); n == 2 {
		c.Files = []snapshot.ChangedFile{{Path: "shop.go", Added: 2, Removed: 1}}
	}
	if c.Added > 2 {
		c.Files = append(c.Files, snapshot.ChangedFile{Path: "notes.md", Added: 3})
	}
	for i := range s.steps {
		s.steps[i].Began, s.steps[i].Took = now.Add(-20*time.Second), time.Second
		x.LastTool, x.LastSubject = s.steps[i].Tool, s.steps[i].Subject
	}
	return []snapshot.Session{x}
}

// drawn are the pages Agents and Inbox, without rows that are blank.
func (s *state) drawn(t *testing.T) (list, home string) {
	t.Helper()
	var q *ask.Queue
	frame.Run(t, frame.Size{W: 80, H: 24}, colorprofile.TrueColor, func() tea.Model {
		q = ask.New(ask.Options{})
		for _, r := range s.open {
			if _, err := q.Open(r); err != nil {
				t.Fatal(err)
			}
		}
		page := agents.New(agents.Options{AskPage: inbox.ID, Questions: q})
		feed := &fake.Sessions{All: s.session(time.Now())}
		return tui.New(tui.Options{
			Deck: fake.NewDeck(time.Now()), Background: "dark", Start: page.ID(), Feeds: []tui.Feed{tui.SessionsFeed(feed)},
			Pages: []tui.Page{inbox.New(q, inbox.Options{Home: "/home/ana"}), page},
		})
	}, func(sc *frame.Screen) {
		list = filled(sc.Text())
		sc.Quick("I")
		sc.Wait(time.Second)
		home = filled(sc.Text())
		_ = q.Close()
	})
	return list, home
}

// filled are the rows of a screen that are not blank.
func filled(text string) string {
	var rows strings.Builder
	for row := range strings.Lines(text) {
		if strings.TrimSpace(row) != "" {
			rows.WriteString(row)
		}
	}
	return rows.String()
}
