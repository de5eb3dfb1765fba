package tui

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Area is a place on a frame that the mouse acts on, in cells.
type Area struct {
	Part       string // which it is: of a page, as in Page.Part
	X, Y, W, H int
	Run        func() tea.Cmd // what a click does; nil leaves that to whoever has the areas
}

// Areas are those of the frame on screen, each over the ones before it.
type Areas []Area

// At is the area at a cell; nil when there is none. The layers to look among are
// made when somebody asks, not with each frame.
func (a Areas) At(x, y int) *Area {
	layers := make([]*lipgloss.Layer, 0, len(a))
	for i, one := range a {
		if one.W > 0 && one.H > 0 {
			empty := widget.Blank(one.W) + strings.Repeat("\n", one.H-1)
			layers = append(layers, lipgloss.NewLayer(empty).ID(strconv.Itoa(i)).X(one.X).Y(one.Y).Z(i+1))
		}
	}
	i, err := strconv.Atoi(lipgloss.NewCompositor(layers...).Hit(x, y).ID())
	if err != nil {
		return nil
	}
	return &a[i]
}

// Click does what a click at a cell does. It returns the area of a part, which does that
// itself.
func (a Areas) Click(x, y int) (part *Area, cmd tea.Cmd) {
	switch at := a.At(x, y); {
	case at == nil:
		return nil, nil
	case at.Run != nil:
		return nil, at.Run()
	default:
		return at, nil
	}
}

// Of is the area of a part; nil when it is not on the screen.
func (a Areas) Of(part string) *Area {
	for i, one := range a {
		if one.Part == part {
			return &a[i]
		}
	}
	return nil
}

// Head adds the place of a column's head, with the cells beside it, where an arrow may
// stand, if it is whole in a row of heads that is drawn at x, y.
func (a *Areas) Head(row string, x, y int, head string, run func() tea.Cmd) {
	if before, _, found := strings.Cut(ansi.Strip(row), head); found {
		*a = append(*a, Area{X: x + widget.Width(before) - 1, Y: y, W: widget.Width(head) + 2, H: 1, Run: run})
	}
}

// Count adds the place of a count, if it is whole in a rule that begins the row y.
func (a *Areas) Count(rule string, y int, count string, run func() tea.Cmd) {
	text := ansi.Strip(rule)
	if at := strings.Index(text+" ", " "+count+" "); at >= 0 && count != "" {
		*a = append(*a, Area{X: widget.Width(text[:at]) + 1, Y: y, W: widget.Width(count), H: 1, Run: run})
	}
}
