//go:build unix

package setup

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/decktest"
	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	socket "github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// inbox is a deck without a screen: its queue, its list of sessions and its prompt socket.
type inbox struct {
	t      *testing.T
	home   string
	node   string
	client clients.Client
	path   string // of the agent's program

	q      *ask.Queue
	roster *sessions.Roster
	server *socket.Server

	adapter approvals.Adapter
}

// newInbox sets up a client's prompts in a home of their own.
func newInbox(t *testing.T, name string) *inbox {
	t.Helper()
	path := realtest.Agent(t, name)
	home, err := os.MkdirTemp("", "d") // a socket's path has few bytes to spare
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	c, _ := clients.Find(name)
	b := &inbox{t: t, home: home, node: realtest.Agent(t, "node"), client: c, path: path}
	b.write("project/b.txt", "one\n")
	hookProgram := "/nowhere"
	if c.Prompts.Hooks != nil {
		hookProgram = decktest.Program(t, t.TempDir(), "cmd/mcpdeck-hook")
	}
	change := planned(t, name, Prompter{Hook: []string{hookProgram}, State: socket.State(home), Folders: clients.Folders{Home: home}})
	if err := change.Apply(); err != nil {
		t.Fatal(err)
	}
	b.open()
	t.Cleanup(func() { b.close() })
	return b
}

// open starts the deck.
func (b *inbox) open() {
	b.t.Helper()
	b.q, b.roster = ask.New(ask.Options{Hold: -1, StateFile: filepath.Join(b.home, "ask.json")}), &sessions.Roster{}
	a := agents.Of(b.client.ID).New(approvals.Deps{Queue: b.q, Roster: b.roster, Folder: clients.Folders{Home: b.home}.Program(b.client.ID)})
	s, err := socket.Listen(socket.Options{Path: socket.Path(socket.State(b.home), ""), Handlers: map[string]socket.Handler{b.client.ID: a.(socket.Handler)}})
	if err != nil {
		b.t.Fatal(err)
	}
	b.server, b.adapter = s, a
	ctx := b.t.Context()
	go a.Run(ctx)
}

func (b *inbox) close() {
	b.q.Close()
	b.server.Close()
}

func (b *inbox) write(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// terminal is where the agent runs.
type terminal struct {
	b   *inbox
	tty *os.File
	cmd *exec.Cmd

	mu    sync.Mutex
	out   strings.Builder
	frame time.Time // when it first showed a text; zero: it has not
}

func (b *inbox) command(env []string, args ...string) *exec.Cmd {
	c := exec.Command(b.path, args...)
	c.Dir = filepath.Join(b.home, "project")
	c.Env = append([]string{"HOME=" + b.home, "PATH=" + filepath.Dir(b.node) + ":" + os.Getenv("PATH"), "TERM=xterm-256color", "TMPDIR=" + b.home}, env...)
	return c
}

func (b *inbox) terminal(env []string, args ...string) *terminal {
	b.t.Helper()
	t := &terminal{b: b, cmd: b.command(env, args...)}
	tty, err := pty.StartWithSize(t.cmd, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		b.t.Fatal(err)
	}
	t.tty = tty
	over := make(chan struct{})
	go func() {
		defer close(over)
		buf := make([]byte, 32<<10)
		for {
			n, err := tty.Read(buf)
			t.mu.Lock()
			t.out.Write(buf[:n])
			if t.frame.IsZero() && len(strings.Fields(ansi.Strip(t.out.String()))) > 0 {
				t.frame = time.Now()
			}
			t.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	b.t.Cleanup(func() {
		_ = t.cmd.Process.Kill()
		_ = t.cmd.Wait()
		tty.Close()
		<-over
		if b.t.Failed() {
			t.mu.Lock()
			b.t.Logf("the terminal ends with %q", t.out.String()[max(0, t.out.Len()-3000):])
			t.mu.Unlock()
		}
	})
	return t
}

// runs reports whether a process is the agent's, which a script may have started.
func (t *terminal) runs(pid int) bool {
	own := t.cmd.Process.Pid
	return pid == own || slices.ContainsFunc(process.All(), func(p process.Running) bool { return p.PID == pid && p.Parent == own })
}

// press answers a prompt in its terminal. A key that comes before the dialog is drawn is
// lost: it is pressed again, late enough not to answer the next one where the machine is busy.
func (t *terminal) press(keys string, it ask.Item) {
	t.b.t.Helper()
	const again = 15 * time.Second
	at := time.Now().Add(2*time.Second - again)
	t.b.until("the terminal's answer", func() bool {
		if !slices.ContainsFunc(t.b.q.Pending().Items, func(o ask.Item) bool { return o.ID == it.ID }) {
			return true
		}
		if time.Since(at) > again {
			at = time.Now()
			if _, err := io.WriteString(t.tty, keys); err != nil {
				t.b.t.Fatal(err)
			}
		}
		return false
	})
}

// until waits for something to become true.
func (b *inbox) until(what string, is func() bool) {
	b.t.Helper()
	if !testwait.Holds(is) {
		b.t.Fatalf("waited in vain for %s; open: %+v", what, b.q.Pending().Items)
	}
}

// next waits for a prompt that fits.
func (b *inbox) next(what string, fits func(r ask.Request) bool) ask.Item {
	b.t.Helper()
	var found ask.Item
	b.until(what, func() bool {
		for _, it := range b.q.Pending().Items {
			if it.Absent == ask.Present && fits(it.Request) {
				found = it
				return true
			}
		}
		return false
	})
	return found
}

func command(text string) func(ask.Request) bool {
	return func(r ask.Request) bool { return r.Prompt.Command == text }
}

// answer sends the answer with an option, and waits until the agent has it.
func (b *inbox) answer(it ask.Item, label string, a ask.AnswerDraft) {
	b.t.Helper()
	if label != "" {
		i := slices.IndexFunc(it.Request.Questions[0].Options, func(o ask.Option) bool { return strings.HasPrefix(o.Label, label) })
		if i < 0 {
			b.t.Fatalf("%s is not offered: %+v", label, it.Request.Questions[0].Options)
		}
		a.Chosen = []int{i}
		if note := a.Notes[-1]; note != "" {
			a.Notes = map[int]string{i: note}
		}
	}
	a.Accepted = true
	b.q.SetDraft(it.ID, ask.Draft{Answers: []ask.AnswerDraft{a}})
	if err := b.q.Send(it.ID); err != nil {
		b.t.Fatal(err)
	}
	b.until("the delivery of "+label, func() bool {
		return slices.ContainsFunc(b.q.Pending().History, func(r ask.Record) bool { return r.ID == it.ID && r.Delivery == ask.Delivered })
	})
}

func step(tool string, args map[string]any) mockmodel.Step {
	raw, _ := json.Marshal(args) // plain values always encode
	return mockmodel.Step{Tool: tool, Args: raw}
}

// opencode configures OpenCode, or a program with its contract.
func (b *inbox) opencode(url string) {
	realtest.Home(b.t, b.client.ID, b.home)
	b.write(".config/"+b.client.ID+"/"+b.client.ID+".json", `{"model":"mock/mock","small_model":"mock/mock","autoupdate":false,"share":"disabled",
		"provider":{"mock":{"npm":"@ai-sdk/openai-compatible","name":"mock","options":{"baseURL":"`+url+`/v1","apiKey":"x"},"models":{"mock":{"name":"mock","tool_call":true}}}},
		"permission":{"bash":"ask","edit":"ask"}}`)
}

// TestRealOpenCode answers all that OpenCode asks from the deck.
func TestRealOpenCode(t *testing.T) { answersOpenCode(t, "opencode") }

func TestRealKilo(t *testing.T) { answersOpenCode(t, "kilo") }

func answersOpenCode(t *testing.T, id string) {
	t.Helper()
	b := newInbox(t, id)
	question := map[string]any{"questions": []any{map[string]any{"question": "Which db?", "header": "DB", "options": []any{map[string]any{"label": "SQLite", "description": "small"}}}}}
	model := mockmodel.New(
		t, "deck",
		step("bash", map[string]any{"command": "echo 1 > 1.txt", "description": "d"}),
		step("bash", map[string]any{"command": "echo 2 > 2.txt", "description": "d"}),
		step("bash", map[string]any{"command": "echo 3 > 3.txt", "description": "d"}),
		step("bash", map[string]any{"command": "touch 4.txt", "description": "d"}),
		step("edit", map[string]any{"filePath": filepath.Join(b.home, "project", "b.txt"), "oldString": "one", "newString": "two"}),
		step("question", question),
		step("question", question),
		step("bash", map[string]any{"command": "touch 5.txt", "description": "d"}),
		step("edit", map[string]any{"filePath": filepath.Join(b.home, "project", "b.txt"), "oldString": "one", "newString": "1\n2"}),
		step("bash", map[string]any{"command": "touch 6.txt", "description": "d"}),
	)
	b.opencode(model.URL)
	term := b.terminal(nil, "--prompt", "go")

	first := b.next("the first command", command("echo 1 > 1.txt"))
	if p := first.Request.Prompt; p.Unconfirmed || p.Door != ask.Shared || !term.runs(first.Request.Peer.PID) {
		t.Errorf("the system does not confirm who asks: %+v", first.Request)
	}
	b.answer(first, "Allow once", ask.AnswerDraft{})
	b.answer(b.next("the second command", command("echo 2 > 2.txt")), "Always allow", ask.AnswerDraft{})
	// The third is like the second.
	b.answer(b.next("the fourth command", command("touch 4.txt")), "Deny with a message", ask.AnswerDraft{Notes: map[int]string{-1: "use make"}})
	edit := b.next("the edit", func(r ask.Request) bool {
		return strings.Contains(r.Prompt.Diff, "-one") && strings.Contains(r.Prompt.Diff, "+two")
	})
	b.answer(edit, "Deny", ask.AnswerDraft{})
	own := func(r ask.Request) bool { return r.Prompt.Kind == ask.OwnQuestion }
	b.answer(b.next("the question", own), "", ask.AnswerDraft{Other: "a file", OtherOn: true})

	// The deck is lost while a question waits, and finds it again with what was typed.
	b.until("the next question", func() bool { return len(model.Seen()[5].Result) > 0 })
	again := b.next("the next question", own)
	b.q.SetDraft(again.ID, ask.Draft{Answers: []ask.AnswerDraft{{Other: "draft", OtherOn: true}}})
	b.close()
	b.open()
	again = b.next("the question in the next deck", own)
	if d := again.Draft; len(d.Answers) != 1 || d.Answers[0].Other != "draft" {
		t.Errorf("its draft is %+v", d)
	}
	b.answer(again, "", ask.AnswerDraft{Other: "another", OtherOn: true})

	// What its terminal answers leaves.
	term.press("\r", b.next("the fifth command", command("touch 5.txt")))
	if h := b.q.Pending().History; !slices.ContainsFunc(h, func(r ask.Record) bool { return r.Delivery == ask.Elsewhere }) {
		t.Errorf("history %+v", h)
	}
	b.answer(b.next("the second edit", func(r ask.Request) bool { return strings.Contains(r.Prompt.Diff, "+1") }), "Allow once", ask.AnswerDraft{})
	b.answer(b.next("the sixth command", command("touch 6.txt")), "Deny and stop", ask.AnswerDraft{})
	b.until("the end of the turn", func() bool {
		all := b.roster.Sessions()
		return len(all) == 1 && all[0].State == snapshot.Idle && all[0].Version == b.client.Prompts.Newest()
	})
	for i, want := range []string{"", "", "", "use make", approvals.Denied, "a file", "another", "", ""} {
		if s := model.Seen()[i]; !s.Called || !strings.Contains(s.Result, want) {
			t.Errorf("step %d: %+v, want %q", i, s, want)
		}
	}
	for name, want := range map[string]bool{"1.txt": true, "2.txt": true, "3.txt": true, "4.txt": false, "5.txt": true, "6.txt": false} {
		if _, err := os.Stat(filepath.Join(b.home, "project", name)); (err == nil) != want {
			t.Errorf("%s: %v, want it %v", name, err, want)
		}
	}
	if n := len(b.q.Pending().Items); n != 0 {
		t.Errorf("%d are left", n)
	}
	if r := b.roster.Sessions()[0].Record; r == nil || len(r.Changed.Files) != 1 || r.Changed.Added != 2 || r.Changed.Removed != 1 {
		t.Errorf("its session says %+v", r)
	}
	_ = term.cmd.Process.Kill()
	b.until("the end of the session", func() bool { all := b.roster.Sessions(); return len(all) == 1 && all[0].State == snapshot.Ended })
}

// TestRealOpenCodeRunIsNotShown: "opencode run" denies its own prompts at once.
func TestRealOpenCodeRunIsNotShown(t *testing.T) {
	b := newInbox(t, "opencode")
	model := mockmodel.New(t, "deck", step("bash", map[string]any{"command": "touch 1.txt", "description": "d"}))
	b.opencode(model.URL)
	hints, stop := b.q.Hints()
	defer stop()
	out, err := b.command(nil, "run", "go").CombinedOutput()
	if s := model.Seen()[0]; !s.Called {
		t.Fatalf("the model was not asked: %v\n%s", err, out)
	}
	if len(hints) > 0 || len(b.q.Pending().History) > 0 {
		t.Errorf("the queue has changed: %+v", b.q.Pending())
	}
	if all := b.roster.Sessions(); len(all) != 1 {
		t.Errorf("sessions %+v", all)
	}
}

// TestRealGemini shows what Gemini CLI asks until its terminal has answered.
func TestRealGemini(t *testing.T) {
	b := newInbox(t, "gemini")
	settings := filepath.Join(b.home, ".gemini", "settings.json")
	hooks, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	b.write(".gemini/settings.json", strings.Replace(string(hooks), "{", `{"security":{"folderTrust":{"enabled":false},"auth":{"selectedType":"gemini-api-key"}},"general":{"disableAutoUpdate":true},`, 1))
	model := mockmodel.New(
		t, "deck",
		step("run_shell_command", map[string]any{"command": "echo 1 > 1.txt", "description": "d"}),
		step("ask_user", map[string]any{"questions": []any{map[string]any{"question": "Which db?", "header": "DB", "type": "choice", "options": []any{map[string]any{"label": "SQLite", "description": "small"}, map[string]any{"label": "Postgres", "description": "big"}}}}}),
		step("write_file", map[string]any{"file_path": filepath.Join(b.home, "project", "c.txt"), "content": "new\n"}),
	)
	term := b.terminal([]string{"GOOGLE_GEMINI_BASE_URL=" + model.URL, "GEMINI_API_KEY=x"}, "-m", "gemini-2.5-pro", "-i", "go")
	run := b.next("the command", command("echo 1 > 1.txt"))
	if !run.Request.InTerminal() || b.q.Send(run.ID) == nil {
		t.Error("it could be answered in the deck")
	}
	b.until("its session to wait", func() bool {
		all := b.roster.Sessions()
		return len(all) == 1 && all[0].State == snapshot.WaitsForPermission
	})
	term.press("\r", run)
	question := b.next("the question", func(r ask.Request) bool { return r.Prompt.Kind == ask.OwnQuestion })
	if q := question.Request.Questions[0]; q.Question != "Which db?" || len(q.Options) != 2 {
		t.Errorf("the question is %+v", q)
	}
	term.press("\r", question)
	write := b.next("the edit", func(r ask.Request) bool { return strings.Contains(r.Prompt.Diff, "+new") })
	term.press("\x1b", write) // denied: no hook says so
	b.until("its session to be idle", func() bool { all := b.roster.Sessions(); return len(all) == 1 && all[0].State == snapshot.Idle })
	if s := model.Seen(); !s[2].Called || !strings.Contains(s[1].Result, "SQLite") {
		t.Errorf("the model saw %+v", s)
	}
	b.close() // another deck finds it by its files
	b.open()
	b.until("its session in another deck", func() bool { all := b.roster.Sessions(); return len(all) == 1 && all[0].State == snapshot.Idle })
	program := usage.Program{Folder: clients.Folders{Home: b.home}.Program("gemini"), Format: agents.Of("gemini").Usage}
	count := usage.New(usage.Options{Programs: map[string]usage.Program{"gemini": program}})
	b.until("what was asked, and its tokens", func() bool {
		f, _ := count.Look(&b.roster.Sessions()[0])
		return f.Record != nil && f.Record.Prompt == "go" && f.Usage.In > 0
	})
}
