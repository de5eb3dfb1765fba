package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/internal/sample"
)

// crowd is a source of about half a megabyte: many objects, many regions, long names.
func crowd() map[string]string {
	var objects, regions, colours, unknown strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&objects, `{"type":"sprite","name":"s%d","size":[1,1],"palette":{"a":"#F00"},"regions":{"a":{"points":[[0,0]]}}}`+"\n", i)
	}
	for i := range 8000 {
		fmt.Fprintf(&regions, `,"t%d":{"points":[[%d,%d]]}`, i, i%100, i/100)
		fmt.Fprintf(&colours, `,"t%d":"#%06X"`, i, i)
		fmt.Fprintf(&unknown, `{"type":"sprite","name":"u%d","size":[1,1],"regoins":{}}`+"\n", i)
	}
	long := strings.Repeat("n", 300_000)
	return map[string]string{
		"many objects":     objects.String(),
		"many regions":     `{"type":"sprite","name":"big","size":[100,100],"palette":{` + colours.String()[1:] + `},"regions":{` + regions.String()[1:] + `}}`,
		"many colours":     `{"type":"palette","name":"big","colors":{` + colours.String()[1:] + `}}`,
		"misspelt objects": unknown.String(),
		"a long name":      `{"type":"sprite","name":"` + long + `","size":[1,1],"palette":{"` + long + `":"#F00"},"regions":{"x":{"points":[[0,0]]}}}`,
	}
}

func TestAnswersAreBoundedAndSayHowToGetTheRest(t *testing.T) {
	s := handling(pixelsrc.Options{})
	s.limit = time.Minute
	for name, text := range crowd() {
		for tool, args := range map[string]map[string]any{
			"pixelsrc_explain":  {"source": text},
			"pixelsrc_validate": {"source": text},
			"pixelsrc_suggest":  {"source": text},
			"pixelsrc_diff":     {"source_a": text, "source_b": strings.ReplaceAll(text, "#F00", "#00F")},
			"pixelsrc_analyze":  {"source": text},
			"pixelsrc_render":   {"source": text, "format": "ansi"},
		} {
			t.Run(tool+" of "+name, func(t *testing.T) {
				a := said(s, t.Context(), pixelsrc.Caller{}, tool, args)
				const most = 1 << 20
				if n := len(a.text()); n > most {
					t.Errorf("%d bytes for a source of %d", n, len(text))
				}
			})
		}
	}
	text := crowd()["many objects"]
	a := said(s, t.Context(), pixelsrc.Caller{}, "pixelsrc_explain", map[string]any{"source": text})
	note := a.Content[len(a.Content)-1].Text
	if len(a.text()) > 512<<10 || !strings.Contains(note, "of 5000") || !strings.Contains(note, "from=") {
		t.Fatalf("%d bytes, the note is %q", len(a.text()), note)
	}
	var next int
	if _, err := fmt.Sscanf(note[strings.Index(note, "from="):], "from=%d", &next); err != nil {
		t.Fatal(err)
	}
	a = said(s, t.Context(), pixelsrc.Caller{}, "pixelsrc_explain", map[string]any{"source": text, "from": float64(next)})
	if !strings.Contains(a.Content[0].Text, fmt.Sprintf(`"name": "s%d"`, next)) || strings.Contains(a.Content[0].Text, fmt.Sprintf(`"name": "s%d"`, next-1)) {
		t.Errorf("from=%d does not begin with s%[1]d", next)
	}
	a = said(s, t.Context(), pixelsrc.Caller{}, "pixelsrc_explain", map[string]any{"source": crowd()["many regions"], "name": "big", "from": 7800.0})
	if text := a.Content[0].Text; !strings.Contains(text, `"token": "t7999"`) || strings.Contains(text, `"token": "t100"`) {
		t.Errorf("the last regions are not shown: %s", a.Content[len(a.Content)-1].Text)
	}
}

func TestAPictureOfTextIsBounded(t *testing.T) {
	a := said(handling(pixelsrc.Options{}), t.Context(), pixelsrc.Caller{}, "pixelsrc_render", map[string]any{"source": sample.Hero("#FF0000", 2000), "format": "ansi"})
	if !a.IsError || len(a.text()) > 1000 {
		t.Errorf("%d bytes", len(a.text()))
	}
}

// patient is a deck in which calls wait for what they need.
type patient struct{ need func(bytes int64) }

func (p patient) Need(_ context.Context, bytes int64) error { p.need(bytes); return nil }
func (p patient) OnDelivery(func(bool)) bool                { return false }
func (p patient) WaitForUser() (done func())                { return func() {} }
func (p patient) Yield() func(context.Context) error {
	return func(context.Context) error { return nil }
}

// TestWaitingForMemoryIsNotTheWorkOfACall has a call wait for longer than it may work, and
// another one whose work takes too long after that.
func TestWaitingForMemoryIsNotTheWorkOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := handling(pixelsrc.Options{})
		asked := int64(0)
		ctx := backend.WithCall(t.Context(), backend.Call{Deck: patient{func(bytes int64) {
			asked = bytes
			time.Sleep(3 * m.limit) // on the bubble's clock
		}}})
		if a := said(m, ctx, pixelsrc.Caller{}, "pixelsrc_render", map[string]any{"source": dot1}); a.IsError || asked == 0 {
			t.Errorf("after asking for %d bytes: %s", asked, a.text())
		}
		slow := tool{name: "slow", run: func(c *call) ([]mcp.Content, error) {
			if err := c.needs(1); err != nil {
				return nil, err
			}
			time.Sleep(2 * m.limit) // on the bubble's clock
			return nil, c.ctx.Err()
		}}
		if res := m.call(ctx, pixelsrc.Caller{}, slow, nil); !res.IsError || !strings.Contains(fmt.Sprint(res.Content), "timed out") {
			t.Errorf("got %v", res.Content)
		}
	})
}
