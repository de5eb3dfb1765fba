package usage

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/servers/agents/contract"
	"github.com/mcpdeck/mcpdeck/servers/agents/record"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

const prices = `{
"m": {"input_cost_per_token": 1e-6, "output_cost_per_token": 10e-6, "cache_read_input_token_cost": 0.1e-6,
  "cache_creation_input_token_cost": 1.25e-6, "cache_creation_input_token_cost_above_1hr": 2e-6, "max_input_tokens": 200000,
  "input_cost_per_token_above_200k_tokens": 2e-6, "search_context_cost_per_query": {"search_context_size_medium": 0.01},
  "provider_specific_entry": {"fast": 2}},
"free": {"max_input_tokens": 5}
}`

func formats() map[string]*Format {
	return map[string]*Format{"claude": Claude(), "codex": Codex()}
}

// home is an agent's folder with a counter that looks into it.
type home struct {
	t      *testing.T
	dir    string
	opts   Options
	prices atomic.Pointer[Prices]
	count  *Counter
}

func newHome(t *testing.T, agent string) *home {
	t.Helper()
	p, err := ParsePrices([]byte(prices), "test")
	if err != nil {
		t.Fatal(err)
	}
	h := &home{t: t, dir: t.TempDir()}
	h.prices.Store(p)
	h.opts = Options{Programs: map[string]Program{agent: {h.dir, formats()[agent]}}, Prices: h.prices.Load, State: filepath.Join(t.TempDir(), "usage")}
	h.count = New(h.opts)
	return h
}

func (h *home) add(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) look(agent, id string) Found {
	f, _ := h.count.Look(&snapshot.Session{Agent: agent, ID: id, Folder: "/src/shop"})
	return f
}

func (h *home) wants(f Found, want snapshot.Usage) {
	h.t.Helper()
	if f.Usage != want {
		h.t.Errorf("counted %+v, want %+v", f.Usage, want)
	}
}

const conversation = "projects/-src-shop/s1.jsonl"

func said(id, request string, in, read, out int) string {
	return fmt.Sprintf(`{"type":"assistant","requestId":%q,"message":{"id":%q,"model":"m","usage":{"input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":%d}}}`+"\n",
		request, id, in, read, out)
}

func TestAReplyThatIsWrittenSeveralTimesCountsOnceWithItsLargestFigures(t *testing.T) {
	h := newHome(t, "claude")
	h.add(conversation, said("a", "r1", 10, 5, 1)+said("a", "r1", 10, 5, 7)+`{"type":"user","message":{"content":"\"usage\""}}`+"\n")
	h.wants(h.look("claude", "s1"), snapshot.Usage{In: 10, CacheRead: 5, Out: 7})
	h.add(conversation, said("a", "r1", 10, 5, 3)+said("b", "r2", 2, 20, 4)+said("a", "r3", 100, 0, 0))
	f := h.look("claude", "s1")
	h.wants(f, snapshot.Usage{In: 112, CacheRead: 25, Out: 11})
	if f.Context != (snapshot.Context{Used: 100, Window: 200_000}) || f.Model != "m" {
		t.Errorf("context %+v of %q", f.Context, f.Model)
	}
	if usd := 112e-6 + 25*0.1e-6 + 110e-6; math.Abs(f.Cost.USD-usd) > 1e-12 || !f.Cost.Known || f.Cost.Partial || f.Cost.Source != "test" {
		t.Errorf("cost %+v, want %v", f.Cost, usd)
	}
}

func TestAFileThatComesAfterItsSessionIsReadAtTheNextLook(t *testing.T) {
	const id = "019a9b1c-0000-7000-8000-000000000000"
	at, _ := timeOf(id)
	for agent, name := range map[string]string{
		"claude": "projects/-src-shop/" + id + ".jsonl",
		"codex":  "sessions/" + at.Format("2006/01/02") + "/rollout-2026-11-22T10-00-00-" + id + ".jsonl",
	} {
		h := newHome(t, agent)
		h.look(agent, id)
		h.add(name, said("a", "r1", 10, 5, 1)+`{"type":"turn_context","payload":{"model":"m"}}`+"\n")
		if f := h.look(agent, id); f.Model != "m" {
			t.Errorf("%s: nothing was read of the file", agent)
		}
	}
}

func TestSubagentsCountButDoNotFillTheContext(t *testing.T) {
	h := newHome(t, "claude")
	h.add(conversation, said("a", "r", 10, 0, 1))
	h.look("claude", "s1")
	h.add("projects/-src-shop/s1/subagents/agent-x.jsonl", said("b", "r", 1000, 0, 2)+said("a", "r", 10, 0, 1))
	f := h.look("claude", "s1")
	h.wants(f, snapshot.Usage{In: 1010, Out: 3})
	if f.Context.Used != 10 {
		t.Errorf("the context has %d tokens", f.Context.Used)
	}
}

func TestALineThatIsNotYetWholeWaits(t *testing.T) {
	h := newHome(t, "claude")
	whole := said("a", "r", 10, 0, 1)
	h.add(conversation, whole+whole[:20])
	h.wants(h.look("claude", "s1"), snapshot.Usage{In: 10, Out: 1})
	h.add(conversation, strings.Replace(whole, `"a"`, `"b"`, 1)[20:])
	h.wants(h.look("claude", "s1"), snapshot.Usage{In: 20, Out: 2})
}

func TestAReplacedFileIsCountedAnew(t *testing.T) {
	for name, text := range map[string]string{
		"shorter":       said("x", "r", 3, 0, 0),
		"as long again": said("a", "q", 30, 0, 1) + said("b", "q", 10, 0, 1) + said("c", "q", 10, 0, 1),
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t, "claude")
			h.add(conversation, said("a", "r", 10, 0, 1)+said("b", "r", 10, 0, 1))
			h.look("claude", "s1")
			path := filepath.Join(h.dir, conversation)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			h.add(conversation, text)
			got := h.look("claude", "s1")
			want := New(Options{Programs: h.opts.Programs})
			f, _ := want.Look(&snapshot.Session{Agent: "claude", ID: "s1", Folder: "/src/shop"})
			h.wants(got, f.Usage)
		})
	}
}

func TestNoLinkLeadsOutOfTheAgentsFolder(t *testing.T) {
	h := newHome(t, "claude")
	other := filepath.Join(t.TempDir(), "s1.jsonl")
	if err := os.WriteFile(other, []byte(said("a", "r", 10, 0, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(h.dir, "projects/-src-shop"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(h.dir, conversation)); err != nil {
		t.Skip("this system makes no links:", err)
	}
	for _, transcript := range []string{"", other, filepath.Join(h.dir, conversation)} {
		f, _ := h.count.Look(&snapshot.Session{Agent: "claude", ID: "s1", Folder: "/src/shop", Transcript: transcript})
		h.wants(f, snapshot.Usage{})
	}
	h.wants(h.look("claude", "../s1"), snapshot.Usage{})
}

func TestTheNextRunReadsNothingTwice(t *testing.T) {
	h := newHome(t, "claude")
	h.add(conversation, `{"type":"ai-title","aiTitle":"Mend the till"}`+"\n"+said("a", "r", 10, 0, 1))
	before := h.look("claude", "s1")
	if err := h.count.Save("claude", "s1"); err != nil {
		t.Fatal(err)
	}
	h.count = New(h.opts)
	s := h.count.load(key{"claude", "s1"})
	if info, err := os.Stat(filepath.Join(h.dir, conversation)); err != nil || s.Files[0].At != info.Size() {
		t.Errorf("read up to %d: %v", s.Files[0].At, err)
	}
	if f := h.look("claude", "s1"); f != before {
		t.Errorf("then %+v, before %+v", f, before)
	}
	h.add(conversation, said("a", "r", 10, 0, 5)) // the reply of the last run grows
	f := h.look("claude", "s1")
	h.wants(f, snapshot.Usage{In: 10, Out: 5})
	if f.Title != "Mend the till" {
		t.Errorf("title %q", f.Title)
	}
}

func TestWhatIsKeptOfASessionHasNoTextOfItsCalls(t *testing.T) {
	h := newHome(t, "claude")
	h.add(conversation, `{"type":"assistant","message":{"id":"a","model":"m","content":[{"type":"tool_use","name":"Bash","input":{"command":"login --password hunter2"}}],"usage":{"input_tokens":1}}}`+"\n")
	if f := h.look("claude", "s1"); !strings.Contains(f.LastSubject, "hunter2") {
		t.Errorf("the user does not see the command: %q", f.LastSubject)
	}
	if err := h.count.Save("claude", "s1"); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(h.count.path(key{"claude", "s1"}))
	if err != nil || strings.Contains(string(kept), "hunter2") || !strings.Contains(string(kept), "Bash") {
		t.Errorf("kept is %s, %v", kept, err)
	}
}

func TestOtherPricesHoldForWhatIsCountedAlready(t *testing.T) {
	h := newHome(t, "claude")
	h.add(conversation, said("a", "r", 1_000_000, 0, 0))
	if f := h.look("claude", "s1"); math.Abs(f.Cost.USD-2) > 1e-9 || h.count.Reprice() {
		t.Fatalf("%+v", f.Cost)
	}
	other, err := ParsePrices([]byte(`{"m":{"input_cost_per_token":0.00001}}`), "other")
	if err != nil {
		t.Fatal(err)
	}
	h.prices.Store(other)
	if !h.count.Reprice() || h.count.Reprice() {
		t.Error("it tells of another table never, or twice")
	}
	f, changed := h.count.Look(&snapshot.Session{Agent: "claude", ID: "s1", Folder: "/src/shop"})
	if math.Abs(f.Cost.USD-10) > 1e-9 || f.Cost.Source != "other" || !changed {
		t.Errorf("%+v, changed: %v", f.Cost, changed)
	}
}

func TestAModelWithoutAPriceLeavesTheCostOpen(t *testing.T) {
	h := newHome(t, "claude")
	odd := strings.Replace(said("a", "r", 10, 0, 1), `"m"`, `"odd"`, 1)
	h.add(conversation, odd)
	if f := h.look("claude", "s1"); f.Cost.Known || f.Usage.In != 10 {
		t.Errorf("%+v", f)
	}
	h.add(conversation, said("b", "r", 1_000_000, 0, 0))
	f := h.look("claude", "s1")
	if !f.Cost.Known || !f.Cost.Partial || math.Abs(f.Cost.USD-2) > 1e-9 {
		t.Errorf("%+v", f.Cost)
	}
}

func TestCodexCountsItself(t *testing.T) {
	h := newHome(t, "codex")
	const id = "019a9b1c-0000-7000-8000-000000000000"
	at, ok := timeOf(id)
	if !ok {
		t.Fatal("no time in the ID")
	}
	name := "sessions/" + at.Format("2006/01/02") + "/rollout-2026-11-22T10-00-00-" + id + ".jsonl"
	count := func(in, cached, out int) string {
		return fmt.Sprintf(`{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,"cached_input_tokens":%d,"output_tokens":%d,"reasoning_output_tokens":1},"last_token_usage":{"input_tokens":50},"model_context_window":1000}}}`+"\n", in, cached, out)
	}
	h.add(name, `{"type":"turn_context","payload":{"model":"m","approval_policy":"on-request"}}`+"\n"+
		count(100, 40, 10)+count(100, 40, 10)+
		`{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\",\"-l\"]}"}}`+"\n"+
		`{"type":"event_msg","payload":{"type":"token_count","info":null}}`+"\n"+count(300, 140, 30))
	f := h.look("codex", id)
	h.wants(f, snapshot.Usage{In: 160, CacheRead: 140, Out: 30, Reasoning: 1})
	if f.Context != (snapshot.Context{Used: 50, Window: 1000}) || f.Mode != "on-request" || f.LastTool != "shell" || f.LastSubject != "ls -l" {
		t.Errorf("%+v", f)
	}
	if want := 160e-6 + 14e-6 + 300e-6; math.Abs(f.Cost.USD-want) > 1e-12 {
		t.Errorf("cost %v, want %v", f.Cost.USD, want)
	}
}

func TestACallThatTheUserDeniedIsNotTheLast(t *testing.T) {
	const codex = "019a9b1c-0000-7000-8000-000000000000"
	use := func(id, command string) string {
		return fmt.Sprintf(`{"type":"assistant","message":{"id":%q,"model":"m","content":[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":%q}}],"usage":{"input_tokens":1}}}`+"\n", id, id, command)
	}
	denial := func(id string) string {
		return fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":%q,"content":"no"}]},"toolDenialKind":"user-rejected"}`+"\n", id)
	}
	call := `{"type":"response_item","payload":{"type":"function_call","call_id":"c1","name":"shell","arguments":"{\"command\":[\"make\"]}"}}` + "\n"
	output := func(text string) string {
		return fmt.Sprintf(`{"type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":%q}}`+"\n", text)
	}
	rollout := "sessions/2026/11/22/rollout-2026-11-22T10-00-00-" + codex + ".jsonl"
	for _, tt := range []struct{ name, agent, id, file, text, last string }{
		{"claude allows", "claude", "s1", conversation, use("t1", "make"), "Bash make"},
		{"claude denies", "claude", "s1", conversation, use("t1", "make") + denial("t1"), " "},
		{"claude denies another", "claude", "s1", conversation, use("t1", "make") + use("t2", "ls") + denial("t1"), "Bash ls"},
		{"claude is asked again", "claude", "s1", conversation, use("t1", "make") + `{"type":"user","message":{"content":"Now the tests"}}` + "\n", " "},
		{"codex allows", "codex", codex, rollout, call + output("Exit code: 0\nexec command rejected by user"), "shell make"},
		{"codex denies", "codex", codex, rollout, call + output("exec command rejected by user"), " "},
		{"codex denies a command in a session of it", "codex", codex, rollout, call + output("exec_command failed for `make`: Rejected(\"rejected by user\")"), " "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHome(t, tt.agent)
			h.add(tt.file, tt.text)
			if f := h.look(tt.agent, tt.id); f.LastTool+" "+f.LastSubject != tt.last {
				t.Errorf("the last call is %q %q, want %q", f.LastTool, f.LastSubject, tt.last)
			}
		})
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte(said("a", "r", 1, 2, 3)))
	f.Add([]byte(`{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":-1}}}}`))
	for _, name := range []string{"claude-2.1.330", "codex-0.169.0"} {
		r, err := contract.Find(name + "-conversation")
		if err != nil {
			f.Fatal(err)
		}
		for _, line := range r.Lines {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, format := range formats() {
			l, _ := format.Parse(text, false)
			var b record.Builder
			b.Take(&l.Event, record.Words|record.Edits)
			if r := b.Record("/src/shop"); r != nil && (!utf8.ValidString(r.Said) || !utf8.ValidString(r.Prompt)) {
				t.Errorf("%q, %q", r.Prompt, r.Said)
			}
		}
	})
}

func TestWhatWasSpentTodayIsCountedByTheDayOfEachReply(t *testing.T) {
	h := newHome(t, "claude")
	dated := func(id string, at time.Time, out int) string {
		return strings.Replace(said(id, id, 0, 0, out), "{", fmt.Sprintf("{\"timestamp\":%q,", at.Format(time.RFC3339)), 1)
	}
	now := time.Now()
	h.add(conversation, dated("a", now.AddDate(0, 0, -2), 1000)+dated("b", now, 100)+dated("b", now, 200))
	f := h.look("claude", "s1")
	if want := 1200 * 10e-6; math.Abs(f.Cost.USD-want) > 1e-9 || math.Abs(f.Cost.Today-200*10e-6) > 1e-9 || f.Cost.Undated {
		t.Errorf("got %+v, want %v, of today %v", f.Cost, want, 200*10e-6)
	}
	s := h.count.sessions[key{"claude", "s1"}]
	h.count.dated(s, now.AddDate(0, 0, -2))
	if f := h.count.found(s); math.Abs(f.Cost.Today-1000*10e-6) > 1e-9 {
		t.Errorf("two days ago it was %v", f.Cost.Today)
	}
	if err := h.count.Save("claude", "s1"); err != nil {
		t.Fatal(err)
	}
	h.count = New(h.opts)
	if f := h.look("claude", "s1"); math.Abs(f.Cost.Today-200*10e-6) > 1e-9 {
		t.Errorf("the next run knows of %v", f.Cost.Today)
	}
	h.add(conversation, said("c", "c", 0, 0, 1))
	if f := h.look("claude", "s1"); !f.Cost.Undated {
		t.Error("a reply without a time counts as one of another day")
	}
}
