package socket

import "testing"

func TestARoomHearsTwiceAsManyAsItServes(t *testing.T) {
	r := &Room{Most: 2}
	want := []struct{ hear, serve bool }{{true, true}, {true, true}, {true, false}, {true, false}, {false, false}}
	for i, w := range want {
		if hear, serve := r.Enter(); hear != w.hear || serve != w.serve {
			t.Errorf("connection %d: heard %v, served %v", i, hear, serve)
		}
	}
	for range want {
		r.Leave()
	}
	if hear, serve := r.Enter(); !hear || !serve {
		t.Error("a place is not given again")
	}
}
