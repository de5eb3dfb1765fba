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

// End finishes a frame. It takes all rows of the screen as they will be shown, including
// dialogs, and the positions of the pictures. It determines what to draw over the frame and
// frees the pictures that are no longer shown.
func (g *Gallery) End(rows []string, pictures []Placed) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range pictures {
		if s := g.slots[p.Slot]; s != nil && s.seen {
			s.at = p
		}
	}
	for name, s := range g.slots {
		if s.old != 0 { // this frame holds its successor's cells
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

// Output wraps a program's output so that whatever is drawn over a frame is part of the
// same write, before the end of a synchronized update if there is one. This avoids flicker.
// Only sixels and inline files need it.
func (g *Gallery) Output(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok {
		return &fileOutput{File: f, output: output{f, g}} // still a terminal to callers that check
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

// Unwrap returns the terminal, for a program that has it for a while.
func (o *fileOutput) Unwrap() *os.File { return o.File }

// Write implements [io.Writer].
func (o *fileOutput) Write(p []byte) (int, error) { return o.output.Write(p) }

// Write returns the length of p on success, whatever it adds.
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

// over returns what to draw over the frame in p. Other writes (titles, the clipboard,
// queries) add nothing, because their frame follows. A nudge carries the strips only if no
// frame is pending, which would erase them; if the pending frame turns out to change no
// cell, another nudge follows.
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
				if s.sent.holes { // so that no older picture shows through
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
