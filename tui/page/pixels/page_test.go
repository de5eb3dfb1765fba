package pixels_test

import (
	"fmt"
	"image"
	"image/color"
	"slices"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/pixels"
	"github.com/mcpdeck/mcpdeck/tui/viewer"
)

// source is a source of renders that a test adds to.
type source struct {
	mu   sync.Mutex
	list []pixels.Render
	hint chan struct{}

	version uint64
}

func newSource(list ...pixels.Render) *source {
	return &source{list: list, hint: make(chan struct{}, 1), version: 1}
}

func (s *source) Renders() []pixels.Render {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]pixels.Render(nil), s.list...)
}

func (s *source) Version() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

func (s *source) Subscribe() (<-chan struct{}, func()) { return s.hint, func() {} }

// add puts renders in front, the last first, and takes those of the same names away.
func (s *source) add(all ...pixels.Render) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range all {
		s.list = append([]pixels.Render{r}, slices.DeleteFunc(slices.Clone(s.list), func(old pixels.Render) bool { return old.Name == r.Name })...)
	}
	s.version++
	s.hint <- struct{}{}
}

var (
	outline = color.NRGBA{0x1a, 0x1c, 0x2c, 255}
	skin    = color.NRGBA{0xef, 0x7d, 0x57, 255}
	eye     = color.NRGBA{0xf4, 0xf4, 0xf4, 255}
)

// face is a sprite of 8 by 8; step moves its eyes.
func face(step int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, 8, 8))
	for y := range 8 {
		for x := range 8 {
			switch {
			case (x == 0 || x == 7) && (y == 0 || y == 7):
			case x == 0 || y == 0 || x == 7 || y == 7:
				img.SetNRGBA(x, y, outline)
			default:
				img.SetNRGBA(x, y, skin)
			}
		}
	}
	img.SetNRGBA(2+step, 3, eye)
	img.SetNRGBA(5, 3+step, eye)
	return img
}

func tokens() []viewer.Token {
	return []viewer.Token{{Name: "{line}", Color: outline}, {Name: "{skin}", Color: skin}, {Name: "{tooth}", Color: color.NRGBA{255, 255, 0, 255}}}
}

func started() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

func still(id uint64, step int, ago time.Duration) pixels.Render {
	return pixels.Render{
		ID: id, Name: "face", Kind: "sprite", File: "art/face.pxl", Agent: "claude", Time: started().Add(-ago),
		Picture: &viewer.Picture{Key: fmt.Sprint("face", id), Frames: []viewer.Frame{{Image: face(step)}}, Tokens: tokens()},
	}
}

func animation() pixels.Render {
	r := pixels.Render{ID: 2, Name: "wink", Kind: "animation", Agent: "codex", Time: started().Add(-3 * time.Minute), Notes: []string{`4:2: warning: sprite "wink": unknown token {brow} [unknown_token]`}}
	r.Picture = &viewer.Picture{Key: "wink", Tokens: tokens()}
	for i, ms := range []int{400, 100, 100, 200} {
		r.Picture.Frames = append(r.Picture.Frames, viewer.Frame{Image: face(i % 3), Duration: time.Duration(ms) * time.Millisecond})
	}
	return r
}

// keys are those of a user for what has none by default.
func keys() map[string][]string {
	return map[string][]string{
		"pixels.open": {"o"}, "pixels.fit": {"0"}, "pixels.ground": {"b"}, "pixels.grid": {"#"}, "pixels.repeat": {"R"}, "pixels.sheet": {"s"}, "pixels.mode": {"m"}, "pixels.capabilities": {"i"},
		"pixels.next_frame": {"."}, "pixels.previous_frame": {","}, "pixels.first_frame": {"home"}, "pixels.last_frame": {"end"}, "pixels.slower": {"<"}, "pixels.faster": {">"}, "pixels.loop": {"w"}, "pixels.onion": {"n"},
		"pixels.compare": {"v"}, "pixels.view": {"ctrl+v"}, "pixels.flip": {"x"}, "pixels.blink": {"X"}, "pixels.tolerance": {"t"}, "pixels.mark": {"V"}, "pixels.older": {"{"}, "pixels.newer": {"}"},
	}
}

func run(t *testing.T, size frame.Size, o pixels.Options, test func(s *frame.Screen)) {
	t.Helper()
	frame.Run(t, size, colorprofile.TrueColor, func() tea.Model {
		for _, s := range o.Sources { // their channels belong to the bubble of virtual time
			if src, ok := s.(*source); ok {
				src.hint = make(chan struct{}, 1)
			}
		}
		return tui.New(tui.Options{Pages: []tui.Page{pixels.New(o)}, Background: "dark", Keys: keys()})
	}, test)
}

func TestFrames(t *testing.T) {
	frame.EveryPicture(t, "animation", func(t *testing.T, l frame.Look, test func(s *frame.Screen)) {
		t.Helper()
		show(t, l, newSource(still(1, 0, 5*time.Second), animation()), keys(), func(s *frame.Screen) {
			s.Quick("j", "tab", "right", ".")
			test(s)
		})
	})
	for _, size := range []frame.Size{{W: 40, H: 12}, {W: 80, H: 24}} {
		name := fmt.Sprintf("empty-%dx%d", size.W, size.H)
		t.Run(name, func(t *testing.T) {
			run(t, size, pixels.Options{}, func(s *frame.Screen) { s.Golden(name) })
		})
	}
}

// show runs the page in a terminal.
func show(t *testing.T, l frame.Look, src *source, bound map[string][]string, test func(s *frame.Screen)) {
	t.Helper()
	frame.Run(t, l.Size, l.Colors, func() tea.Model {
		src.hint = make(chan struct{}, 1)
		return tui.New(tui.Options{
			Pages: []tui.Page{pixels.New(pixels.Options{Sources: []pixels.Source{src}, Editor: process.Command{Program: "vi"}})},
			Theme: l.Theme, Background: l.Background, Keys: bound,
			Feeds: []tui.Feed{tui.SessionsFeed(fake.FrontSessions(time.Now()))},
		})
	}, test)
}

// potion is what an agent drew.
func potion() *viewer.Picture {
	colours := map[rune]color.NRGBA{'o': {0x24, 0x1b, 0x35, 255}, 'g': {0xcf, 0xe8, 0xf2, 255}, 'j': {0xd6, 0x33, 0x6c, 255}, 'c': {0xb0, 0x7a, 0x45, 255}, 's': {0xff, 0xff, 0xff, 255}}
	img := image.NewNRGBA(image.Rect(0, 0, 16, 16))
	for y, row := range []string{
		"", "", "      cccc", "    oooooooo", "      g  g", "      o  o", "     og  go", "    og    go", "   og      go", "  ogjjjjjjjjgo", "  ojjjssjjjjjo", "  ojjjjjjjjjjo", "   ojjjjjjjjo", "    oooooooo",
	} {
		for x, r := range row {
			if c, ok := colours[r]; ok {
				img.SetNRGBA(x, y, c)
			}
		}
	}
	pic := &viewer.Picture{Key: "potion", Frames: []viewer.Frame{{Image: img}}}
	for _, name := range []string{"outline", "glass", "juice", "cork", "shine"} {
		pic.Tokens = append(pic.Tokens, viewer.Token{Name: name, Color: colours[rune(name[0])]})
	}
	return pic
}

func drawn(id uint64, name string, ago time.Duration) pixels.Render {
	return pixels.Render{ID: id, Name: name, Kind: "sprite", File: "/home/ana/src/menu/art/" + name + ".pxl", Agent: "opencode", Time: started().Add(-ago), Picture: potion()}
}

// full is the page with a badge above nine.
type full struct{ *pixels.Page }

func (full) Badge() int { return 12 }

func TestPicturesBelowFullBadges(t *testing.T) {
	for _, size := range frame.Sizes()[:3] {
		src := newSource(drawn(1, "potion", 38*time.Second))
		frame.Run(t, size, colorprofile.TrueColor, func() tea.Model {
			src.hint = make(chan struct{}, 1)
			return tui.New(tui.Options{Pages: fake.Tabs(full{pixels.New(pixels.Options{Sources: []pixels.Source{src}})}, 12), Start: pixels.ID, Background: "dark"})
		}, func(s *frame.Screen) { s.Golden(fmt.Sprintf("badges-%dx%d", size.W, size.H)) })
	}
}

func TestPicturesOfAnAgentAtEverySize(t *testing.T) {
	frame.EveryPicture(t, "front", func(t *testing.T, l frame.Look, test func(s *frame.Screen)) {
		t.Helper()
		src := newSource(drawn(2, "city", 38*time.Second), drawn(1, "mushroom", 38*time.Second))
		show(t, l, src, nil, func(s *frame.Screen) {
			before := drawn(3, "potion", 4*time.Minute)
			last := drawn(5, "potion", 24*time.Second)
			last.Before = &before
			src.add(drawn(4, "hero", 24*time.Second), last)
			s.Wait(time.Second)
			test(s)
		})
	})
}

func TestTheNewestComesIntoViewUnlessPinned(t *testing.T) {
	src := newSource(still(1, 0, time.Minute), animation())
	run(t, frame.Size{W: 110, H: 30}, pixels.Options{Sources: []pixels.Source{src}}, func(s *frame.Screen) {
		s.Has("face · 8×8")
		s.Do(func() {
			r := still(3, 1, 0)
			r.Name = "mask"
			src.add(r)
		})
		s.Wait(time.Second)
		s.Has("mask · 8×8")
		s.Keys("j", "j")
		s.Has("wink · 8×8", "f follows the newest")
		s.Do(func() {
			r := still(4, 2, -time.Second)
			r.Name = "hat"
			src.add(r)
		})
		s.Wait(time.Second)
		s.Has("wink · 8×8", "+ hat", "1 new")
		s.Keys("f")
		s.Has("hat · 8×8", "+ hat")
		s.Lacks("f follows the newest")
		s.Keys("j")
		s.Lacks("+ hat", "1 new") // it was looked at
	})
}

func TestTheHeadlineSaysTheScaleAfterAResize(t *testing.T) {
	run(t, frame.Size{W: 120, H: 40}, pixels.Options{Sources: []pixels.Source{newSource(still(1, 0, time.Minute))}}, func(s *frame.Screen) {
		s.Resize(40, 12)
		s.Keys("enter")
		s.Has("2×")
		s.Resize(60, 20)
		s.Has("4×")
	})
}

func TestLookingAtAPixel(t *testing.T) {
	run(t, frame.Size{W: 110, H: 30}, pixels.Options{Sources: []pixels.Source{newSource(still(1, 0, time.Minute))}}, func(s *frame.Screen) {
		s.Has("{skin}", "{tooth}", "unused", "not in the palette") // the tooth, and the white of the eyes
		s.Keys("tab", "left")
		s.Has("4,4", "#ef7d57", "{skin} 2 of 3")
		s.Keys("left", "left", "up")
		s.Has("2,3", "#f4f4f4", "not in the palette")
		s.Keys("left", "left", "up", "up", "up")
		s.Has("0,0", "transparent")
		s.Keys("c")
		s.Has("copied #00000000")
	})
}

func TestANewAnimationPlays(t *testing.T) {
	src := newSource(still(1, 0, time.Minute))
	run(t, frame.Size{W: 110, H: 30}, pixels.Options{Sources: []pixels.Source{src}}, func(s *frame.Screen) {
		a := animation()
		a.ID, a.Time = 9, time.Now()
		src.add(a)
		s.Wait(500 * time.Millisecond)
		s.Has("wink", "▸ 3/4")
		s.Keys("space")
		s.Has("|| ")
		again := a
		again.ID = 10
		src.add(again)
		s.Wait(500 * time.Millisecond)
		s.Has("|| ") // the same again does not start what was stopped
	})
}

func TestPlaybackKeepsTimeAndStopsWhenHidden(t *testing.T) {
	run(t, frame.Size{W: 110, H: 30}, pixels.Options{Sources: []pixels.Source{newSource(animation())}}, func(s *frame.Screen) {
		s.Keys("space", "tab", "home", "tab", "tab")
		s.Has("|| 1/4 400 ms")
		s.Keys("space") // 50 ms pass with each key, 100 ms with each look
		s.Wait(350 * time.Millisecond)
		s.Has("2/4 100 ms")
		s.Wait(200 * time.Millisecond)
		s.Has("4/4 200 ms")
		s.Keys("space", "tab", "home", ".")
		s.Has("|| 2/4 100 ms")
		s.Keys("space")
		s.Send(tea.BlurMsg{})
		before := len(s.Raw())
		s.Wait(10 * time.Second)
		if after := len(s.Raw()); after-before > 2000 { // ages in the list tick on
			t.Errorf("%d bytes were written while nobody looked", after-before)
		}
		s.Has("|| ")
	})
}

func TestComparing(t *testing.T) {
	src := newSource(still(1, 0, time.Minute))
	run(t, frame.Size{W: 110, H: 30}, pixels.Options{Sources: []pixels.Source{src}}, func(s *frame.Screen) {
		s.Keys("v")
		s.Has("no earlier render to compare with")
		s.Do(func() { src.add(still(2, 1, 0)) })
		s.Wait(5 * time.Second)
		s.Keys("v")
		s.Has("side by side: 4 pixels changed in 4×2 at 2,3")
		s.Keys("v")
		s.Has("highlight: 4 pixels")
		s.Keys("v", "x")
		s.Has("blink: before")
		s.Keys("X")
		for range 3 { // the words are those of the picture in the same frame
			s.Wait(time.Duration(600-time.Now().UnixMilli()%500) * time.Millisecond) // in the middle of one
			want := "blink: after"
			if time.Now().UnixMilli()/500%2 == 1 {
				want = "blink: before"
			}
			s.Has(want)
		}
		s.Keys("v", "{")
		s.Has("1 of 2", "f follows the newest")
		s.Do(func() { src.add(still(3, 2, -time.Second)) })
		s.Wait(time.Second)
		s.Has("1 of 3") // an older version that is looked at stays
		s.Keys("}", "}")
		s.Lacks(" of 3")
	})
}

func TestTheEndsOfTheVersionsAreTold(t *testing.T) {
	src := newSource(still(1, 0, time.Minute))
	run(t, frame.Size{W: 110, H: 30}, pixels.Options{Sources: []pixels.Source{src}}, func(s *frame.Screen) {
		s.Do(func() { src.add(still(2, 1, 0)) })
		s.Wait(5 * time.Second)
		s.Keys("}")
		s.Has("this is the newest version")
		s.Keys("{", "{")
		s.Has("this is the oldest version kept", "1 of 2")
	})
}

func TestPlaybackIsChangedByItsKeys(t *testing.T) {
	run(t, frame.Size{W: 110, H: 30}, pixels.Options{Sources: []pixels.Source{newSource(animation())}}, func(s *frame.Screen) {
		for _, words := range []string{"playback: ping-pong", "playback: once", "playback: loop"} {
			s.Keys("w")
			s.Has(words)
		}
		s.Keys("n")
		s.Has("onion skin: 1 frame each way")
		s.Keys("s")
		s.Has("the picture already has frames")
		s.Keys("space", "tab", "home", ">", "space") // twice as fast
		s.Wait(200 * time.Millisecond)               // 50 ms pass with each key, 100 ms with each look
		s.Has("4/4")
		s.Keys("space", "home", "<", "<", "space") // half as fast
		s.Wait(500 * time.Millisecond)
		s.Has("1/4")
	})
}

func TestThePathOfThePictureIsCopied(t *testing.T) {
	nameless := animation() // has no file
	run(t, frame.Size{W: 110, H: 30}, pixels.Options{Sources: []pixels.Source{newSource(still(1, 0, time.Minute), nameless)}}, func(s *frame.Screen) {
		s.Keys("c")
		s.Has("copied the path of the source")
		s.Wait(5 * time.Second)
		s.Keys("j", "c")
		s.Has("copied the name and size")
		s.Keys("b")
		s.Has("ground: ")
	})
}

func TestCapabilitiesAndOpening(t *testing.T) {
	run(t, frame.Size{W: 110, H: 34}, pixels.Options{Sources: []pixels.Source{newSource(animation())}}, func(s *frame.Screen) {
		s.Keys("i")
		s.Has("Pictures in this terminal", "kitty pictures", "no answer", "Block Elements are in every modern font")
		s.Keys("esc", "m", "m")
		s.Has("half")
		s.Keys("o")
		s.Has("Open a picture")
		s.Type("/nowhere/x.png")
		s.Has("/nowhere/x.png")
		s.Keys("esc")
		s.Lacks("/nowhere")
	})
}

// A marked picture is what others are compared with that have no version before.
func TestComparingWithAMarkedPicture(t *testing.T) {
	r := still(9, 1, time.Hour)
	r.Name = "mask"
	run(t, frame.Size{W: 110, H: 30}, pixels.Options{Sources: []pixels.Source{newSource(still(1, 0, time.Minute), r)}}, func(s *frame.Screen) {
		s.Keys("V")
		s.Wait(5 * time.Second)
		s.Keys("v")
		s.Has("with :mark")
		s.Wait(5 * time.Second)
		s.Keys("j", "v")
		s.Has("side by side with face: 4 pixels changed in 4×2")
		s.Keys("t")
		s.Has("tolerance: pixels differing by up to", "4 pixels changed (>3) in")
		s.Wait(5 * time.Second)
		s.Keys("t", "t", "t")
		s.Has("every difference counts")
		s.Keys("V", "V") // this one instead, and none
		s.Wait(5 * time.Second)
		s.Keys("v")
		s.Has("with :mark")
	})
}

// Without colours pictures are written in letters, which are told.
func TestLettersWithoutColours(t *testing.T) {
	for _, row := range []struct {
		size   frame.Size
		legend []string
	}{
		{frame.Size{W: 110, H: 34}, []string{"a  {skin}", "b  {line}", "c  not in the palette"}},
		{frame.Size{W: 80, H: 24}, []string{"a {skin}  b {line}  c #f4f4f4"}},
		{frame.Size{W: 40, H: 12}, []string{"a {skin}  b {line}  c #f4f4f4"}},
	} {
		t.Run(fmt.Sprintf("%dx%d", row.size.W, row.size.H), func(t *testing.T) {
			frame.Run(t, row.size, colorprofile.ASCII, func() tea.Model {
				src := newSource(still(1, 0, time.Minute))
				src.hint = make(chan struct{}, 1)
				return tui.New(tui.Options{Pages: []tui.Page{pixels.New(pixels.Options{Sources: []pixels.Source{src}})}, Background: "dark", Keys: keys()})
			}, func(s *frame.Screen) {
				s.Has("bbaaccaaaaccaabb")
				s.Has(row.legend...)
				s.Keys("tab", "left")
				s.Has("4,4 a  #ef7d57 {skin}")
			})
		})
	}
}

func TestThePictureIsUsedWithTheMouse(t *testing.T) {
	src := newSource(still(2, 1, 0), animation())
	run(t, frame.Size{W: 110, H: 34}, pixels.Options{Sources: []pixels.Source{src}}, func(s *frame.Screen) {
		s.Has("face · 8×8")
		s.Click(8, 3) // the second row of the list
		s.Has("wink · 8×8")
		before := s.Text()
		s.Send(tea.MouseWheelMsg{X: 50, Y: 15, Button: tea.MouseWheelDown})
		if s.Text() == before {
			t.Error("the wheel does not zoom the picture")
		}
		s.Send(tea.MouseWheelMsg{X: 50, Y: 15, Button: tea.MouseWheelUp})
		s.Click(50, 15)
		s.Has("{skin} 2 of 3")
		s.Click(90, 4) // a colour
		s.Keys("enter")
		s.Keys("c")
		s.Has("copied #")
	})
}

func TestProblemsOfAPictureAreShownInFull(t *testing.T) {
	run(t, frame.Size{W: 110, H: 34}, pixels.Options{Sources: []pixels.Source{newSource(animation())}}, func(s *frame.Screen) {
		s.Keys("d")
		s.Has("unknown token {brow} [unknown_token]")
		s.Keys("esc")
		s.Lacks("[unknown_token]")
	})
	run(t, frame.Size{W: 110, H: 34}, pixels.Options{Sources: []pixels.Source{newSource(still(1, 0, 0))}}, func(s *frame.Screen) {
		before := s.Text()
		s.Keys("d")
		s.Has("From", "claude", "art/face.pxl")
		s.Keys("esc", "#")
		if s.Text() == before {
			t.Error("# shows no grid")
		}
	})
}
