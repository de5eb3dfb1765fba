package notify

import "testing"

func TestABusyListenerGetsOneHintForManyChanges(t *testing.T) {
	var f Feed
	f.Send() // to nobody
	first, stop := f.Subscribe()
	second, _ := f.Subscribe()
	f.Send()
	f.Send()
	if len(first) != 1 || len(second) != 1 {
		t.Errorf("%d and %d hints, want one each", len(first), len(second))
	}
	<-first
	stop()
	stop()
	f.Send()
	if len(first) != 0 || len(second) != 1 {
		t.Errorf("%d and %d hints after the first listener left, want none and one", len(first), len(second))
	}
}
