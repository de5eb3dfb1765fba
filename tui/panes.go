package tui

// Pane is a list, or another part of a page, inside its frame: where it is on the
// page, in cells.
type Pane struct {
	Part       string // as in Page.Part
	X, Y, W, H int
}

// Panes are those of the frame on screen.
type Panes []Pane

// At is the pane at a cell of the page; nil when there is none.
func (p Panes) At(x, y int) *Pane {
	for i, a := range p {
		if x >= a.X && x < a.X+a.W && y >= a.Y && y < a.Y+a.H {
			return &p[i]
		}
	}
	return nil
}
