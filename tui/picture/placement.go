package picture

import (
	"image"
)

// ModePlacement is kitty's protocol with pictures placed under the text.
const ModePlacement Mode = "placement"

// placement shows pictures by kitty's protocol in terminals without placeholder cells.
type placement struct{ silent }

func (placement) mode() Mode { return ModePlacement }

// detect never chooses it: a terminal that answers may still draw nothing.
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

// place sends a picture and puts it under the text where it is.
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
