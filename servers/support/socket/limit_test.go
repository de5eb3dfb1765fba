package socket

import "testing"

func TestARoomHearsTwiceAsManyAsItServes(t *testing.T) {
	r := &ConnLimit{Most: 3, MostOfOne: 2}
	want := []struct {
		pid   int
		hear  bool
		limit int
	}{
		{1, true, 0}, {1, true, 0}, {1, true, 2}, {1, true, 2}, {1, false, 2}, // one process takes its share
		{2, true, 3}, {2, false, 3}, {0, false, 3}, // of what there is for all
	}
	for i, w := range want {
		if hear, limit := r.enter(w.pid); hear != w.hear || limit != w.limit {
			t.Errorf("connection %d: heard %v, limit %d", i, hear, limit)
		}
	}
	for _, w := range want {
		r.leave(w.pid)
	}
	for _, pid := range []int{0, 0, 0} {
		if hear, limit := r.enter(pid); !hear || limit != 0 {
			t.Error("a place is not given again, or processes without a name count as one")
		}
	}
}
