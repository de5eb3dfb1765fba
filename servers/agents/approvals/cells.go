package approvals

import (
	"cmp"
	"slices"
	"strings"
)

// Cells say what of an agent reaches the deck, and what the user can do there.
type Cells struct {
	State    Cell // of its sessions
	Prompt   Cell // permissions that its terminal asks for
	Answer   Cell // to these, in the deck
	Question Cell // of its own, answered in the deck
	Usage    Cell // tokens
	Last     Cell // what was asked and said last, and what changed
	Send     Cell // the next prompt, from the deck
	Editor   Cell // what it asks an editor that runs it
}

// InEditor is the cell of an agent that the test of agents in editors runs.
var InEditor = Measured("TestRealAgentsInEditorsAreAnsweredThereOrInTheDeck", "shared")

// Cell is what is known of one thing.
type Cell struct {
	Test     string // that runs it with the program; "" if none does
	Contract bool   // only the program's documents say that it works
	Note     string // how it works, or why it does not
}

// Measured is a cell that a test runs with the program.
func Measured(test, how string) Cell { return Cell{Test: test, Note: how} }

// Contract is a cell of which only the program's documents say that it works.
func Contract(how string) Cell { return Cell{Contract: true, Note: how} }

// Impossible is a cell of what the program does not let the deck do.
func Impossible(why string) Cell { return Cell{Note: why} }

// Works reports whether the cell is of something that the deck does.
func (c Cell) Works() bool { return c.Test != "" || c.Contract }

func (c Cell) String() string {
	switch {
	case c.Test != "":
		return cmp.Or(c.Note, "yes")
	case c.Contract:
		return strings.TrimSuffix("untested, "+c.Note, ", ")
	}
	return "no" + strings.TrimSuffix(": "+c.Note, ": ")
}

// Column is a cell with what it is about.
type Column struct {
	Name string
	Cell
}

// Columns returns the cells in their order.
func (c *Cells) Columns() []Column {
	return []Column{
		{"state", c.State},
		{"permissions", c.Prompt},
		{"answered here", c.Answer},
		{"questions", c.Question},
		{"tokens", c.Usage},
		{"conversation", c.Last},
		{"next prompt", c.Send},
		{"in an editor", c.Editor},
	}
}

// Untested reports whether no test runs the program.
func (c *Cells) Untested() bool {
	return !slices.ContainsFunc(c.Columns(), func(c Column) bool { return c.Test != "" })
}

// Shown says what reaches the deck, Answered what the user can answer there.
func (c *Cells) Shown() string {
	all := c.Columns()
	return those(all[0], all[1], all[4], all[5])
}

// Answered is described at [Cells.Shown].
func (c *Cells) Answered() string {
	return those(Column{"permissions", c.Answer}, Column{"questions", c.Question})
}

func those(all ...Column) string {
	var names []string
	for _, c := range all {
		if c.Works() {
			names = append(names, c.Name)
		}
	}
	return cmp.Or(strings.Join(names, ", "), "nothing")
}
