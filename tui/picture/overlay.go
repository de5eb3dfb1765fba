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
		if p, ok := g.way.(protocol); ok {
			p.place(g, s, rows)
		}
	}
	g.frameDue = g.frameDue || !slices.Equal(g.last, rows)
	g.last = append(g.last[:0], rows...)
	if g.send.Len() > 0 || g.anyDue() {
		g.poke()
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
