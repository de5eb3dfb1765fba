package calls_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/calls"
)

// far is the calls of another machine.
type far struct {
	mu      sync.Mutex
	calls   []snapshot.Call
	looking int
	older   int
	away    bool
	hint    chan struct{}
	over    chan struct{}
}

func (f *far) Watch() calls.Watch {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looking++
	f.over = make(chan struct{})
	return look{f, f.over}
}

type look struct {
	*far
	over chan struct{}
}

func (l look) Calls() []snapshot.Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]snapshot.Call(nil), l.calls...)
}

func (l look) Next() ([]snapshot.Call, bool) {
	select {
	case <-l.hint:
		return l.Calls(), true
	case <-l.over:
		return nil, false
	}
}

func (l look) Older() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.older++
}

func (l look) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.looking--
	close(l.over)
}

func (f *far) CallBody(_ context.Context, c *snapshot.Call) (snapshot.CallBody, []string, error) {
	if f.away {
		return snapshot.CallBody{}, nil, errors.New("build1 is away")
	}
	return snapshot.CallBody{Args: json.RawMessage(fmt.Sprintf(`{"there":%d}`, c.ID)), Result: json.RawMessage(`{"content":[{"type":"text","text":"told by build1"}]}`)}, []string{fmt.Sprint("hash ", c.ID)}, nil
}

func (f *far) CallPicture(_ context.Context, c *snapshot.Call, hash string) ([]byte, error) {
	if c.Images == 0 || hash != fmt.Sprint("hash ", c.ID) {
		return nil, errors.New("there is none")
	}
	list, _ := pictures{[]uint64{1}}.Pictures()
	red, err := base64.StdEncoding.DecodeString(list[0].Data)
	if err != nil || c.ID != 3 {
		return red, err
	}
	size, err := png.DecodeConfig(bytes.NewReader(red))
	if err != nil {
		return nil, err
	}
	img := image.NewNRGBA(image.Rect(0, 0, size.Width, size.Height))
	draw.Draw(img, img.Bounds(), image.NewUniform(color.NRGBA{B: 255, A: 255}), image.Point{}, draw.Src)
	var blue bytes.Buffer
	err = png.Encode(&blue, img)
	return blue.Bytes(), err
}

// showFar shows the page with four calls of another machine, one of which was made before this deck
// was opened.
func showFar(t *testing.T, size frame.Size, test func(s *frame.Screen, f *far)) {
	t.Helper()
	f := &far{}
	frame.Run(t, size, colorprofile.TrueColor, func() tea.Model {
		d := fake.NewDeck(time.Now())
		f.hint = make(chan struct{}, 1) // of the clock of the test
		now := time.Now()
		at := func(c snapshot.Call, project string) snapshot.Call {
			c.AgentName, c.Server = "codex", "pixelsrc"
			c.Afar = &snapshot.Afar{Machine: "build1", Project: project}
			return c
		}
		f.calls = []snapshot.Call{
			at(snapshot.Call{ID: 1, Tool: "old_there", Status: snapshot.OK, Started: now.Add(-20 * time.Hour), Duration: time.Second}, ""),
			at(snapshot.Call{ID: 2, Tool: "pixelsrc_render", Status: snapshot.OK, Started: now, Duration: time.Second, Args: `{"file":"hero.pxl"}`, Images: 1}, "shop"),
			at(snapshot.Call{ID: 3, Tool: "pixelsrc_lint", Status: snapshot.ToolError, Started: now.Add(time.Millisecond), Duration: time.Second, Result: "no such file"}, "shop"),
			at(snapshot.Call{ID: 9, Tool: "pixelsrc_watch", Status: snapshot.Running, Started: now.Add(2 * time.Millisecond), Args: `{"file":"hat.pxl"}`}, "shop"),
		}
		page := calls.New(calls.Options{Bodies: d, Afar: f, Cancel: func(uint64) bool { panic("it runs elsewhere") }, Repeat: func(string, snapshot.CallBody) error { panic("it ran elsewhere") }})
		return tui.New(tui.Options{Deck: d, Still: true, Background: "dark", Start: calls.ID, Pages: fake.Tabs(page, 3)})
	}, func(s *frame.Screen) {
		s.Wait(time.Second)
		test(s, f)
		s.Keys("I")
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.looking > 0 {
			t.Error("the machine is asked while the page is hidden")
		}
	})
}

func TestCallsOfAnotherMachineStandAmongThoseOfThisOne(t *testing.T) {
	for _, size := range []frame.Size{{W: 110, H: 34}, {W: 80, H: 24}} {
		t.Run(fmt.Sprintf("%dx%d", size.W, size.H), func(t *testing.T) {
			showFar(t, size, func(s *frame.Screen, _ *far) {
				s.Keys("end")
				s.Golden(fmt.Sprintf("%dx%d-far", size.W, size.H))
			})
		})
	}
}

func TestACallOfAnotherMachineIsReadAndNotRepeated(t *testing.T) {
	showFar(t, frame.Size{W: 110, H: 34}, func(s *frame.Screen, f *far) {
		s.Keys("end")
		s.Has("build1:shop", "pixelsrc_watch", "there: 9")
		s.Lacks("x stop", "r again")
		s.Keys("up", "up")
		s.Has("there: 2", "Picture")
		if !strings.Contains(s.Raw(), "2;255;0;0") {
			t.Error("nothing red was drawn")
		}
		f.mu.Lock()
		f.calls, f.away = f.calls[:3], true
		f.mu.Unlock()
		f.hint <- struct{}{}
		s.Wait(time.Second)
		s.Lacks("pixelsrc_watch")
		s.Has("there: 2") // the cursor is where it was
		s.Keys("down")
		s.Has("build1 is away")
		s.Keys("home")
		s.Has("old_there", "deck opened")
		if f.older == 0 {
			t.Error("nothing older is asked for at the beginning of the list")
		}
		s.Keys("/")
		s.Type("build1:shop")
		s.Has("Calls 2 of")
		s.Keys("esc")
	})
}

// TestPicturesOfTwoCallsOfOneToolAfarAreToldApart has two of the same size.
func TestPicturesOfTwoCallsOfOneToolAfarAreToldApart(t *testing.T) {
	showFar(t, frame.Size{W: 110, H: 34}, func(s *frame.Screen, f *far) {
		f.mu.Lock()
		f.calls[2].Tool, f.calls[2].Status, f.calls[2].Images = f.calls[1].Tool, f.calls[1].Status, 1
		f.mu.Unlock()
		f.hint <- struct{}{}
		s.Wait(time.Second)
		s.Keys("end", "up", "up")
		s.Has("there: 2", "Picture")
		if !strings.Contains(s.Raw(), "2;255;0;0") {
			t.Error("nothing red was drawn")
		}
		s.Keys("down")
		s.Has("there: 3", "Picture")
		if !strings.Contains(s.Raw(), "2;0;0;255") {
			t.Error("nothing blue was drawn")
		}
	})
}
