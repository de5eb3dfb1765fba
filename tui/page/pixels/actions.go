package pixels

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/picture"
	"github.com/mcpdeck/mcpdeck/tui/viewer"
)

func (p *Page) hasPicture() string {
	return tui.Because(p.view.Picture() == nil, "no picture")
}

func (p *Page) hasFrames() string {
	if pic := p.view.Picture(); pic == nil || len(pic.Frames) < 2 {
		return "not an animation; :sheet cuts one into frames"
	}
	return ""
}

func (p *Page) hasBefore() string {
	return tui.Because(p.view.Picture() == nil || p.before() == nil, "no earlier render to compare with; mark another picture with :mark")
}

// Actions is what can be done with pictures.
func (p *Page) Actions() []tui.Action {
	var out []tui.Action
	for _, part := range [][]tui.Action{p.listActions(), p.lookActions(), p.moveActions(), p.playActions(), p.compareActions()} {
		out = append(out, part...)
	}
	for i := range out { // nothing here gives anything: keys may be held down
		out[i].Moves = !out[i].Acts
	}
	return out
}

func (p *Page) listActions() []tui.Action {
	step := func(d int) func() tea.Cmd {
		return tui.Do(func() {
			p.list.Move(d)
			p.choose()
		})
	}
	out := []tui.Action{
		{ID: "pixels.next_part", Title: "Next part: renders, picture, colours", Keys: []string{"tab"}, Run: tui.Do(func() { p.nextPart(1) })},
		{ID: "pixels.previous_part", Title: "Previous part", Keys: []string{"shift+tab"}, Hidden: true, Run: tui.Do(func() { p.nextPart(-1) })},
		{ID: "pixels.follow", Title: "Follow the newest render, or stop following", Hint: "follow", Keys: []string{"f"}, Run: p.follow},
		{ID: "pixels.next", Title: "Next picture", Keys: []string{"right", "l"}, Hidden: true, Run: step(1)},
		{ID: "pixels.previous", Title: "Previous picture", Keys: []string{"left", "h"}, Hidden: true, Run: step(-1)},
		{ID: "pixels.open", Title: "Open a picture file and watch it", Run: func() tea.Cmd { return tui.Open(opener()) }},
		{ID: "pixels.look", Title: "Go to the picture", Hint: "open", Keys: []string{"enter"}, Part: partList, Run: tui.Do(func() { p.part = partPicture })},
		{ID: "pixels.only", Title: "Dim all other colours", Hint: "choose", Keys: []string{"enter", "space"}, Part: partColours, Run: tui.Do(func() { p.colours.only(&p.view) })},
		{ID: "pixels.copy_swatch", Title: "Copy the colour", Hint: "copy", Keys: []string{"c"}, Part: partColours, Run: func() tea.Cmd { return p.colours.copy(&p.view) }},
	}
	out = append(out, tui.ListActions("pixels.list", partList, &p.list, p.choose)...)
	return append(out, tui.ListActions("pixels.colours", partColours, &p.colours.List)...)
}

func (p *Page) lookActions() []tui.Action {
	return []tui.Action{
		{ID: "pixels.in", Title: "Larger pixels", Hint: "larger", Keys: []string{"+", "="}, Enabled: p.hasPicture, Run: tui.Do(func() { p.view.Zoom(1) })},
		{ID: "pixels.out", Title: "Smaller pixels", Hint: "smaller", Keys: []string{"-"}, Enabled: p.hasPicture, Run: tui.Do(func() { p.view.Zoom(-1) })},
		{ID: "pixels.view", Title: "Next view: compared with the version before, with a grid, or as it is", Hint: "view", Keys: []string{"v"}, Enabled: p.hasPicture, Run: func() tea.Cmd {
			if p.hasBefore() != "" {
				return p.grid()
			}
			p.view.NextCompare()
			return nil
		}},
		{ID: "pixels.fit", Title: "Fit the whole picture", Enabled: p.hasPicture, Run: tui.Do(p.view.Fit)},
		{ID: "pixels.full", Title: "Actual size or fitted", Keys: []string{"enter"}, Part: partPicture, Enabled: p.hasPicture, Run: tui.Do(p.view.Full)},
		{ID: "pixels.notes", Title: "Problems with the picture", Hint: "details", Keys: []string{"d"}, Enabled: p.hasNotes, Run: func() tea.Cmd { return tui.Open(notes(p.current())) }},
		{ID: "pixels.ground", Title: "Background: checkerboard, dark, light, the terminal's", Enabled: p.hasPicture, Run: func() tea.Cmd {
			return tui.Toast(tui.Info, "ground: "+p.view.NextGround().String())
		}},
		{ID: "pixels.grid", Title: "Grid of pixels and tiles", Enabled: p.hasPicture, Run: p.grid},
		{ID: "pixels.repeat", Title: "Tile three by three, as a texture", Enabled: p.hasPicture, Run: tui.Do(func() { p.view.Repeat() })},
		{ID: "pixels.sheet", Title: "Cut a sheet into frames", Enabled: p.hasPicture, Run: p.cut},
		{ID: "pixels.slice", Title: "Cut a sheet into frames of a chosen size", Enabled: p.hasPicture, Run: func() tea.Cmd { return tui.Open(p.slicer()) }},
		{ID: "pixels.copy", Title: "Copy the pixel's colour", Hint: "copy", Keys: []string{"c"}, Part: partPicture, Enabled: p.hasCursor, Run: p.copyPixel},
		{ID: "pixels.mode", Title: "Next picture protocol", Run: p.nextMode},
		{ID: "pixels.capabilities", Title: "Picture protocols this terminal supports, and why", Run: func() tea.Cmd { return tui.Open(capabilities()) }},
	}
}

// moveActions move the pixel cursor, and the part that is in view.
func (p *Page) moveActions() []tui.Action {
	var out []tui.Action
	for _, way := range []struct {
		name, title string
		keys        []string
		dx, dy      int
	}{
		{"left", "Cursor left", []string{"left"}, -1, 0},
		{"right", "Cursor right", []string{"right"}, 1, 0},
		{"up", "Cursor up", []string{"up", "k"}, 0, -1},
		{"down", "Cursor down", []string{"down", "j"}, 0, 1},
		{"far_left", "Cursor left by eight", []string{"shift+left"}, -8, 0},
		{"far_right", "Cursor right by eight", []string{"shift+right"}, 8, 0},
		{"far_up", "Cursor up by eight", []string{"shift+up"}, 0, -8},
		{"far_down", "Cursor down by eight", []string{"shift+down"}, 0, 8},
	} {
		out = append(out, tui.Action{
			ID: "pixels.cursor_" + way.name, Title: way.title, Keys: way.keys, Part: partPicture, Hidden: true, Enabled: p.hasPicture,
			Run: tui.Do(func() { p.view.Move(way.dx, way.dy) }),
		}, tui.Action{
			ID: "pixels.pan_" + way.name, Title: strings.Replace(way.title, "Cursor", "View", 1), Keys: panKeys(way.keys), Part: partPicture, Hidden: true, Enabled: p.hasPicture,
			Run: tui.Do(func() { p.view.Pan(way.dx, way.dy) }),
		})
	}
	return append(out, tui.Action{
		ID: "pixels.leave", Title: "Remove the cursor, then back to the list", Keys: []string{"esc"}, Part: partPicture, Hidden: true,
		Run: tui.Do(func() {
			if !p.view.HideCursor() {
				p.part = partList
			}
		}),
	})
}

func panKeys(keys []string) []string {
	if len(keys[0]) > 6 && keys[0][:6] == "shift+" {
		return []string{"ctrl+" + keys[0]}
	}
	return []string{"ctrl+" + keys[0]}
}

func (p *Page) playActions() []tui.Action {
	step := func(d int) func() tea.Cmd { return tui.Do(func() { p.view.Step(d) }) }
	return []tui.Action{
		{ID: "pixels.play", Title: "Play or stop", Keys: []string{"space"}, Enabled: p.hasFrames, Run: tui.Do(func() { p.view.Play(!p.view.Playing()) })},
		{ID: "pixels.next_frame", Title: "Next frame", Enabled: p.hasFrames, Run: step(1)},
		{ID: "pixels.previous_frame", Title: "Previous frame", Enabled: p.hasFrames, Run: step(-1)},
		{ID: "pixels.first_frame", Title: "First frame", Part: partPicture, Enabled: p.hasFrames, Run: tui.Do(p.view.First)},
		{ID: "pixels.last_frame", Title: "Last frame", Part: partPicture, Enabled: p.hasFrames, Run: tui.Do(p.view.Last)},
		{ID: "pixels.slower", Title: "Slower", Enabled: p.hasFrames, Run: tui.Do(func() { p.view.Faster(-1) })},
		{ID: "pixels.faster", Title: "Faster", Enabled: p.hasFrames, Run: tui.Do(func() { p.view.Faster(1) })},
		{ID: "pixels.loop", Title: "Loop, ping-pong or once", Enabled: p.hasFrames, Run: func() tea.Cmd { return tui.Toast(tui.Info, "playback: "+p.view.NextLoop().String()) }},
		{ID: "pixels.onion", Title: "Onion skin: none to three frames each way", Enabled: p.hasFrames, Run: func() tea.Cmd {
			return tui.Toast(tui.Info, fmt.Sprintf("onion skin: %d frames each way", p.view.NextOnion()))
		}},
	}
}

func (p *Page) compareActions() []tui.Action {
	return []tui.Action{
		{ID: "pixels.compare", Title: "Compare: side by side, highlight, blink, off", Enabled: p.hasBefore, Run: tui.Do(p.view.NextCompare)},
		{ID: "pixels.flip", Title: "Flip between before and after", Enabled: p.hasBefore, Run: tui.Do(p.view.Flip)},
		{ID: "pixels.blink", Title: "Blink automatically, twice a second, while comparing", Enabled: p.hasBefore, Run: tui.Do(func() { p.view.Blink() })},
		{ID: "pixels.tolerance", Title: "Tolerance: how much pixels may differ and still count as equal", Enabled: p.hasBefore, Run: p.tolerance},
		{ID: "pixels.next_change", Title: "Next change", Enabled: p.hasBefore, Run: tui.Do(func() { p.view.NextChange(1) })},
		{ID: "pixels.previous_change", Title: "Previous change", Enabled: p.hasBefore, Run: tui.Do(func() { p.view.NextChange(-1) })},
		{ID: "pixels.mark", Title: "Mark this picture to compare with", Enabled: p.hasPicture, Run: p.mark},
		{ID: "pixels.older", Title: "Older version of the same picture", Enabled: p.hasPicture, Run: func() tea.Cmd { return p.version1(-1) }},
		{ID: "pixels.newer", Title: "Newer version of the same picture", Enabled: p.hasPicture, Run: func() tea.Cmd { return p.version1(1) }},
	}
}

func (p *Page) version1(d int) tea.Cmd {
	if r, latest, ok := p.versions.beside(p.thing, p.shown, d); ok {
		p.pinned = !latest
		p.show(r)
		return nil
	}
	if d < 0 {
		return tui.Toast(tui.Info, "this is the oldest version kept")
	}
	return tui.Toast(tui.Info, "this is the newest version")
}

func (p *Page) nextPart(d int) {
	p.part = tui.Next([]string{partList, partPicture, partColours}, p.part, d)
	if p.part == partColours && p.areas.Of(partColours) == nil { // not on the screen
		p.nextPart(d)
	}
}

func (p *Page) follow() tea.Cmd {
	p.pinned = !p.pinned
	if !p.pinned && len(p.renders) > 0 {
		p.list.MoveTo(0)
		p.show(p.renders[0])
	}
	return nil
}

func (p *Page) hasNotes() string {
	if r := p.current(); r == nil || len(r.Notes) == 0 && r.Failed == "" {
		return "no problems found"
	}
	return ""
}

func (p *Page) grid() tea.Cmd {
	if p.view.Grid() {
		return tui.Toast(tui.Info, "grid: ticks at tiles of 8 pixels; lines, where the terminal shows pixels, from 8x on")
	}
	return nil
}

func (p *Page) tolerance() tea.Cmd {
	if t := p.view.NextTolerance(); t > 0 {
		return tui.Toast(tui.Info, fmt.Sprintf("tolerance: pixels differing by up to %g of 100 count as equal", t))
	}
	return tui.Toast(tui.Info, "tolerance: none; every difference counts")
}

func (p *Page) hasCursor() string {
	if _, _, _, ok := p.view.Cursor(); !ok {
		return "no pixel selected; select one with the arrow keys"
	}
	return ""
}

func (p *Page) copyPixel() tea.Cmd {
	_, _, c, _ := p.view.Cursor()
	hex := picture.Hex(c)
	return tui.Copy(hex, hex)
}

// mark makes the picture that is shown the one to compare with, or ends that.
func (p *Page) mark() tea.Cmd {
	pic := p.view.Picture()
	if p.versions.marked.picture == pic {
		p.versions.marked = marked{}
		p.view.SetBefore(p.before())
		return tui.Toast(tui.Info, "comparing with the previous version")
	}
	p.versions.marked = marked{picture: pic, thing: p.thing}
	if r := p.current(); r != nil {
		p.versions.marked.name = sanitize.Line(r.Name)
	}
	p.view.SetBefore(p.before())
	return tui.Toast(tui.Info, "marked: later versions, and pictures without earlier ones, are compared with this one")
}

// cut cuts a still into frames of the guessed size, or puts it together again.
func (p *Page) cut() tea.Cmd {
	if p.sheet != nil {
		of := p.sheet.of
		p.sheet = nil
		p.view.Set(of)
		return nil
	}
	pic := p.view.Picture()
	if len(pic.Frames) > 1 {
		return tui.Toast(tui.Info, "the picture already has frames")
	}
	w, h := viewer.GuessFrame(pic.Size())
	if w == 0 {
		return tui.Toast(tui.Warn, "no frame size from 8 to 64 pixels divides the picture; use :slice to set one")
	}
	return p.slice(sheet{w: w, h: h, last: -1})
}

// slice cuts the picture, or the one it was cut from, into frames.
func (p *Page) slice(s sheet) tea.Cmd {
	s.of = p.view.Picture()
	if p.sheet != nil {
		s.of = p.sheet.of
	}
	cut, err := viewer.Slice(s.of, s.w, s.h, s.first, s.last)
	if err != nil {
		return tui.Toast(tui.Warn, err.Error())
	}
	p.sheet = &s
	p.view.Set(cut)
	return tui.Toast(tui.Info, fmt.Sprintf("%d frames of %d×%d; press space to play", len(cut.Frames), s.w, s.h))
}

// slicer asks for the size of the frames, and which of them to play.
func (p *Page) slicer() *tui.Prompt {
	return &tui.Prompt{Name: "pixels.slice", Title: "Cut into frames", Hint: "choose", Label: "Width×height, and optionally a range: 16x16, or 16x24 3-8", Take: func(text string) tea.Cmd {
		var s sheet
		size, which, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(strings.ToLower(text), "×", "x")), " ")
		if _, err := fmt.Sscanf(size+" ", "%dx%d ", &s.w, &s.h); err != nil {
			return tui.Toast(tui.Warn, "enter a frame size such as 16x16")
		}
		s.first, s.last = 0, -1
		if which = strings.TrimSpace(which); which != "" {
			if _, err := fmt.Sscanf(which+" ", "%d-%d ", &s.first, &s.last); err != nil || s.first < 1 || s.last < s.first {
				return tui.Toast(tui.Warn, "enter a range of frames such as 3-8")
			}
			s.first, s.last = s.first-1, s.last-1
		}
		return p.slice(s)
	}}
}

// nextMode goes on to another way to show pictures, until the program ends.
func (p *Page) nextMode() tea.Cmd {
	p.mode = p.mode.Next()
	return tea.Batch(tui.SetPictureMode(p.mode), tui.Toast(tui.Info, "pictures: "+p.mode.String()))
}
