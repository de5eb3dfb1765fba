package tui

import (
	"github.com/mcpdeck/mcpdeck/theme"
)

// Order is how the user has sorted a list: by which column, and whether the other way
// around. By no column the list is as it comes, which has one way only.
type Order struct {
	By     string `json:"Sort"`
	Turned bool   `json:",omitempty"`
}

// Sort sorts by a column; by the one that the list is sorted by already, the other way
// around.
func (o *Order) Sort(by string) { *o = Order{by, by != "" && by == o.By && !o.Turned} }

// Arrow says which way a list is sorted by a column that has the largest first, or last.
func (o Order) Arrow(th *theme.Theme, largest bool) string {
	if largest != o.Turned {
		return th.Glyph.Down
	}
	return th.Glyph.Up
}
