package usage

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

func TestWhatAForkSharesIsCountedInEachAndSharedInOne(t *testing.T) {
	h := newHome(t, "claude")
	first := said("a", "r1", 100, 0, 10) + said("b", "r2", 100, 0, 10)
	h.add("projects/-src-shop/s1.jsonl", first+said("c", "r3", 5, 0, 0))
	h.add("projects/-src-shop/s2.jsonl", first+said("d", "r4", 7, 0, 0))
	h.add("projects/-src-shop/s3.jsonl", said("x", "r5", 9, 0, 0)+said("y", "r6", 100, 0, 10))
	h.add("projects/-src-shop/s4.jsonl", said("z", "r7", 9, 0, 0)+first)
	if f := h.look("claude", "s1"); f.Shared != (snapshot.Shared{}) {
		t.Errorf("alone, it shares %+v", f.Shared)
	}
	fork := h.look("claude", "s2")
	h.wants(fork, snapshot.Usage{In: 207, Out: 20})
	if s := fork.Shared; s.With != "s1" || s.Tokens != 220 || math.Abs(s.USD-(200e-6+200e-6)) > 1e-12 {
		t.Errorf("the fork shares %+v", s)
	}
	f, changed := h.count.Look(&snapshot.Session{Agent: "claude", ID: "s1", Folder: "/src/shop"})
	h.wants(f, snapshot.Usage{In: 205, Out: 20})
	if f.Shared != (snapshot.Shared{With: "s2"}) || !changed {
		t.Errorf("then the other shares %+v, told %v", f.Shared, changed)
	}
	if f := h.look("claude", "s3"); f.Shared != (snapshot.Shared{}) {
		t.Errorf("one with another beginning shares %+v", f.Shared)
	}
	if s := h.look("claude", "s4").Shared; s.With != "s1" || s.Tokens != 220 {
		t.Errorf("a fork whose newest reply was written first shares %+v", s)
	}
}

func TestWhatAForkSharesWasSpentTodayOnce(t *testing.T) {
	h := newHome(t, "claude")
	dated := func(id string, at time.Time) string {
		return strings.Replace(said(id, id, 0, 0, 100), "{", fmt.Sprintf("{\"timestamp\":%q,", at.Format(time.RFC3339)), 1)
	}
	now := time.Now()
	both := dated("old", now.AddDate(0, 0, -2)) + dated("a", now)
	h.add("projects/-src-shop/s1.jsonl", both+dated("b", now))
	h.add("projects/-src-shop/s2.jsonl", both+dated("c", now))
	const each = 100 * 10e-6
	var today float64
	for _, id := range []string{"s1", "s2"} {
		f := h.look("claude", id)
		if math.Abs(f.Cost.Today-2*each) > 1e-9 {
			t.Errorf("%s itself spent %v", id, f.Cost.Today)
		}
		today += f.Cost.Today - f.Shared.Today
		if err := h.count.Save("claude", id); err != nil {
			t.Fatal(err)
		}
	}
	if math.Abs(today-3*each) > 1e-9 {
		t.Errorf("together they spent %v, want %v", today, 3*each)
	}
	today = 0
	New(h.opts).Spent(now, func(_, _ string, usd float64) { today += usd })
	if math.Abs(today-3*each) > 1e-9 {
		t.Errorf("the next run knows of %v, want %v", today, 3*each)
	}
}
