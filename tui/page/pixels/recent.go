package pixels

import (
	"fmt"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	"github.com/mcpdeck/mcpdeck/tui/viewer"
)

// Recent is the pixel art server as a source of renders.
type Recent struct {
	// Server keeps what it drew.
	Server interface{ Recent() pixelsrc.Recents }
	// Hints is where its changes are told, among others.
	Hints func() (hint <-chan struct{}, cancel func())

	known map[uint64]Render
}

// Version implements [Source].
func (r *Recent) Version() uint64 { return r.Server.Recent().Version }

// Subscribe implements [Source].
func (r *Recent) Subscribe() (<-chan struct{}, func()) { return r.Hints() }

// Renders implements [Source].
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
	name(pic, one.Names, one.Tokens)
	return Render{
		ID: one.ID, Name: one.Name, Kind: one.Kind, File: one.Path, Agent: one.Who, Time: one.Time,
		Picture: pic, Notes: one.Warnings,
	}
}
