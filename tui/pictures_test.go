package tui_test

import (
	"image"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi/kitty"

	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/picture"
)

// pictured is a page with a picture of cols by rows cells at 3, 2 and a text beside it.
func pictured(cols, rows int) *page {
	return &page{id: "one", title: "One", render: func(f *tui.Frame) []string {
		room := f.PictureRoom(cols, rows)
		img := image.NewNRGBA(image.Rect(0, 0, room.Cols*room.UnitW, room.Rows*room.UnitH))
		for i := range img.Pix {
			img.Pix[i] = uint8(i) | 1
		}
		lines := []string{"", ""}
		for _, line := range f.Picture(3, 2, picture.Spec{Slot: "one", Key: "x", Cols: cols, Rows: rows, Now: true, Make: func() *image.NRGBA { return img }}) {
			lines = append(lines, "   "+line+" beside")
		}
		return lines
	}}
}

func kittyAnswers(s *frame.Screen) {
	s.Send(tea.TerminalVersionMsg{Name: "kitty(0.41.1)"}, uv.KittyGraphicsEvent{Payload: []byte("OK")},
		uv.CellSizeEvent{Width: 9, Height: 18}, uv.PrimaryDeviceAttributesEvent{62})
}

func TestTheWayToShowPicturesFollowsTheConfiguration(t *testing.T) {
	p := pictured(8, 4)
	var settings chan tui.Settings
	frame.Run(t, frame.Size{W: 60, H: 20}, colorprofile.TrueColor, func() tea.Model {
		settings = make(chan tui.Settings)
		return tui.New(tui.Options{Pages: []tui.Page{p}, Background: "dark", Settings: settings})
	}, func(s *frame.Screen) {
		kittyAnswers(s)
		shows := func(why string, want picture.Mode) {
			t.Helper()
			s.Wait(time.Second)
			s.Do(func() {
				if last, _ := p.last(func(m tea.Msg) bool { _, ok := m.(tui.PicturesMsg); return ok }).(tui.PicturesMsg); last.Caps.Mode != want {
					t.Errorf("%s: %s, want %s", why, last.Caps.Mode, want)
				}
			})
		}
		shows("at first", picture.ModeKitty)
		settings <- tui.Settings{Background: "dark", Pictures: picture.ModeHalf}
		shows("set", picture.ModeHalf)
		s.Send(tui.SetPictureMode(picture.ModeBlock)())
		settings <- tui.Settings{Background: "light", Pictures: picture.ModeHalf}
		shows("picked on the screen before something else was set", picture.ModeBlock)
		settings <- tui.Settings{Background: "light"}
		shows("left to the terminal again", picture.ModeKitty)
	})
}

func TestPicturesAreAskedForAndSentInOrder(t *testing.T) {
	p := pictured(8, 4)
	run(t, frame.Size{W: 60, H: 20}, tui.Options{Pages: []tui.Page{p}}, func(s *frame.Screen) {
		raw := s.Raw()
		alt, query := strings.Index(raw, "\x1b[?1049h"), strings.Index(raw, "\x1b_G")
		if alt < 0 || query < alt {
			t.Errorf("the alternate screen comes at %d, the question at %d", alt, query)
		}
		if strings.Count(raw, "\x1b_G") != 1 || !strings.Contains(raw, "a=q") {
			t.Error("more than a question was sent without an answer")
		}
		s.Has("beside")
		kittyAnswers(s)
		s.Wait(time.Second)
		raw = s.Raw()[len(raw):]
		if !strings.Contains(raw, "a=T,U=1") || !strings.ContainsRune(raw, kitty.Placeholder) {
			t.Errorf("no picture after the answers: %q", raw)
		}
		if n := strings.Count(raw, "a=T"); n != 1 {
			t.Errorf("the picture was sent %d times", n)
		}
		s.Send(tea.ColorProfileMsg{Profile: colorprofile.TrueColor}) // some terminals say so late
		s.Wait(time.Second)
		if all := s.Raw(); strings.Count(all, "a=T") != 1 || strings.Count(all, "a=q") != 1 {
			t.Error("the colours of the terminal began everything anew")
		}
	})
}

// The id and the marks of every cell survive, whatever the renderer writes and
// whatever lies over the picture.
func TestPlaceholdersStayWhole(t *testing.T) {
	for _, colors := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI256} {
		t.Run(colors.String(), func(t *testing.T) {
			var end string
			frame.Run(t, frame.Size{W: 60, H: 20}, colors, func() tea.Model {
				return tui.New(tui.Options{Pages: []tui.Page{pictured(40, 12)}, Background: "dark"})
			}, func(s *frame.Screen) {
				kittyAnswers(s)
				width := 60
				whole := func(when string, least int) {
					t.Helper()
					n := 0
					marks := map[rune]int{}
					for i := range 60 {
						marks[kitty.Diacritic(i)] = i
					}
					for i, c := range s.Cells() {
						r := []rune(c.Content)
						if len(r) == 0 || r[0] != kitty.Placeholder {
							continue
						}
						n++
						if len(r) != 4 {
							t.Fatalf("%s: a placeholder with %d marks", when, len(r)-1)
						}
						if x, y := i%width-3, i/width-3; marks[r[1]] != y || marks[r[2]] != x {
							t.Fatalf("%s: cell %d, %d names row %d, column %d", when, x, y, marks[r[1]], marks[r[2]])
						}
						if c.Foreground != 16 {
							t.Fatalf("%s: a placeholder with colour %d", when, c.Foreground)
						}
					}
					if n < least {
						t.Errorf("%s: %d placeholders, want at least %d", when, n, least)
					}
				}
				whole("at first", 480)
				s.Keys("?")
				s.Has("Help")
				whole("under a dialog", 0)
				s.Keys("esc")
				whole("after the dialog", 480)
				width = 50
				s.Resize(width, 18)
				whole("after a resize", 400)
				s.Keys("q")
				end = s.Raw()
			})
			gone, left := strings.LastIndex(end, "a=d,d=I"), strings.LastIndex(end, "\x1b[?1049l")
			if gone < 0 || left >= 0 && gone > left {
				t.Errorf("pictures freed at %d, screen left at %d", gone, left)
			}
		})
	}
}
