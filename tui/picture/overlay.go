package picture

import (
	"bytes"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// End closes a frame: it gets all rows of the screen as they will be shown, dialogs and
// all, and where the pictures are on it. It finds out what must be drawn over the frame,
// and frees what is no longer shown.
func (g *Gallery) End(rows []string, pictures []Placed) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range pictures {
		if s := g.slots[p.Slot]; s != nil && s.seen {
			s.at = p
		}
	}
	for name, s := range g.slots {
		if s.old != 0 { // the cells of its successor are in this frame
			g.delete(s.old)
			s.old = 0
		}
		if !s.seen {
			g.delete(s.id)
			delete(g.slots, name)
			delete(g.waiting, name)
			continue
		}
		if s.shown == nil {
			continue
		}
		switch g.caps.Mode {
		case ModePlacement:
			g.place(s)
		case ModeITerm2, ModeSixel:
			g.strips(s, rows)
		}
	}
	g.frameDue = g.frameDue || !slices.Equal(g.last, rows)
	g.last = append(g.last[:0], rows...)
	if g.send.Len() > 0 || g.anyDue() {
		g.poke()
	}
}

// place sends a picture and puts it under the text where it is.
func (g *Gallery) place(s *slot) {
	k := g.kitty()
	if s.id == 0 || s.sent != s.shown {
		g.delete(s.id)
		s.id, s.sent, s.placedAt = g.ids.Next(), s.shown, Placed{}
		g.send.WriteString(k.Transmit(s.shown.payload, s.id))
	}
	if s.placedAt != s.at {
		s.placedAt = s.at
		g.send.WriteString(k.Place(s.id, s.at.X, s.at.Y, s.at.Cols, s.at.Rows))
	}
}

// strips finds the rows of a picture that the coming frame may wipe, or that show
// something else now. A row that something lies over is left out: a strip would paint
// over it.
func (g *Gallery) strips(s *slot, rows []string) {
	n := len(s.shown.strips)
	switch {
	case s.placedAt != s.at || len(s.drawn) != n:
		s.sent, s.placedAt, s.drawn, s.due = s.shown, s.at, make([]bool, n), make([]bool, n)
		s.clear = nil
	case s.sent != s.shown: // the next frame of an animation: only the strips that differ
		for i := range n {
			s.drawn[i] = s.drawn[i] && s.sent.strips[i] == s.shown.strips[i]
		}
		s.sent = s.shown
	}
	want := strings.Repeat(hold, s.at.Cols)
	fresh := s.clear == nil
	if fresh {
		s.clear = make([]bool, n)
	}
	for i := range n {
		y := s.at.Y + i
		if y < 0 || y >= len(rows)-1 { // the last row could scroll the screen
			continue
		}
		changed := y >= len(g.last) || g.last[y] != rows[y]
		if !changed && s.drawn[i] {
			continue
		}
		if changed || fresh {
			s.clear[i] = ansi.Strip(ansi.Cut(rows[y], s.at.X, s.at.X+s.at.Cols)) == want
		}
		s.drawn[i], s.due[i] = s.clear[i], s.clear[i]
	}
}

const endOfFrame = "\x1b[?2026l"

// Output wraps a program's output: what is drawn over a frame leaves in the same
// write, before the mark that ends an atomic frame if there is one, so that nothing
// flickers. Only sixels and inline files need it.
func (g *Gallery) Output(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok {
		return &fileOutput{File: f, output: output{f, g}} // still a terminal to those who ask
	}
	return &output{w, g}
}

type output struct {
	w io.Writer
	g *Gallery
}

type fileOutput struct {
	*os.File
	output output
}

// Write is output's.
func (o *fileOutput) Write(p []byte) (int, error) { return o.output.Write(p) }

// Write reports the length of p, whatever it adds.
func (o *output) Write(p []byte) (int, error) {
	over := o.g.over(p)
	if len(over) == 0 {
		return o.w.Write(p)
	}
	end := len(p)
	if at := bytes.LastIndex(p, []byte(endOfFrame)); at >= 0 {
		end = at
	}
	if _, err := o.w.Write(slices.Concat(p[:end], over, p[end:])); err != nil {
		return 0, err
	}
	return len(p), nil
}

// over returns what is to be drawn over the frame that p writes. Other writes (titles,
// the clipboard, questions to the terminal) carry nothing: their frame comes after them.
// The nudge carries the strips only when no frame is on its way, which would wipe them;
// should that frame turn out to change no cell, another nudge follows.
func (g *Gallery) over(p []byte) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(p) < 2 || p[0] == 0x1b && strings.IndexByte("]P_>", p[1]) >= 0 || bytes.HasPrefix(p, []byte("\x1b[>")) {
		return nil
	}
	if g.frameDue && bytes.Contains(p[:min(len(p), nudgeMost)], []byte(nudge)) {
		g.frameDue = false
		g.poke()
		return nil
	}
	g.frameDue = false
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(g.slots)) {
		s := g.slots[name]
		for i, due := range s.due {
			if due {
				if b.Len() == 0 {
					b.WriteString("\x1b7")
				}
				at := ansi.CursorPosition(s.at.X+1, s.at.Y+i+1)
				if s.sent.holes { // what shows through must not be an older picture
					b.WriteString(at + "\x1b[m" + strings.Repeat(hold, s.at.Cols))
				}
				b.WriteString(at + s.sent.strips[i])
				s.due[i] = false
			}
		}
	}
	if b.Len() == 0 {
		return nil
	}
	b.WriteString("\x1b8")
	return b.Bytes()
}
