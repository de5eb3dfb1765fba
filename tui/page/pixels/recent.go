package pixels

import (
	"fmt"

	"github.com/mcpdeck/mcpdeck/servers/pixelsrc"
	"github.com/mcpdeck/mcpdeck/servers/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/tui/viewer"
)

// Recent is the pixel art server as a source of renders.
type Recent struct {
	// Server keeps what it drew, Dialect is how it reads sources.
	Server interface{ Recent() pixelsrc.Recents }
	// Dialect must be the server's.
	Dialect pxl.Dialect
	// Hints is where its changes are told, among others.
	Hints func() (hint <-chan struct{}, cancel func())

	known map[uint64]Render
}

// Version implements [Source].
func (r *Recent) Version() uint64 { return r.Server.Recent().Version }

// Subscribe implements [Source].
func (r *Recent) Subscribe() (<-chan struct{}, func()) { return r.Hints() }

// Renders implements [Source]. The sources are read for the names of the colours, so it
// is not for the update loop.
func (r *Recent) Renders() []Render {
	list := r.Server.Recent().Renders
	known := make(map[uint64]Render, 2*len(list))
	out := make([]Render, 0, len(list))
	for _, one := range list {
		render := r.render(one, known)
		if one.Before != nil {
			before := r.render(one.Before, known)
			render.Before = &before
		}
		out = append(out, render)
	}
	r.known = known
	return out
}

func (r *Recent) render(one *pixelsrc.Render, known map[uint64]Render) Render {
	render, ok := r.known[one.ID]
	if !ok {
		render = r.convert(one)
	}
	known[one.ID] = render
	return render
}

func (r *Recent) convert(one *pixelsrc.Render) Render {
	pic := &viewer.Picture{Key: fmt.Sprint("render ", one.ID)}
	if len(one.Frames) > 1 && !one.Loop {
		pic.Loop = viewer.Once
	}
	for _, f := range one.Frames {
		pic.Frames = append(pic.Frames, viewer.Frame{Image: f.Image, Duration: f.Duration})
	}
	r.name(pic, one)
	return Render{
		ID: one.ID, Name: one.Name, Kind: one.Kind, File: one.Path, Agent: one.Who, Time: one.Time,
		Picture: pic, Notes: one.Warnings,
	}
}

// name finds the names of the colours by drawing the source once more. What it includes
// is not at hand, so where the sizes differ only the colours that the text itself gives
// are named.
func (r *Recent) name(pic *viewer.Picture, one *pixelsrc.Render) {
	if one.Source == "" || len(pic.Frames) == 0 {
		return
	}
	doc := pxl.Parse([]byte(one.Source), pxl.Options{Dialect: r.Dialect})
	res, err := doc.Render(pxl.RenderOptions{Kind: pxl.Kind(one.Kind), Name: one.Name, Antialias: "none", Tokens: true})
	if err != nil {
		return
	}
	if res.Tokens != nil && res.Image().Rect != pic.Frames[0].Image.Rect {
		res.Tokens = nil
	}
	pic.Tokens = Tokens(doc, res)
	pic.TokenAt = tokenAt(res.Tokens)
}
