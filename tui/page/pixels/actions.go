package pixels

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/browser"
	"github.com/mcpdeck/mcpdeck/tui/picture"
	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/viewer"
)

func (p *Page) hasPicture() string { return tui.Because(p.view.Picture() == nil, "no picture") }

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
	out := slices.Concat(p.lookActions(), p.listActions(), p.moveActions(), p.playActions(), p.compareActions(), p.filterActions())
	for i := range out { // nothing here gives anything: keys may be held down
		out[i].Moves = !out[i].Acts
	}
	return out
}

func (p *Page) filterActions() []tui.Action {
	clear := tui.Do(func() {
		p.Filter.SetText("")
		p.Focus = browser.PartList
		p.take(p.all)
	})
	return append(p.FilterActions("Show all pictures", func() string { return tui.Because(len(p.all) == 0, "no picture") }, clear),
		tui.Action{ID: "pixels.unfilter.list", Title: "Show all pictures, or the first page", Verb: verb.Back, Part: browser.PartList, Hidden: true, Run: func() tea.Cmd {
			if p.Filter.Empty() {
				return tui.Home()
			}
			return clear()
		}})
}

// noFile says why the source of a picture cannot be found. An agent may name it as seen from its own
// folder.
func noFile(r *Render) string {
	return tui.Because(r == nil || !filepath.IsAbs(r.File), "the picture has no file here")
}

// copyOf copies the file of a picture, or its name and size.
func copyOf(r *Render, size string) tea.Cmd {
	if r.File == "" {
		return tui.Copy(strings.TrimSpace(r.Name+" "+size), "the name and size")
	}
	return tui.Copy(r.File, "the path of the source")
}

func (p *Page) listActions() []tui.Action {
	step := func(d int) func() tea.Cmd {
		return func() tea.Cmd { return p.Move(func() { p.List.Move(d) }) }
	}
	out := []tui.Action{
		{ID: "pixels.next_part", Title: "Next part: renders, picture, colours", Verb: verb.NextPane, Run: tui.Do(func() { p.nextPart(1) })},
		{ID: "pixels.previous_part", Title: "Previous part", Verb: verb.PreviousPane, Hidden: true, Run: tui.Do(func() { p.nextPart(-1) })},
		{ID: "pixels.follow", Title: "Follow the newest render, or stop following", Hint: "follow", Verb: verb.Follow, Run: p.follow},
		{ID: "pixels.next", Title: "Next picture", Verb: verb.Right, Hidden: true, Run: step(1)},
		{ID: "pixels.previous", Title: "Previous picture", Verb: verb.Left, Hidden: true, Run: step(-1)},
		{ID: "pixels.open", Title: "Open a picture file and watch it", Run: func() tea.Cmd { return tui.Open(opener()) }},
		{ID: "pixels.look", Title: "Go to the picture", Verb: verb.Open, Part: browser.PartList, Run: p.Go(browser.PartDetail)},
		{ID: "pixels.only", Title: "Dim all other colours", Hint: "choose", Verb: verb.Open, Also: []verb.Verb{verb.Mark}, Part: partColours, Run: tui.Do(func() { p.colours.only(&p.view) })},
		{ID: "pixels.copy_swatch", Title: "Copy the colour", Hint: "copy", Verb: verb.Copy, Part: partColours, Run: func() tea.Cmd { return p.colours.copy(&p.view) }},
	}
	return slices.Concat(out, p.MoveActions(), tui.ListActions("pixels.colours", partColours, &p.colours.List))
}

func (p *Page) lookActions() []tui.Action {
	hasRender := func() string { return tui.Because(p.current() == nil, "no picture") }
	return []tui.Action{
		{ID: "pixels.in", Title: "Larger pixels", Hint: "larger", Verb: verb.Larger, Moves: true, Enabled: p.hasPicture, Run: tui.Do(func() { p.view.Zoom(1) })},
		{ID: "pixels.out", Title: "Smaller pixels", Hint: "smaller", Verb: verb.Smaller, Moves: true, Enabled: p.hasPicture, Run: tui.Do(func() { p.view.Zoom(-1) })},
		{ID: "pixels.view", Title: "Next view: compared with the version before, with a grid, or as it is", Hint: "view", Verb: verb.View, Moves: true, Enabled: p.hasPicture, Run: func() tea.Cmd {
			if p.hasBefore() != "" {
				return p.grid()
			}
			p.view.NextCompare()
			return nil
		}},
		{ID: "pixels.copy_path", Title: "Copy the path of the source", Hint: "copy", Verb: verb.Copy, Part: browser.PartList, Enabled: hasRender, Run: func() tea.Cmd { return copyOf(p.current(), sizeOf(p.view.Picture())) }},
		{ID: "pixels.edit", Title: "Open the source in your editor", Hint: "edit", Verb: verb.Edit, Enabled: func() string {
			return cmp.Or(tui.Because(p.opts.Editor.Program == "", "$EDITOR is not set"), noFile(p.current()))
		}, Run: func() tea.Cmd { return tui.Edit(p.opts.Editor, p.current().File) }},
		{ID: "pixels.again", Title: "Draw the file again", Verb: verb.Again, Enabled: func() string {
			return tui.Because(p.current() == nil || p.current().ID&opened == 0, "no file of yours is selected")
		}, Run: tui.Do(func() { p.files.open(p.current().File) })},
		{ID: "pixels.fit", Title: "Fit the whole picture", Enabled: p.hasPicture, Run: tui.Do(p.view.Fit)},
		{ID: "pixels.full", Title: "Actual size or fitted", Verb: verb.Open, Part: browser.PartDetail, Enabled: p.hasPicture, Run: tui.Do(p.view.Full)},
		{ID: "pixels.notes", Title: "Where the picture is from, and problems with it", Verb: verb.Details, Enabled: hasRender, Run: func() tea.Cmd { return tui.Open(details(p.current(), sizeOf(p.view.Picture()))) }},
		{ID: "pixels.ground", Title: "Background: checkerboard, dark, light, the terminal's", Enabled: p.hasPicture, Run: func() tea.Cmd {
			return tui.Toast(tui.Info, "background: "+p.view.NextGround().String())
		}},
		{ID: "pixels.grid", Title: "Grid of pixels and tiles", Enabled: p.hasPicture, Run: p.grid},
		{ID: "pixels.repeat", Title: "Tile three by three, as a texture", Enabled: p.hasPicture, Run: tui.Do(func() { p.view.Repeat() })},
		{ID: "pixels.sheet", Title: "Cut a sheet into frames", Enabled: p.hasPicture, Run: p.cut},
		{ID: "pixels.slice", Title: "Cut a sheet into frames of a chosen size", Enabled: p.hasPicture, Run: func() tea.Cmd { return tui.Open(p.slicer()) }},
		{ID: "pixels.copy", Title: "Copy the pixel's colour", Hint: "copy", Verb: verb.Copy, Part: browser.PartDetail, Enabled: p.hasCursor, Run: p.copyPixel},
		{ID: "pixels.mode", Title: "Next picture protocol", Run: p.nextMode},
		{ID: "pixels.capabilities", Title: "Picture protocols this terminal supports, and why", Run: func() tea.Cmd { return tui.Open(capabilities()) }},
	}
}

// moveActions move the pixel cursor, and the part that is in view.
func (p *Page) moveActions() []tui.Action {
	var out []tui.Action
	for _, way := range []struct {
		name, title string
		verb        verb.Verb
		keys        []string
		dx, dy      int
	}{
		{"left", "Cursor left", verb.Left, []string{"left"}, -1, 0},
		{"right", "Cursor right", verb.Right, []string{"right"}, 1, 0},
		{"up", "Cursor up", verb.Up, nil, 0, -1},
		{"down", "Cursor down", verb.Down, nil, 0, 1},
		{"far_left", "Cursor left by eight", verb.None, nil, -8, 0},
		{"far_right", "Cursor right by eight", verb.None, nil, 8, 0},
		{"far_up", "Cursor up by eight", verb.None, nil, 0, -8},
		{"far_down", "Cursor down by eight", verb.None, nil, 0, 8},
	} {
		out = append(out, tui.Action{
			ID: "pixels.cursor_" + way.name, Title: way.title, Verb: way.verb, Keys: way.keys, Part: browser.PartDetail, Hidden: way.verb != verb.None, Enabled: p.hasPicture,
			Run: tui.Do(func() { p.view.Move(way.dx, way.dy) }),
		}, tui.Action{
			ID: "pixels.pan_" + way.name, Title: strings.Replace(way.title, "Cursor", "View", 1), Part: browser.PartDetail, Enabled: p.hasPicture,
			Run: tui.Do(func() { p.view.Pan(way.dx, way.dy) }),
		})
	}
	return append(out, tui.Action{
		ID: "pixels.leave", Title: "Remove the cursor, then back to the list", Verb: verb.Back, Part: browser.PartDetail, Hidden: true,
		Run: tui.Do(func() {
			if !p.view.HideCursor() {
				p.Focus = browser.PartList
			}
		}),
	})
}

func (p *Page) playActions() []tui.Action {
	step := func(d int) func() tea.Cmd { return tui.Do(func() { p.view.Step(d) }) }
	return []tui.Action{
		{ID: "pixels.play", Title: "Play or stop", Verb: verb.Mark, Enabled: p.hasFrames, Run: tui.Do(func() { p.view.Play(!p.view.Playing()) })},
		{ID: "pixels.next_frame", Title: "Next frame", Enabled: p.hasFrames, Run: step(1)},
		{ID: "pixels.previous_frame", Title: "Previous frame", Enabled: p.hasFrames, Run: step(-1)},
		{ID: "pixels.first_frame", Title: "First frame", Part: browser.PartDetail, Enabled: p.hasFrames, Run: tui.Do(p.view.First)},
		{ID: "pixels.last_frame", Title: "Last frame", Part: browser.PartDetail, Enabled: p.hasFrames, Run: tui.Do(p.view.Last)},
		{ID: "pixels.slower", Title: "Slower", Enabled: p.hasFrames, Run: tui.Do(func() { p.view.Faster(-1) })},
		{ID: "pixels.faster", Title: "Faster", Enabled: p.hasFrames, Run: tui.Do(func() { p.view.Faster(1) })},
		{ID: "pixels.loop", Title: "Loop, ping-pong or once", Enabled: p.hasFrames, Run: func() tea.Cmd { return tui.Toast(tui.Info, "playback: "+p.view.NextLoop().String()) }},
		{ID: "pixels.onion", Title: "Onion skin: none to three frames each way", Enabled: p.hasFrames, Run: func() tea.Cmd {
			return tui.Toast(tui.Info, "onion skin: "+humanize.Count(p.view.NextOnion(), "frame")+" each way")
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
	p.Focus = tui.Next([]string{browser.PartList, browser.PartDetail, partColours}, p.Focus, d)
	if p.Focus == partColours && p.Areas.Of(partColours) == nil { // not on the screen
		p.nextPart(d)
	}
}

func (p *Page) follow() tea.Cmd {
	p.pinned = !p.pinned
	if !p.pinned && len(p.renders) > 0 {
		p.List.MoveTo(0)
		p.show(p.renders[0])
	}
	return nil
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
	return tui.Toast(tui.Info, fmt.Sprintf("%s of %d×%d; press space to play", humanize.Count(len(cut.Frames), "frame"), s.w, s.h))
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
