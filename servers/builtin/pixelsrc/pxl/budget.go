package pxl

// blendCost is how many times a blended pixel counts.
const blendCost = 12

// Budgets of one call. They keep hostile documents from taking long or much
// memory; no sensible picture comes near them.
const (
	maxWork  = 8 << 20   // runs, pixels and steps of one sprite's shapes
	maxWorks = 16 << 20  // of all sprites together
	maxDrawn = 512 << 20 // pixels painted; those blended or transformed count several times
	maxHeld  = 48 << 20  // pixels of pictures in memory
	maxShown = 32 << 20  // pixels of an animation's frames
)

// budget is what a call has used up.
type budget struct {
	drawn, held, works int
	told               bool
	stopped            bool // the context of the call has ended
}

// spend counts pixels that are worked on and pixels that are kept. It is false, and
// tells so once, when the budget of the call is used up; and when its context has
// ended, which the call itself tells.
func (r *renderer) spend(s *sink, pos int32, drawn, held int) bool {
	b := &r.budget
	b.drawn += drawn
	b.held += held
	if b.stopped = b.stopped || r.doc.stopped() != nil; b.stopped {
		return false
	}
	if b.drawn <= r.doc.part(maxDrawn) && b.held <= r.doc.part(maxHeld) && b.works <= r.doc.part(maxWorks) {
		return true
	}
	if !b.told {
		b.told = true
		s.fail(pos, CodeLimit, "render fewer or smaller objects at once", "the picture takes too much work to draw; the rest is incomplete")
	}
	return false
}

// left reports whether the budget is not used up.
func (b *budget) left() bool { return !b.told && !b.stopped }

// part is a budget, divided where a test wants it to run out sooner.
func (d *Document) part(budget int) int { return budget / max(1, d.divide) }
