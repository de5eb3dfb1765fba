package tui

import (
	"slices"

	"github.com/mcpdeck/mcpdeck/theme"
)

// Sorting is a way to sort a list.
type Sorting[T any] struct {
	Column  string           // "" is as the list comes
	Means   string           // in words, after "Sort by"
	Compare func(a, b T) int // nil: as the list comes
	Down    bool             // the largest first
}

// SortingBy is the one of all that sorts by a column; nil when there is none.
func SortingBy[T any](all []Sorting[T], column string) *Sorting[T] {
	if i := slices.IndexFunc(all, func(s Sorting[T]) bool { return s.Column == column }); i >= 0 {
		return &all[i]
	}
	return nil
}

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

// Sort puts rows into an order, of which all are the ways.
func Sort[T any](rows []T, all []Sorting[T], o Order) {
	if by := SortingBy(all, o.By); by.Compare != nil {
		slices.SortStableFunc(rows, by.Compare)
	}
	if o.Turned {
		slices.Reverse(rows)
	}
}
