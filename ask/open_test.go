package ask

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func TestOpenConnectionsToTheQuestionSocketAreBounded(t *testing.T) {
	const most = 2
	d := newDeck(t, Options{}, ListenOptions{Most: most})
	var open []*peer
	for i := range most {
		open = append(open, d.send(fmt.Sprintf(`{"v":1,"type":"ask","questions":[{"id":"a","question":"Which %d?","options":["x","y"]}]}`+"\n", i)))
	}
	d.pending(most)
	list := func() error { _, err := NewClient(ClientOptions{Path: d.l.Path()}).List(); return err }
	if err := list(); err == nil || !strings.Contains(err.Error(), "too many connections are open (limit 2)") {
		t.Errorf("one more: %v", err)
	}
	open[0].Close()
	testwait.For(t, "a place is given again", list, func(err error) bool { return err == nil })
}
