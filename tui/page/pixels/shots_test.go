package pixels_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/pixels"
)

// shotsHost has one screenshot in the result of call 7 and a render of pixelsrc in that of call 8.
type shotsHost struct{ data string }

func (h shotsHost) Pictures() ([]snapshot.Picture, uint64) {
	return []snapshot.Picture{
		{Call: 8, Server: "pixelsrc", Tool: "pixelsrc_render", Agent: "codex", Time: started(), MIME: "image/png", Data: h.data},
		{Call: 7, Server: "pencil", Tool: "pencil_get_screenshot", Agent: "claude", Time: started(), MIME: "image/png", Data: h.data},
		{Call: 6, Server: "pencil", Tool: "pencil_broken", Agent: "claude", Time: started().Add(-time.Second), MIME: "image/png", Data: "bm90IGEgcGljdHVyZQ=="},
	}, 1
}

func TestPicturesInResults(t *testing.T) {
	page := image.NewNRGBA(image.Rect(0, 0, 1200, 600))
	for i := range page.Pix {
		page.Pix[i] = uint8(i/4800) | 128
	}
	var b bytes.Buffer
	if err := png.Encode(&b, page); err != nil {
		t.Fatal(err)
	}
	o := pixels.Options{}
	o.Sources = []pixels.Source{&pixels.Shots{
		Host:  shotsHost{base64.StdEncoding.EncodeToString(b.Bytes())},
		Hints: func() (<-chan struct{}, func()) { return make(chan struct{}), func() {} }, Quiet: "pixelsrc",
	}}
	run(t, frame.Size{W: 110, H: 30}, o, func(s *frame.Screen) {
		s.Wait(time.Second)
		s.Has("pencil_get_scree", "1200×600")
		s.Lacks("pixelsrc_render")
		s.Keys("j")
		s.Wait(time.Second)
		s.Has("unknown format; only", "✗ pencil_broken")
		s.Send(tui.LookMsg{Call: 8})
		s.Wait(time.Second)
		s.Has("pixelsrc_render", "1200×600", "f follows the newest")
		s.Send(tui.LookMsg{Call: 99})
		s.Has("no longer stored")
	})
}

func TestSlicingASheet(t *testing.T) {
	r := still(1, 0, time.Minute)
	run(t, frame.Size{W: 110, H: 30}, pixels.Options{Sources: []pixels.Source{newSource(r)}}, func(s *frame.Screen) {
		s.Keys("s")
		s.Has("no frame size from 8 to 64 pixels divides the picture")
		s.Keys(":")
		s.Type("of a chosen")
		s.Keys("enter")
		s.Type("4x4 2-3")
		s.Keys("enter")
		s.Has("2 frames of 4×4", "1/2 100 ms", "face · 4×4")
		s.Keys(":")
		s.Type("of a chosen")
		s.Keys("enter")
		s.Type("four")
		s.Keys("enter")
		s.Has("enter a frame size such as 16x16")
		for _, which := range []string{"3-2", "0-1", "all"} {
			s.Wait(5 * time.Second)
			s.Keys(":")
			s.Type("of a chosen")
			s.Keys("enter")
			s.Type("4x4 " + which)
			s.Keys("enter")
			s.Has("enter a range of frames such as 3-8")
		}
		s.Keys("s")
		s.Has("face · 8×8")
	})
}
