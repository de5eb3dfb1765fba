package ask

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func TestLocalAskersEndWithTheDeck(t *testing.T) {
	opt := Options{StateFile: filepath.Join(t.TempDir(), "state.json")}
	q := New(opt)
	r := request(t)
	open(t, q, r)
	r.Local, r.From.Client = true, "Pencil"
	open(t, q, r)
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	again := New(opt)
	defer again.Close()
	if items := again.Pending().Items; len(items) != 1 || items[0].Request.Client() != "claude" {
		t.Errorf("after the restart %+v wait", items)
	}
}

func storeOptions(t *testing.T) Options {
	t.Helper()
	dir := t.TempDir()
	return Options{Hold: -1, StateFile: filepath.Join(dir, "s", "state.json"), HistoryFile: filepath.Join(dir, "s", "history.jsonl")}
}

// killed waits until a killed process would leave q's newest state.
func killed(t *testing.T, q *Queue) {
	t.Helper()
	testwait.Until(t, "the state file has the newest state", func() bool {
		st, _, _ := q.store.load()
		return string(encode(st)) == string(encode(q.saved()))
	})
}

// Whoever may write in the folder could have the deck write elsewhere by a link;
// each file is one that the queue makes itself, or none.
func TestLinksInPlaceOfTheQueuesFilesAreNotFollowed(t *testing.T) {
	opt := storeOptions(t)
	precious := filepath.Join(t.TempDir(), "precious")
	if err := errors.Join(os.WriteFile(precious, []byte("precious\n"), 0o600), os.MkdirAll(filepath.Dir(opt.StateFile), 0o700)); err != nil {
		t.Fatal(err)
	}
	opt.Past = &Past{Path: filepath.Join(filepath.Dir(opt.StateFile), "prompts.jsonl"), On: func() bool { return true }}
	for _, path := range []string{opt.StateFile, opt.HistoryFile, opt.Past.Path} {
		if err := os.Symlink(precious, path); err != nil {
			t.Skipf("no link can be made: %v", err)
		}
	}
	q := New(opt)
	call := open(t, q, request(t))
	if err := q.Send(choose(t, q, 1)); err != nil {
		t.Fatal(err)
	}
	ended(t, call)
	call.Delivered(Delivered)
	open(t, q, request(t)) // for the state
	_ = q.Close()          // it may say that a file cannot be written
	if got, err := os.ReadFile(precious); err != nil || string(got) != "precious\n" {
		t.Errorf("what the links lead to is %q, %v", got, err)
	}
}

func TestDraftSurvivesAKill(t *testing.T) {
	opt := storeOptions(t)
	q := New(opt)
	r := request(t)
	r.ResumeKey = "k"
	open(t, q, r)
	choose(t, q, 1)
	killed(t, q) // no Close: what is on disk is all there is

	q2 := New(opt)
	defer q2.Close()
	it := q2.Pending().Items[0]
	if it.Absent != Restarted || it.Draft.Answers[0].Chosen[0] != 1 {
		t.Fatalf("%+v", it)
	}
	c := open(t, q2, r)
	if it := q2.Pending().Items[0]; it.Absent != Present || it.ID != 1 || it.Note == "" {
		t.Fatalf("%+v", it)
	}
	_ = q2.Send(1)
	ended(t, c)
	info, err := os.Stat(opt.StateFile)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	q.Close()
}

func TestDamagedStateIsSetAside(t *testing.T) {
	opt := storeOptions(t)
	if err := replaceFile(opt.StateFile, []byte(`{"version":1,"items":[{`)); err != nil {
		t.Fatal(err)
	}
	q := New(opt)
	defer q.Close()
	s := q.Pending()
	if len(s.Notices) != 1 || !strings.Contains(s.Notices[0], "moved to") {
		t.Errorf("notices %q", s.Notices)
	}
	aside, _ := filepath.Glob(opt.StateFile + ".damaged-*")
	if len(aside) != 1 {
		t.Errorf("set aside: %q", aside)
	}
}

func TestHandedOverSurvivesARestart(t *testing.T) {
	opt := storeOptions(t)
	q := New(opt)
	r := request(t)
	r.ResumeKey, r.Owner = "k", "me"
	open(t, q, r).HandOver()
	q.Close()
	q = New(opt)
	if it := q.Pending().Items[0]; it.Absent != HandedOver {
		t.Fatalf("%+v", it)
	}
	_ = q.Send(choose(t, q, 0))
	q.Close()
	q = New(opt)
	defer q.Close()
	c, err := q.Resume("k", "me", Peer{})
	if err != nil {
		t.Fatal(err)
	}
	if r := ended(t, c); r.Results[0].SelectedOptions[0] != "OAuth" || r.Questions[0].Question != "Auth?" {
		t.Errorf("%+v", r)
	}
}

func TestHistoryKeepsTheNewest200(t *testing.T) {
	t.Parallel()
	opt := storeOptions(t)
	q := New(opt)
	for range 210 {
		c := open(t, q, request(t))
		id := choose(t, q, 0)
		_ = q.Send(id)
		c.Delivered(Delivered)
	}
	q.Close()
	q = New(opt)
	defer q.Close()
	h := q.Pending().History
	if len(h) != 200 || h[199].ID != 210 || h[199].Delivery != Delivered || h[199].Request.ResumeKey != "" {
		t.Errorf("%d records, last %+v", len(h), h[len(h)-1])
	}
}

func TestCloseEndsCalls(t *testing.T) {
	q := New(Options{})
	c := open(t, q, request(t))
	q.Close()
	if _, err := c.Reply(); !errors.Is(err, ErrShutdown) {
		t.Errorf("got %v", err)
	}
	if _, err := q.Open(request(t)); !errors.Is(err, ErrShutdown) {
		t.Errorf("open after close: %v", err)
	}
}

func TestWhatWasTypedForAPermissionSurvivesAKilledDeck(t *testing.T) {
	opt := Options{StateFile: filepath.Join(t.TempDir(), "state.json")}
	old := New(opt)
	opened(t, old, permissionRequest("1", Shared))
	old.SetDraft(1, Draft{Answers: []AnswerDraft{{Notes: map[int]string{1: "use make"}}}})
	killed(t, old)
	q := New(opt)
	defer q.Close()
	if s := q.Pending(); len(s.Items) != 0 {
		t.Fatalf("without its agent, there is %+v", s.Items)
	}
	opened(t, q, permissionRequest("1", Shared))
	if got := q.Pending().Items[0].Draft.Answers[0].Notes[1]; got != "use make" {
		t.Errorf("its draft is %q", got)
	}
}
