package picture

import (
	"bytes"
	"fmt"
	"image"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func specOf(key string, cols, rows int, now bool) Spec {
	return Spec{Slot: "page", Key: key, Cols: cols, Rows: rows, Now: now, Make: func() *image.NRGBA {
		img := image.NewNRGBA(image.Rect(0, 0, 10*cols, 20*rows))
		fill(img, 0, 0, 10*cols, 20*rows, rgb(uint32(len(key))*0x10305))
		return img
	}}
}

func capsOf(m Mode) Caps {
	return Caps{Mode: m, Cells: ModeBlock, CellW: 10, CellH: 20, Registers: 256, Done: true}
}

// screen puts a picture's lines at 2, 1 on a screen of 20 by 8.
func screen(lines []string) []string {
	rows := make([]string, 8)
	for y := range rows {
		rows[y] = fmt.Sprintf("%-20s", fmt.Sprintf("row %d", y))
		if i := y - 1; i >= 0 && i < len(lines) {
			rows[y] = "| " + lines[i] + strings.Repeat("-", 18-ansi.StringWidth(lines[i]))
		}
	}
	return rows
}

func show(g *Gallery, s Spec) []string {
	g.Begin()
	lines := g.Lines(s)
	rows := screen(lines)
	g.End(rows, []Placed{{s.Slot, 2, 1, s.Cols, s.Rows}})
	return rows
}

func hinted(g *Gallery) bool {
	select {
	case <-g.Hint():
		return true
	default:
		return false
	}
}

func TestGalleryDrawsInTheBackground(t *testing.T) {
	g := NewGallery(capsOf(ModeHalf), 1)
	rows := show(g, specOf("a", 6, 3, false))
	if strings.ContainsRune(rows[1], 0x1b) {
		t.Error("a slow picture was drawn at once")
	}
	if !hinted(g) {
		t.Fatal("nothing says that a picture waits")
	}
	if redraw, send := g.Load(); !redraw || send != "" {
		t.Errorf("load: %v, %q", redraw, send)
	}
	rows = show(g, specOf("a", 6, 3, false))
	if !strings.Contains(rows[1], "\x1b[48;2;") {
		t.Errorf("the picture is not there: %q", rows[1])
	}
	// Another one in the same box: the old one stands until the new one is ready.
	if rows = show(g, specOf("bb", 6, 3, false)); !strings.Contains(rows[1], "\x1b[48;2;") {
		t.Errorf("the place went blank: %q", rows[1])
	}
	if redraw, _ := g.Load(); !redraw {
		t.Error("the second picture was not drawn")
	}
	if hinted(g); hinted(g) {
		t.Error("hints without end")
	}
}

func TestGalleryKitty(t *testing.T) {
	g := NewGallery(capsOf(ModeKitty), 9)
	rows := show(g, specOf("a", 6, 3, true))
	send := g.Send()
	if !strings.Contains(send, "a=T,U=1,i=150994960,c=6,r=3") || !strings.Contains(rows[1], "\x1b[38;5;16m") {
		t.Fatalf("sent %.60q, row %q", send, rows[1])
	}
	if show(g, specOf("a", 6, 3, true)); g.Send() != "" {
		t.Error("the same picture was sent twice")
	}
	again := show(g, specOf("bb", 6, 3, true))
	if send = g.Send(); !strings.Contains(send, "i=150994960") || strings.Contains(send, "a=d") || again[1] != rows[1] {
		t.Errorf("a picture in the same box must keep its id and cells: %.60q", send)
	}
	// Another box: a new id first, the old one goes once the new cells are out.
	show(g, specOf("bb", 8, 4, true))
	if send = g.Send(); !strings.Contains(send, "i=150994961,c=8,r=4") || !strings.HasSuffix(send, "a=d,d=I,i=150994960,q=2\x1b\\") {
		t.Errorf("sent %.60q … %.60q", send, send[max(0, len(send)-60):])
	}
	// Gone from the frame: freed.
	g.Begin()
	g.End(screen(nil), nil)
	if send = g.Send(); send != "\x1b_Ga=d,d=I,i=150994961,q=2\x1b\\" {
		t.Errorf("sent %q", send)
	}
	// Comes back from the cache, sent again; freed at the end.
	show(g, specOf("a", 6, 3, true))
	if send = g.Send(); !strings.Contains(send, "a=T") {
		t.Errorf("sent %q", send)
	}
	if end := g.Close(); end != "\x1b_Ga=d,d=I,i=150994962,q=2\x1b\\" {
		t.Errorf("at the end %q", end)
	}
	if end := g.Close(); end != "" {
		t.Errorf("at the second end %q", end)
	}
}

func TestGallerySendsAgainAfterAnotherProgram(t *testing.T) {
	g := NewGallery(capsOf(ModeKitty), 9)
	show(g, specOf("a", 6, 3, true))
	g.Send()
	g.Forget()
	show(g, specOf("a", 6, 3, true))
	if send := g.Send(); !strings.Contains(send, "a=T") {
		t.Errorf("sent %q", send)
	}
}

func TestGalleryPlacement(t *testing.T) {
	g := NewGallery(capsOf(ModePlacement), 9)
	rows := show(g, specOf("a", 6, 3, true))
	if send := g.Send(); !strings.Contains(send, "a=t,i=150994960") || !strings.Contains(send, "\x1b[2;3H\x1b_Ga=p,i=150994960,p=1,c=6,r=3,C=1,z=-1073741825") {
		t.Errorf("sent %.200q", send)
	}
	if ansi.Strip(rows[1]) != rows[1] {
		t.Errorf("the cells over a placement are not plain: %q", rows[1])
	}
	g.Begin()
	g.Lines(specOf("a", 6, 3, true))
	g.End(screen(nil), []Placed{{"page", 5, 2, 6, 3}})
	if send := g.Send(); !strings.Contains(send, "\x1b[3;6H") || strings.Contains(send, "a=t") {
		t.Errorf("moving sent %q", send)
	}
}

func TestStripsFollowTheirFrame(t *testing.T) {
	g := NewGallery(capsOf(ModeSixel), 9)
	var out bytes.Buffer
	w := g.Output(&out)
	wrote := func(frame string) string {
		out.Reset()
		if n, err := w.Write([]byte(frame)); n != len(frame) || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
		return out.String()
	}
	rows := show(g, specOf("a", 6, 3, true))
	if !strings.Contains(rows[1], strings.Repeat("\u00a0", 6)) {
		t.Errorf("the place is not held by no-break spaces: %q", rows[1])
	}
	if s := wrote("\x1b]52;c;x\a"); strings.Contains(s, "\x1bP") {
		t.Error("a strip left before its frame")
	}
	s := wrote("\x1b[?2026hframe\x1b[?2026l")
	if strings.Count(s, "\x1bP0;1;0q") != 3 || !strings.HasSuffix(s, "\x1b8\x1b[?2026l") || !strings.HasPrefix(s, "\x1b[?2026hframe\x1b7\x1b[2;3H\x1bP") {
		t.Errorf("the frame became %q", s)
	}
	if s = wrote("frame"); s != "frame" {
		t.Errorf("strips were written twice: %q", s)
	}
	// A change in one row: that row again, only it.
	g.Begin()
	rows = screen(g.Lines(specOf("a", 6, 3, true)))
	rows[2] = strings.Replace(rows[2], "-", "+", 1)
	g.End(rows, []Placed{{"page", 2, 1, 6, 3}})
	if s = wrote("frame"); strings.Count(s, "\x1bP") != 1 || !strings.Contains(s, "\x1b[3;3H\x1bP") {
		t.Errorf("after a change in row 2: %q", s)
	}
	// A dialog over rows 2 and 3 hides them; when it goes they come back.
	g.Begin()
	rows = screen(g.Lines(specOf("a", 6, 3, true)))
	clear := append([]string(nil), rows...)
	rows[2], rows[3] = "|   dialog ---------", "|   dialog ---------"
	g.End(rows, []Placed{{"page", 2, 1, 6, 3}})
	if s = wrote("frame"); s != "frame" {
		t.Errorf("a strip was painted over a dialog: %q", s)
	}
	g.Begin()
	g.Lines(specOf("a", 6, 3, true))
	g.End(clear, []Placed{{"page", 2, 1, 6, 3}})
	if s = wrote("frame"); strings.Count(s, "\x1bP") != 2 {
		t.Errorf("after the dialog: %q", s)
	}
	// Two frames before one write: nothing is lost. No change in the text: a nudge carries it.
	show(g, specOf("bb", 6, 3, true))
	show(g, specOf("bb", 6, 3, true))
	if send := g.Send(); send != nudge {
		t.Errorf("sent %q", send)
	}
	if s = wrote(nudge); strings.Count(s, "\x1bP") != 3 {
		t.Errorf("after another picture: %q", s)
	}
	// A change of text and picture: the nudge is written before the frame, which would
	// wipe the strips again.
	show(g, specOf("a", 6, 2, true))
	if s = wrote(nudge); s != nudge {
		t.Errorf("strips before their frame: %q", s)
	}
	if s = wrote("frame"); strings.Count(s, "\x1bP") != 2 {
		t.Errorf("the frame after a nudge: %q", s)
	}
	// A frame that turns out to change no cell is never written.
	g.Begin()
	rows = screen(g.Lines(specOf("bb", 6, 2, true)))
	rows[0] += "\x1b[m"
	g.End(rows, []Placed{{"page", 2, 1, 6, 2}})
	for hinted(g) {
	}
	if s = wrote(nudge); s != nudge || !hinted(g) || g.Send() != nudge {
		t.Errorf("the first nudge: %q", s)
	}
	if s = wrote(nudge); strings.Count(s, "\x1bP") != 2 {
		t.Errorf("the second nudge: %q", s)
	}
	if send := g.Send(); send != "" {
		t.Errorf("nudged again: %q", send)
	}
}

func TestStripsKeepOffTheLastRow(t *testing.T) {
	g := NewGallery(capsOf(ModeITerm2), 9)
	g.Begin()
	g.Lines(specOf("a", 6, 3, true))
	g.End([]string{"", "| " + strings.Repeat(hold, 6), "| " + strings.Repeat(hold, 6), "| " + strings.Repeat(hold, 6)}, []Placed{{"page", 2, 1, 6, 3}})
	var out bytes.Buffer
	if _, err := g.Output(&out).Write([]byte("frame")); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\x1b]1337;"); n != 2 {
		t.Errorf("%d strips, want the two above the last row", n)
	}
}

func TestCacheHasALimit(t *testing.T) {
	c := cache{limit: 100}
	for i := range 10 {
		c.put(&drawing{key: fmt.Sprint(i), bytes: 30})
		c.get("0")
	}
	if c.bytes > 100 || c.order.Len() != 3 || c.get("0") == nil || c.get("9") == nil || c.get("5") != nil {
		t.Errorf("%d bytes in %d drawings", c.bytes, c.order.Len())
	}
}

func TestOtherCapabilitiesRedrawEverything(t *testing.T) {
	g := NewGallery(capsOf(ModeKitty), 9)
	g.SetCaps(capsOf(ModeHalf))
	if c := g.Caps(); c.Mode != ModeHalf {
		t.Errorf("it draws for %s", c.Mode)
	}
}
