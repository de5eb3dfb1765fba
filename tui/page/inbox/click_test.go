package inbox_test

import (
	"testing"
	"time"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

func TestNoClickDecides(t *testing.T) {
	for name, open := range map[string]func(d *driver) *questions.Call{
		"a permission": func(d *driver) *questions.Call { return d.prompt(bash("1", "make")) },
		"a question":   func(d *driver) *questions.Call { return d.ask(`[{"question":"Which?","options":["A","B"]}]`) },
		"parts":        func(d *driver) *questions.Call { return d.ask(pair) },
		"a form": func(d *driver) *questions.Call {
			return d.askForm("Well?", `{"properties":{"sure":{"type":"boolean"}}}`)
		},
	} {
		size := frame.Size{W: 60, H: 20}
		setup{size: size}.run(t, func(d *driver) {
			c := open(d)
			d.Wait(5 * time.Second)
			before := d.Text()
			d.ClickAll(size)
			d.Wait(5 * time.Second)
			if n := answers([]*questions.Call{c}); n != 0 || d.q.Pending().Waiting != 1 {
				t.Errorf("%s: a click decided it:\n%s\n%s", name, before, d.Text())
			}
		})
	}
}
