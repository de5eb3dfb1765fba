package upstream

import (
	"slices"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// What agents may not have is shown all the same, with what is the matter, and calls of
// it say so.
func TestDetailsShowEveryToolWithItsVerdict(t *testing.T) {
	off := map[string]bool{"push": true}
	c := New(Options{Name: "git", Catalogue: catalogue.Options{Off: func(tool string) string {
		if off[tool] {
			return "turned off"
		}
		return ""
	}}})
	list := func(tools string) {
		t.Helper()
		entries, _ := rawjson.SplitArray([]byte(tools))
		a := attempt{card: c, child: &link{Conn: &child.Conn{}}}
		a.inspect(entries)
		if a.err != nil {
			t.Fatal(a.err)
		}
		c.adopt(a)
		c.update(func() { c.mode, c.listed = On, c.offer })
	}
	list(`[{"name":"log","description":"x"},{"name":"push"},{"name":"a.b"},{"name":"a_b"}]`)
	list(`[{"name":"log","description":"y"},{"name":"push"},{"name":"a.b"},{"name":"a_b"},{"name":"new"}]`)
	want := func(step string, verdicts map[string]snapshot.Verdict, refusals map[string]string) {
		t.Helper()
		d := c.Status().Details()
		for _, tool := range d.Tools {
			if tool.Verdict != verdicts[tool.Original] || tool.Context == 0 || tool.Bytes < len(tool.Original) {
				t.Errorf("%s: %+v, want %s", step, tool, verdicts[tool.Original])
			}
		}
		if len(d.Tools) != 5 {
			t.Errorf("%s: %d tools", step, len(d.Tools))
		}
		for tool, text := range refusals {
			if got := c.Published().Refuse(tool); got != text {
				t.Errorf("%s: a call of %s: %q", step, tool, got)
			}
		}
	}
	const (
		isOff     = "git_push is turned off. The user can allow it in mcpdeck."
		isNew     = "git_new is hidden until the user accepts it: it is new."
		isChanged = "git_log is hidden until the user accepts it: its definition changed."
	)
	want("first", map[string]snapshot.Verdict{"log": snapshot.OnHold, "push": snapshot.Denied, "a.b": snapshot.Allow, "a_b": snapshot.Hidden, "new": snapshot.OnHold},
		map[string]string{"git_push": isOff, "git_new": isNew, "git_log": isChanged})

	off = map[string]bool{"a.b": true}
	c.Reoffer()
	want("another is off", map[string]snapshot.Verdict{"log": snapshot.OnHold, "push": snapshot.Allow, "a.b": snapshot.Denied, "a_b": snapshot.Allow, "new": snapshot.OnHold}, nil)

	held := c.Status().Details().Held
	if len(held) != 2 || held[0].Tool != "log" || !slices.Contains(held[0].Diff, snapshot.DiffLine{Mark: '+', Text: `  "description": "y",`}) {
		t.Fatalf("held: %+v", held)
	}
	held[1].Digest = "seen before it changed again"
	if r, err := c.AcceptShown(c.Status().Seen(held)); err != nil || r.Text != "Accepted 1 of 1 definition." {
		t.Errorf("accepted: %+v, %v", r, err)
	}
	if r, err := c.AcceptShown(c.Status().Seen(held)); err != nil || r.Text != "Nothing was accepted: the definitions have changed since." {
		t.Errorf("accepted again: %+v, %v", r, err)
	}
	want("one was accepted", map[string]snapshot.Verdict{"log": snapshot.Allow, "push": snapshot.Allow, "a.b": snapshot.Denied, "a_b": snapshot.Allow, "new": snapshot.OnHold}, nil)
}
