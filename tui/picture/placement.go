package picture

import (
	"image"
)

// ModePlacement shows pictures with kitty's protocol, placed below the text.
const ModePlacement Mode = "placement"

// placement shows pictures in terminals that know kitty's protocol but not placeholders.
type placement struct{ silent }

func (placement) mode() Mode { return ModePlacement }

// detect never selects this mode, because a terminal that replies may still draw nothing.
func (placement) detect(p *Probe, _ terminal, _ Caps) verdict {
	if p.mux == "" && p.kitty == "OK" {
		return verdict{why: "it answered the kitty query, but is not known to draw placeholders: text (to try it anyway, use the setting placement)"}
	}
	return verdict{}
}

func (placement) draw(d *drawing, img *image.NRGBA, s Spec, c Caps) { kittyCells{}.draw(d, img, s, c) }

func (placement) print(img *image.NRGBA, r Room, t Target) string {
	return kittyCells{}.print(img, r, t)
}

// place sends a picture and places it below the text.
func (placement) place(g *Gallery, s *slot, _ []string) {
	k := kittyOf(g.caps)
	if s.id == 0 || s.sent != s.shown {
		g.delete(s.id)
		s.id, s.sent, s.placedAt = g.ids.Next(), s.shown, Placed{}
		g.send.WriteString(k.Transmit(s.shown.payload, s.id))
	}
	if s.placedAt != s.at {
		s.placedAt = s.at
		g.send.WriteString(k.Place(s.id, s.at.X, s.at.Y, s.at.Cols, s.at.Rows))
	}
}

func (placement) free(c Caps, id uint32) string { return kittyOf(c).Delete(id) }
