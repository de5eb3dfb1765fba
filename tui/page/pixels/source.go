package pixels

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/tui/viewer"
)

// objectsMost is the number of objects of one file that are drawn.
const objectsMost = 64

// drawFile draws all sprites, variants, compositions and animations of a .pxl file.
// Broken is the first place where the text could not be read: the object there is missing.
func drawFile(path string, load func(string) (*pxl.Document, error)) (out []Render, broken string, err error) {
	doc, err := load(path)
	if err != nil {
		return nil, "", err
	}
	for _, d := range doc.Diagnostics() {
		if d.Code == pxl.CodeSyntax {
			broken = d.String()
			break
		}
	}
	pixels := 0
	for _, o := range doc.Objects() {
		switch o.Kind {
		case pxl.KindSprite, pxl.KindVariant, pxl.KindComposition, pxl.KindAnimation:
		case pxl.KindParticle: // drawn as an animation, in one dialect
			if doc.Dialect() == pxl.Reference {
				continue
			}
			o.Kind = pxl.KindAnimation
		default:
			continue
		}
		if len(out) == objectsMost {
			break
		}
		r := Render{Name: o.Name, Kind: string(o.Kind)}
		res, err := doc.Render(pxl.RenderOptions{Kind: o.Kind, Name: o.Name, Tokens: true})
		if err != nil {
			r.Failed = err.Error()
			r.Notes = lines(doc.Diagnostics())
		} else {
			// The text is the identity: the same text is the same picture.
			r.Picture = FromResult(fmt.Sprintf("%s %s %s\x02%s", path, o.Kind, o.Name, doc.Text()), doc, res)
			if pixels += r.Picture.Pixels(); pixels > pixelsrc.KeptPixels && len(out) > 0 {
				r.Picture, r.Failed = nil, "this file has more pixels than can be shown at once; open it without the larger objects"
			}
			r.Notes = lines(res.Diagnostics)
			if broken != "" && !slices.Contains(r.Notes, broken) {
				r.Notes = slices.Insert(r.Notes, 0, broken)
			}
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		reason := "there is no sprite to draw"
		if d := doc.Diagnostics(); len(d) > 0 {
			reason = d[0].String()
		}
		return nil, "", fmt.Errorf("draw %s: %s", filepath.Base(path), reason)
	}
	return out, broken, nil
}

func lines(list []pxl.Diagnostic) []string {
	out := make([]string, len(list))
	for i, d := range list {
		out[i] = d.String()
	}
	return out
}

// FromResult makes what the engine drew into a picture to look at. The key must tell it
// from all others.
func FromResult(key string, doc *pxl.Document, res *pxl.Result) *viewer.Picture {
	pic := &viewer.Picture{Key: key}
	if res.Kind == pxl.KindAnimation && !res.Loop {
		pic.Loop = viewer.Once
	}
	kept, _ := pixelsrc.CutFrames(res.Frames)
	for _, f := range kept {
		pic.Frames = append(pic.Frames, viewer.Frame{Image: f.Image, Duration: f.Duration, Name: f.Name})
	}
	name(pic, doc.Names(res), res.Tokens)
	return pic
}

// name gives the colours of a picture their names.
func name(pic *viewer.Picture, names []pxl.Named, at *pxl.TokenMap) {
	for _, n := range names {
		pic.Tokens = append(pic.Tokens, viewer.Token{Name: n.Name, Color: n.Color})
	}
	pic.TokenAt = tokenAt(at)
}

func tokenAt(t *pxl.TokenMap) func(frame, x, y int) string {
	if t == nil {
		return nil
	}
	return func(_, x, y int) string {
		if i := t.At(x, y); i >= 0 {
			return t.Names[i]
		}
		return ""
	}
}
