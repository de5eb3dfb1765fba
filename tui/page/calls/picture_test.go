package calls_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"strings"
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

// pictures has one red picture for every call.
type pictures struct{ calls []uint64 }

func (p pictures) Pictures() ([]snapshot.Picture, uint64) {
	img := image.NewNRGBA(image.Rect(0, 0, 8, 8))
	for i := range 64 {
		img.SetNRGBA(i%8, i/8, color.NRGBA{R: 255, A: 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	var list []snapshot.Picture
	for _, id := range p.calls {
		list = append(list, snapshot.Picture{Call: id, MIME: "image/png", Data: base64.StdEncoding.EncodeToString(b.Bytes())})
	}
	return list, 1
}

func TestThePictureOfAResultIsShown(t *testing.T) {
	for _, size := range []frame.Size{{W: 110, H: 34}, {W: 80, H: 24}} {
		frame.Run(t, size, colorprofile.TrueColor, func() tea.Model {
			d := fake.NewDeck(time.Now())
			d.Add(snapshot.Call{Agent: "a1", AgentName: "claude", Tool: "pixelsrc_render", Status: snapshot.OK, Started: time.Now(), Duration: 1, Images: 1})
			all, _ := d.Calls(0)
			return tui.New(tui.Options{Deck: d, Background: "dark", Pages: []tui.Page{
				calls.New(calls.Options{Bodies: d, Pictures: pictures{[]uint64{all[len(all)-1].ID}}}),
			}})
		}, func(s *frame.Screen) {
			s.Wait(time.Second)
			s.Keys("enter")
			s.Wait(time.Second)
			s.Has("Picture")
			if !strings.Contains(s.Raw(), "2;255;0;0") {
				t.Errorf("%dx%d: nothing red was drawn", size.W, size.H)
			}
		})
	}
}
