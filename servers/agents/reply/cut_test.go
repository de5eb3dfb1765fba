package reply_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/agents/reply"
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// cutter plays a program whose connection to the deck is cut, with what it does within the agent's process.
type cutter struct {
	*sessions.Roster
	t     *testing.T
	agent string
	dir   string // the program's own folder
	door  hook.Handler

	mu   sync.Mutex
	conn net.Conn
	took []string
	said snapshot.Record // what the session records
}

const cutID = "ses_1"

// Sessions has what the program's files record of a session, for those that do not report it.
func (c *cutter) Sessions() []snapshot.Session {
	all := c.Roster.Sessions()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.agent == "copilot" {
		for i := range all {
			said := c.said // which may change
			all[i].Record = &said
		}
	}
	return all
}

// connects connects to the deck. Of what that sends, the program gets some bytes, and hangs up then.
func (c *cutter) connects(bytes int64, says bool) {
	ours, theirs := net.Pipe()
	c.conn = ours
	go func() {
		if greeted, err := hook.Greet(theirs, os.Getpid()); err == nil {
			defer greeted.Close()
			c.door.Serve(c.t.Context(), greeted)
		}
	}()
	go func() {
		defer ours.Close()
		for in := bufio.NewReader(io.LimitReader(ours, bytes)); ; {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			var p struct {
				Post string
				Body struct {
					Text  string
					Parts []struct{ Text string }
				}
			}
			if json.Unmarshal(line, &p) != nil || p.Post == "" {
				continue
			}
			for _, part := range p.Body.Parts {
				p.Body.Text += part.Text
			}
			c.mu.Lock()
			c.took = append(c.took, p.Body.Text)
			c.said = snapshot.Record{Prompt: p.Body.Text, Asked: time.Now()}
			c.mu.Unlock()
			if says {
				c.reports()
			}
		}
	}()
	c.says(`{"v":1,"hello":"` + c.agent + `","mode":"stream","directory":"/p"}`)
	if c.agent == "copilot" {
		c.says(`{"event":"session.joined","properties":{"sessionId":"` + cutID + `"}}`)
	} else {
		c.says(`{"event":"session.updated","properties":{"sessionID":"` + cutID + `","prompts":true,"info":{"id":"` + cutID + `"}}}`)
		c.reports()
		c.says(`{"event":"session.status","properties":{"sessionID":"` + cutID + `","status":{"type":"idle"}}}`)
	}
	testwait.Pass(2 * time.Second)
}

// reports says what the session was asked, if that is said over the connection.
func (c *cutter) reports() {
	c.mu.Lock()
	said := c.said
	c.mu.Unlock()
	if c.agent != "copilot" && said.Prompt != "" {
		at := said.Asked.UnixMilli()
		c.says(fmt.Sprintf(`{"event":"message.user","properties":{"sessionID":%q,"at":%d,"messageID":"m%d","text":%q}}`, cutID, at, at, said.Prompt))
	}
}

func (c *cutter) says(line string) { _, _ = io.WriteString(c.conn, line+"\n") } // or it is cut

func (c *cutter) times(text string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, took := range c.took {
		if took == text {
			n++
		}
	}
	return n
}

// writes writes the files of a session of Copilot CLI that is idle.
func (c *cutter) writes() {
	dir := filepath.Join(c.dir, "session-state", cutID)
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("inuse.%d.lock", os.Getpid())), nil, 0o600)
	}
	var events []byte
	for _, kind := range []string{"session.start", "user.message", "assistant.message", "assistant.turn_end"} {
		events = fmt.Appendf(events, `{"type":%q,"id":"e","timestamp":"2026-11-23T10:00:00Z","data":{"content":"go"}}`+"\n", kind)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "events.jsonl"), events, 0o600)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// TestAPromptIsSentOnceOrGivenBackWhereverTheConnectionIsCut cuts it fifty times: before the prompt, within its line, or
// after the program has it, which it says before, or when it is connected again.
func TestAPromptIsSentOnceOrGivenBackWhereverTheConnectionIsCut(t *testing.T) {
	for _, agent := range []string{"opencode", "kilo", "copilot"} {
		t.Run(agent, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				c := &cutter{Roster: &sessions.Roster{}, t: t, agent: agent, dir: dir}
				c.writes()
				q := ask.New(ask.Options{Hold: -1})
				defer q.Close()
				a := agents.Of(agent).New(approvals.Deps{Queue: q, Roster: c.Roster, Folder: dir})
				c.door = a.(hook.Handler)
				go a.Run(t.Context())
				outbox := reply.New(reply.Options{Roster: c, Notice: func(s string) { t.Error(s) }})
				go outbox.Run(t.Context(), map[string]approvals.Sender{agent: a.(approvals.Sender)}, redact.Rules{})
				c.check(outbox, rand.New(rand.NewPCG(1, 2)))
			})
		})
	}
}

// check has fifty prompts sent.
func (c *cutter) check(outbox *reply.Outbox, random *rand.Rand) {
	const whole = 1000 // more than a prompt takes
	sent, back := 0, 0
	for i := range 50 {
		text := fmt.Sprint("Mend the clock ", i)
		bytes := random.Int64N(120)
		if i%3 == 0 {
			bytes = whole
		}
		c.connects(bytes, random.IntN(2) == 0)
		err := outbox.Send(c.agent, cutID, text)
		synctest.Wait()
		c.conn.Close()
		testwait.Pass(time.Duration(random.IntN(10)) * time.Second)
		c.connects(whole, true)
		testwait.Pass(time.Minute)
		all := c.Sessions()
		at := slices.IndexFunc(all, func(s snapshot.Session) bool { return s.ID == cutID })
		next, took := all[at].Next, c.times(text)
		switch {
		case err != nil && took == 0: // the field keeps it
			back++
		case err == nil && took == 1 && next == (snapshot.Next{}):
			sent++
		case err == nil && took == 0 && next.State == snapshot.NextUntaken && outbox.TakeBack(c.agent, cutID) == text:
			back++
		default:
			c.t.Errorf("%q was sent %d times, which ends with %v and %+v", text, took, err, next)
			outbox.TakeBack(c.agent, cutID)
		}
		c.conn.Close()
		synctest.Wait()
	}
	c.t.Logf("%d were sent, %d given back", sent, back)
	if sent < 5 || back < 5 {
		c.t.Error("that is too little of one of them")
	}
}
