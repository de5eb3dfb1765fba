package usage

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// sparse makes a file of a session as long as a huge one, which takes no room on the disk.
func (h *home) sparse(name string, size int64) {
	h.t.Helper()
	h.add(name, "")
	if err := os.Truncate(filepath.Join(h.dir, name), size); err != nil {
		h.t.Fatal(err)
	}
}

// rests has all files be from before the counter began.
func (h *home) rests() { h.count.reading.began = time.Now().Add(time.Hour) }

// limits has a counter read little.
func (h *home) limits(first, past, run int) {
	r := &h.count.reading
	r.first, r.growth, r.past, r.run, r.left = int64(first), int64(4*first), int64(past), int64(run), int64(past)
}

func replies(from, to int) string {
	text := ""
	for i := from; i < to; i++ {
		line := said(fmt.Sprintf("m%02d", i), "r", 10, 0, 1)
		text += strings.Replace(line, "{", fmt.Sprintf(`{"timestamp":"2026-11-22T10:%02d:00Z",`, i), 1)
	}
	return text
}

var oneReply = len(replies(0, 1))

func TestOfAHugeFileOnlyTheEndIsRead(t *testing.T) {
	h := newHome(t, "claude")
	const huge = 900 << 20
	h.sparse(conversation, huge)
	h.add(conversation, "\n"+turn(began, "Mend it", "")+said("a", "r", 10, 0, 1))
	f := h.look("claude", "s1")
	r := &h.count.reading
	if f.Usage.In != 10 || !f.Usage.Partial || f.Record == nil || f.Record.Prompt != "Mend it" || r.bytes > firstRead+pastRead {
		t.Errorf("read %d bytes: %+v, %+v", r.bytes, f.Usage, f.Record)
	}
	for range 1000 {
		h.count.Round()
		h.look("claude", "s1")
	}
	if r.bytes > firstRead+pastRun || r.opened > 1+pastRun/pastRead {
		t.Errorf("read %d bytes in all, opened %d times", r.bytes, r.opened)
	}
	read := r.bytes
	more := said("b", "r", 7, 0, 1)
	h.add(conversation, more)
	if f := h.look("claude", "s1"); f.Usage.In != 17 || r.bytes != read+int64(len(more)) {
		t.Errorf("read %d bytes for %d: %+v", r.bytes-read, len(more), f.Usage)
	}
}

func TestThePastIsReadFromItsEndAndSaysSinceWhenItCounts(t *testing.T) {
	h := newHome(t, "claude")
	title := `{"type":"ai-title","aiTitle":"Old"}` + "\n" + `{"type":"user","permissionMode":"plan"}` + "\n"
	h.add(conversation, title+turn(began, "first", "")+turn(began, "second", "")+replies(0, 20)+
		`{"type":"ai-title","aiTitle":"New"}`+"\n"+`{"type":"user","permissionMode":"auto"}`+"\n"+replies(20, 22))
	h.limits(2*oneReply+5, 5*oneReply, 1<<20)
	h.count.reading.left = 0
	since := func(minute int) time.Time { return time.Date(2026, 11, 22, 10, minute, 0, 0, time.UTC) }
	f := h.look("claude", "s1")
	if f.Usage.In != 20 || !f.Usage.Since.Equal(since(20)) || f.Record.Prompt != "" {
		t.Errorf("at first %+v, %+v", f.Usage, f.Record)
	}
	h.count.Round()
	f = h.look("claude", "s1")
	if n := f.Usage.In / 10; n <= 2 || n >= 10 || !f.Usage.Since.Equal(since(22-int(n))) {
		t.Errorf("then %+v", f.Usage)
	}
	for range 10 {
		h.count.Round()
		f = h.look("claude", "s1")
	}
	if f.Usage != (snapshot.Usage{In: 220, Out: 22}) || f.Title != "New" || f.Mode != "auto" || f.Record.Prompt != "second" || !f.Record.Changed.Partial {
		t.Errorf("in the end %+v, %q, %q, %+v", f.Usage, f.Title, f.Mode, f.Record)
	}
	if err := h.count.Save("claude", "s1"); err != nil {
		t.Fatal(err)
	}
	h.count = New(h.opts)
	if f := h.look("claude", "s1"); f.Record.Prompt != "second" || f.Usage.Partial {
		t.Errorf("in the next run %+v, %+v", f.Usage, f.Record)
	}
}

func TestLinesThatAreTooLongAreLeftOut(t *testing.T) {
	long := `{"type":"user","message":{"content":"` + strings.Repeat("x", 30*oneReply) + `"}}` + "\n"
	for name, text := range map[string]string{
		"before":  long + replies(0, 9),
		"between": replies(0, 5) + long + replies(5, 9),
		"behind":  replies(0, 9) + long,
		"unended": replies(0, 9) + long[:len(long)-10],
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t, "claude")
			h.limits(3*oneReply+5, 3*oneReply, 1<<20)
			h.add(conversation, text)
			var f Found
			for range 60 {
				h.count.Round()
				f = h.look("claude", "s1")
			}
			if f.Usage != (snapshot.Usage{In: 90, Out: 9}) {
				t.Errorf("counted %+v", f.Usage)
			}
		})
	}
}

func TestWhatWasWrittenInALongPauseIsReadFromItsEnd(t *testing.T) {
	h := newHome(t, "claude")
	h.limits(3*oneReply+5, 3*oneReply, 1<<20)
	h.add(conversation, replies(0, 2))
	h.look("claude", "s1")
	h.add(conversation, replies(2, 40))
	h.count.reading.left = 0
	if f := h.look("claude", "s1"); f.Usage.In != 50 || !f.Usage.Partial {
		t.Errorf("at first %+v", f.Usage)
	}
	for range 20 {
		h.count.Round()
		h.look("claude", "s1")
	}
	if f := h.look("claude", "s1"); f.Usage != (snapshot.Usage{In: 400, Out: 40}) {
		t.Errorf("in the end %+v", f.Usage)
	}
}

// TestManyOldSubagentsCostALook has more of them than a run reads.
func TestManyOldSubagentsCostALook(t *testing.T) {
	h := newHome(t, "claude")
	h.add(conversation, replies(0, 1))
	const files, run = 200, 40
	for i := range files {
		h.add(fmt.Sprintf("projects/-src-shop/s1/subagents/agent-%03d.jsonl", i), said(fmt.Sprint("s", i), "rr", 10, 0, 1))
	}
	h.rests()
	one := len(said("s100", "rr", 10, 0, 1))
	h.limits(10*one, 3*one, run*one)
	var f Found
	for range 100 {
		h.count.Round()
		f = h.look("claude", "s1")
	}
	r := &h.count.reading
	if n := f.Usage.In/10 - 1; n < run || n > run+3 || !f.Usage.Partial || r.opened > run+4 {
		t.Errorf("counted %d of %d, opened %d times: %+v", n, files, r.opened, f.Usage)
	}
	opened := r.opened
	r.began = time.Time{}.Add(1) // one is at work
	h.add("projects/-src-shop/s1/subagents/agent-199.jsonl", said("new", "r", 1000, 0, 1))
	if f := h.look("claude", "s1"); f.Usage.In < 1000 || r.opened == opened {
		t.Errorf("the one at work does not count: %+v", f.Usage)
	}
}

func TestOfALongRolloutMostWasNotSpentToday(t *testing.T) {
	h := newHome(t, "codex")
	count := func(total, last int) string {
		return fmt.Sprintf(`{"timestamp":%q,"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d},"last_token_usage":{"input_tokens":%d}}}}`+"\n", time.Now().Format(time.RFC3339), total, last)
	}
	end := `{"type":"turn_context","payload":{"model":"m"}}` + "\n" + count(9_000_000, 1000) + count(10_000_000, 1_000_000)
	h.limits(len(end)+5, 100, 0)
	h.add("sessions/2026/11/24/rollout-2026-11-24T09-12-33-"+codexSession+".jsonl", strings.Repeat("{}\n", 100)+end)
	f := h.look("codex", codexSession)
	if c := f.Cost; f.Usage.In != 10_000_000 || c.Today >= c.USD || c.Today == 0 || !c.Undated {
		t.Errorf("%+v of %+v", c, f.Usage)
	}
}
