package gemini

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/servers/agents/record"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// counted is a session whose files grow.
type counted struct {
	t     *testing.T
	dir   string
	count *usage.Counter
}

const id = "8b7a1c22-1111-4000-8000-000000000000"

func newCounted(t *testing.T) *counted {
	t.Helper()
	dir := t.TempDir()
	return &counted{t, dir, usage.New(usage.Options{Programs: map[string]usage.Program{agent: {Folder: dir, Format: Agent().Usage}}})}
}

func (c *counted) add(name, text string) usage.Found {
	c.t.Helper()
	path := filepath.Join(c.dir, "tmp/shop/chats", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		c.t.Fatal(err)
	}
	before, _ := os.ReadFile(path) // it may be a new one
	if err := os.WriteFile(path, append(before, text+"\n"...), 0o600); err != nil {
		c.t.Fatal(err)
	}
	f, _ := c.count.Look(&snapshot.Session{Agent: agent, ID: id, Folder: "/src/shop"})
	return f
}

const chat = "session-2026-11-22T10-00-8b7a1c22.jsonl"

func TestAMessageThatIsWrittenAgainCountsOnce(t *testing.T) {
	message := func(id string, out int) string {
		return fmt.Sprintf(`{"id":%q,"type":"gemini","model":"m","tokens":{"input":100,"output":%d,"cached":60,"thoughts":3,"tool":0},"toolCalls":[{"name":"run_shell_command","args":{"command":"make"}}]}`, id, out)
	}
	c := newCounted(t)
	for _, line := range []string{`{"sessionId":"x"}`, message("a", 5), message("a", 7), `{"$set":{"lastUpdated":"gemini"}}`} {
		c.add(chat, line)
	}
	f := c.add(id+"/sub.jsonl", message("b", 1))
	if want := (snapshot.Usage{In: 80, CacheRead: 120, Out: 14, Reasoning: 6}); f.Usage != want || f.Context.Used != 100 || f.LastTool != "run_shell_command" || f.LastSubject != "make" {
		t.Errorf("%+v", f)
	}
}

func TestACallThatTheUserDeniedIsNotTheLast(t *testing.T) {
	for status, want := range map[string]string{"success": "run_shell_command make", "cancelled": " "} {
		f := newCounted(t).add(chat, `{"id":"a","type":"gemini","model":"m","toolCalls":[{"name":"run_shell_command","status":"`+status+`","args":{"command":"make"}}]}`)
		if got := f.LastTool + " " + f.LastSubject; got != want {
			t.Errorf("%s: the last call is %q", status, got)
		}
	}
}

func TestAReplyCountsWhateverItsLineSaysOfTheTime(t *testing.T) {
	for _, at := range []string{`1795428000000`, `"yesterday"`, `""`, `null`, `{}`} {
		if f := newCounted(t).add(chat, `{"id":"a","timestamp":`+at+`,"type":"gemini","model":"m","tokens":{"input":10,"output":1}}`); f.Usage.In != 10 || f.Usage.Out != 1 {
			t.Errorf("%s: counted %+v", at, f.Usage)
		}
	}
}

func TestAConversationIsReadFromItsChat(t *testing.T) {
	c := newCounted(t)
	c.add(chat, `{"id":"u1","timestamp":"2026-11-22T10:00:00Z","type":"user","content":[{"text":"<session_context>\nWe are setting up.\n</session_context>"},{"text":"Rewrite the page"}]}`)
	call := `{"id":"c1","name":"replace","args":{"file_path":"/src/shop/page.md"},"status":%q,"timestamp":"2026-11-22T10:00:03Z","resultDisplay":%s}`
	edit := `{"fileName":"page.md","fileDiff":"Index: page.md\n===\n--- page.md\tCurrent\n+++ page.md\tProposed\n@@ -1,2 +1,3 @@\n-old\n+new\n+more\n same\n"}`
	message := `{"id":"g1","timestamp":"2026-11-22T10:00:01Z","type":"gemini","model":"m","content":%q,"toolCalls":[%s]}`
	says := func(r *snapshot.Record) string {
		step, ch := r.Steps[0], r.Changed
		return fmt.Sprintf("%d %v %s %s %s +%d -%d: %s %s", len(r.Steps), step.Running, step.Tool, step.Subject, step.Outcome, ch.Added, ch.Removed, r.Prompt, r.Said)
	}
	if got := says(c.add(chat, fmt.Sprintf(message, "", fmt.Sprintf(call, "executing", "null"))).Record); got != "1 true replace page.md  +0 -0: Rewrite the page " {
		t.Error(got)
	}
	done := fmt.Sprintf(message, "Done.", fmt.Sprintf(call, "success", edit))
	c.add(chat, done)
	if got := says(c.add(chat, done).Record); got != "1 false replace page.md +2 −1 +2 -1: Rewrite the page Done." { // again, with more tokens
		t.Error(got)
	}
}

func FuzzChat(f *testing.F) {
	f.Add([]byte(`{"id":"x","type":"gemini","tokens":{"input":1}}`))
	f.Add([]byte(`{"id":"x","type":"user","content":[{"text":"go"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, _ := parse(text, false)
		var b record.Builder
		b.Take(&l.Event, record.Words|record.Edits)
		if r := b.Record("/src/shop"); r != nil && (!utf8.ValidString(r.Said) || !utf8.ValidString(r.Prompt)) {
			t.Errorf("%q, %q", r.Prompt, strings.ToValidUTF8(r.Said, "?"))
		}
	})
}
