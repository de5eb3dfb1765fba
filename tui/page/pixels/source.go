package pixels

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/pixelsrc/pxl"
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
	for _, f := range res.Frames {
		pic.Frames = append(pic.Frames, viewer.Frame{Image: f.Image, Duration: f.Duration, Name: f.Name})
	}
	pic.Tokens = Tokens(doc, res)
	pic.TokenAt = tokenAt(res.Tokens)
	return pic
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

// spriteNames are the sprites that a result shows, each once; an empty name stands for
// one that is not known.
func spriteNames(res *pxl.Result) []string {
	if res.Kind == pxl.KindSprite {
		return []string{res.Name}
	}
	if res.Kind != pxl.KindAnimation || len(res.Frames) == 0 {
		return []string{""}
	}
	var names []string
	for _, f := range res.Frames {
		if !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

// Tokens are the names that the source has for colours: those of the palettes of the
// sprites that are shown, or of all palettes where it is not known which those are.
func Tokens(doc *pxl.Document, res *pxl.Result) []viewer.Token {
	var out []viewer.Token
	seen := map[viewer.Token]bool{}
	add := func(t viewer.Token) {
		if !seen[t] && !strings.HasPrefix(t.Name, "--") {
			seen[t] = true
			out = append(out, t)
		}
	}
	if t := res.Tokens; t != nil {
		for i, name := range t.Names {
			add(viewer.Token{Name: name, Color: t.Colors[i]})
		}
	}
	entries := func(list []pxl.Entry) {
		for _, e := range list {
			if c, err := doc.Colour(e.Value); err == nil {
				add(viewer.Token{Name: e.Token, Color: c})
			}
		}
	}
	found := true
	for _, name := range spriteNames(res) {
		o, ok := doc.Find(pxl.KindSprite, name)
		if !ok || o.Sprite.Palette == nil {
			found = false
			continue
		}
		entries(o.Sprite.Palette.Inline)
		if p, ok := doc.Find(pxl.KindPalette, o.Sprite.Palette.Name); ok {
			entries(p.Palette.Colors)
		}
	}
	if found {
		return out
	}
	for _, o := range doc.Objects() {
		switch {
		case o.Palette != nil:
			entries(o.Palette.Colors)
		case o.Sprite != nil && o.Sprite.Palette != nil:
			entries(o.Sprite.Palette.Inline)
		}
	}
	return out
}
