package calls

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/viewer"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// bodyMsg is a body that was loaded and drawn.
type bodyMsg detail

// load fetches and draws the body of the call under the cursor, when the detail
// is seen and shows something else. One load runs at a time; when it is done the
// next one starts if the cursor has moved on.
func (p *Page) load() tea.Cmd {
	c := p.selected()
	if c == nil || !p.shown || p.opts.Bodies == nil || p.theme == nil || p.w == 0 || p.detail.loading {
		return nil
	}
	_, w := p.ListWidth(shape(p.w), p.w, p.h)
	want := detail{key: c.key, status: c.Status, w: w, theme: p.theme, raw: p.raw}
	d := &p.detail
	if d.key == want.key && d.status == want.status && d.w == want.w && d.theme == want.theme && d.raw == want.raw {
		return nil
	}
	if d.key != want.key {
		p.Search.Stop()
	}
	if d.key != want.key || d.raw != want.raw {
		p.Detail.Reset()
	}
	d.loading = true
	body, one, here, afar := p.body(c), c.Call, p.opts.Pictures, p.opts.Afar
	if c.earlier() {
		here = nil // they are in memory only
	}
	return func() tea.Msg {
		var there []string
		want.body, there, want.err = body()
		switch {
		case len(there) > 0:
			if data, err := afar.CallPicture(context.Background(), &one, there[0]); err == nil {
				want.picture, _ = viewer.Decode(there[0], data) // by what tells it from all others; what is none is not drawn
			}
		case one.Afar == nil && one.Images > 0 && here != nil:
			want.picture = firstPicture(here, one.ID)
		}
		want.args = widget.JSON(want.theme, want.body.Args, want.w)
		if want.body.Result != nil {
			want.result = resultText(&want)
		}
		return bodyMsg(want)
	}
}

var errNotKept = errors.New("no longer kept")

// body reads what a call carried, and the hashes of the pictures in its result if another machine has them.
func (p *Page) body(c *call) func() (b snapshot.CallBody, pictures []string, err error) {
	one, read := c.Call, p.opts.Bodies.Body
	if c.earlier() {
		read = p.opts.Earlier.Body
	}
	return func() (b snapshot.CallBody, pictures []string, err error) {
		if one.Afar != nil {
			return p.opts.Afar.CallBody(context.Background(), &one)
		}
		b, kept := read(context.Background(), one.ID)
		if !kept {
			err = errNotKept
		}
		return b, nil, err
	}
}

// firstPicture decodes the first picture in a call's result; nil when it is not
// kept any more, or is none.
func firstPicture(from Pictures, call uint64) *viewer.Picture {
	list, _ := from.Pictures()
	for _, one := range list {
		if one.Call != call || one.Index != 0 {
			continue
		}
		data, err := base64.StdEncoding.DecodeString(one.Data)
		if err != nil {
			return nil
		}
		pic, _ := viewer.Decode(fmt.Sprintf("call %d", call), data) // what is none is not drawn
		return pic
	}
	return nil
}

func (p *Page) whyNoResult() string {
	c := p.selected()
	switch {
	case c == nil:
		return "no call selected"
	case c.Status == snapshot.Running:
		return "the call is still running"
	case c.Status == snapshot.Lost:
		return "mcpdeck closed before this call finished"
	}
	return ""
}

func (p *Page) whyNoPicture() string {
	switch c := p.selected(); {
	case c == nil || c.Images == 0:
		return "no picture in the result"
	case c.earlier():
		return "pictures of earlier runs are not kept"
	case c.Afar != nil:
		return "a picture of another machine is shown here only"
	}
	return ""
}

// detailText draws the call under the cursor: facts, arguments, result.
func (p *Page) detailText(f *tui.Frame, w int) (text widget.Text) {
	th, c := f.Theme, p.selected()
	if c == nil {
		text.Add(th.Faint.Render("No call selected."))
		return text
	}
	stands := tui.Standing(&c.Call, tui.HandedOver(p.opts.Questions))
	mark, style := tui.CallMark(f, stands)
	status, at := string(stands.Status), c.Started.Format(time.TimeOnly)
	if stands.Waiting && stands.Status == snapshot.Running {
		status = "needs you"
	}
	took := "  " + humanize.Took(c.Duration)
	switch stands.Status {
	case snapshot.Running:
		took = "  " + f.Ago(c.Started)
	case snapshot.Lost:
		took = ""
	default:
	}
	if c.key.run < 0 {
		at = c.Started.Format(time.DateTime)
	}
	text.Add(
		widget.Ends(th.Strong.Render(sanitize.Line(c.Tool)), style.Render(mark+" "+status), w),
		widget.Ends(th.Text.Render(sanitize.Line(c.AgentName))+th.Muted.Render("  "+strings.TrimRight(sanitize.Line(c.Server)+"  "+sanitize.Line(c.Place()), " ")),
			th.Muted.Render(at+took), w),
		"",
		section(f, "Arguments", c.ArgsBytes, w),
	)
	d := &p.detail
	if d.key != c.key {
		text.Add(th.Faint.Render("loading…"))
		return text
	}
	if d.err != nil {
		for _, l := range widget.Wrap(sanitize.Line(d.err.Error()), w) {
			text.Add(th.Faint.Render(l))
		}
		return text
	}
	text.Append(d.args)
	switch c.Status {
	case snapshot.Running:
		return text
	case snapshot.Lost:
		text.Add("", widget.Section(th, "Result", "", w), th.Muted.Render("none: "+p.whyNoResult()))
		return text
	default:
	}
	title := "Result"
	switch {
	case c.Status == snapshot.Refused:
		title = "Error"
	case c.Images > 0:
		title = "Result with " + humanize.Count(c.Images, "picture")
	}
	text.Add("", section(f, title, c.ResultBytes, w))
	if failed(&c.Call) && c.Result != "" && (p.raw || c.Status == snapshot.Refused) {
		for _, l := range widget.Wrap(sanitize.Line(c.Result), w) {
			text.Add(f.Failed(&c.Call, th.Text).Render(l))
		}
	}
	if c.Status == snapshot.Refused && !d.raw && c.Result != "" {
		return text // what is kept of it says the same
	}
	if d.body.Cut {
		text.Add(th.Warn.Render("too large to keep; this is the beginning"))
	}
	text.Append(d.result)
	return text
}

func section(f *tui.Frame, title string, bytes, w int) string {
	return widget.Section(f.Theme, title, f.Theme.Faint.Render(humanize.Bytes(bytes)), w)
}
