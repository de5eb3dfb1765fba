package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// take is one run of mcpdeck, of which pictures and recordings are made.
type take struct {
	cols, rows int
	cell       [2]int // size in pixels
	args       []string
	steps      []step
}

// step is one thing that a take does; makes is what comes of it, if anything does.
type step struct {
	makes string
	do    func(*camera) error
}

func waits(text string) step {
	return step{do: func(c *camera) error { return c.waits(text, patience) }}
}

// waits waits until a text is on the screen.
func (c *camera) waits(text string, limit time.Duration) error {
	if _, err := c.term.Until(limit, func(screen string) bool { return strings.Contains(screen, text) }); err != nil {
		return fmt.Errorf("wait for %q: %w", text, err)
	}
	return nil
}

func presses(keys string) step {
	return step{do: func(c *camera) error { return c.term.Press(keys) }}
}

// gets presses keys until a text is on the screen, as a user does who has read what is there:
// a key right after a question appeared decides nothing, and one that was pressed in vain
// does not until it has rested.
func gets(keys, text string) step {
	return step{do: func(c *camera) error {
		const tries, reads, rests = 10, time.Second, 3 * time.Second
		for range tries {
			time.Sleep(reads)
			if err := c.term.Press(keys); err != nil {
				return err
			}
			c.term.Settle()
			if c.waits(text, rests) == nil {
				return nil
			}
		}
		return c.waits(text, patience)
	}}
}

func pauses(d time.Duration) step {
	return step{do: func(c *camera) error { time.Sleep(d); return nil }}
}

// still makes a picture of the screen without the rows of the demo's guide.
func still(name string) step {
	return step{name, func(c *camera) error { c.term.Settle(); return c.still(name) }}
}

// rolls begins a recording, of a screen that is drawn; cuts ends it.
func rolls() step { return step{do: func(c *camera) error { c.term.Settle(); c.roll(); return nil }} }

func cuts(name string) step { return step{name, func(c *camera) error { return c.cut(name) }} }

// next goes on with the demo.
const next = "ctrl+n"

// takes is everything that mcpdeck is shown in.
func takes() []take {
	demo := func(pace string) []string { return []string{"demo", "--background", "dark", "--pace", pace} }
	return []take{
		{
			cols: 110, rows: 36, cell: [2]int{10, 20}, args: demo("1h"),
			steps: []step{
				waits("This is the Inbox"), waits("Working 3"), pauses(4 * time.Second), presses(next),
				waits("codex asks you"), waits("OAuth 2.1"), still("ask.png"),
				gets("1", "Which database"), gets("2", "enter sends these answers"), gets("enter", "codex has your answers"), presses(next),
				waits("opencode has drawn"), presses("alt+p"), waits("potion"), still("pixels.png"), presses(next),
				waits("has failed"), presses("alt+c"), waits("docs/payments"), still("calls.png"), presses(next),
				waits("edit breaks"), presses("alt+d"), waits("prop removed"), still("drift.png"), presses(next),
				waits("All three"), waits("Needs you 3"), presses("g"), waits("claude · shop · allow?"), pauses(6 * time.Second), still("permission.png"),
				presses("alt+a"), waits("needs you"), still("agents.png"),
				presses("alt+s"), waits("LogicStamp"), presses("G"), presses("k"), waits("haunt_desktop"), still("clippy.png"),
			},
		},
		{
			cols: 90, rows: 26, cell: [2]int{8, 16}, args: demo("2s"),
			steps: []step{
				waits("Working 3"), rolls(), waits("That was the deck"), cuts("demo.gif"),
			},
		},
		{
			cols: 100, rows: 28, cell: [2]int{8, 16}, args: demo("1h"),
			steps: []step{
				waits("This is the Inbox"), waits("Working 3"), pauses(4 * time.Second), presses(next),
				waits("codex asks you"), rolls(), waits("OAuth 2.1"), pauses(2 * time.Second), presses("enter"), pauses(time.Second), presses("down"), pauses(time.Second), presses("up"), pauses(time.Second),
				gets("1", "Which database"), gets("2", "enter sends these answers"), gets("enter", "codex has your answers"),
				pauses(time.Second), cuts("ask.gif"), presses(next),
				waits("opencode has drawn"), rolls(), presses("alt+p"), waits("potion"), pauses(time.Second), presses("j"), pauses(time.Second), presses("j"),
				pauses(time.Second), presses("j"), pauses(time.Second), presses("j"), pauses(time.Second), presses("enter"), pauses(time.Second), presses("right"), pauses(time.Second), presses("down"), pauses(time.Second), cuts("pixels.gif"), presses(next),
				waits("has failed"), presses("alt+c"), waits("directory does not"), presses(next),
				waits("edit breaks"), rolls(), pauses(time.Second), presses("alt+d"), waits("prop removed"), pauses(2 * time.Second), presses("l"), pauses(time.Second),
				presses("tab"), pauses(time.Second), cuts("drift.gif"), presses(next),
				waits("All three"), waits("Needs you 3"), presses("g"), waits("claude · shop · allow?"), rolls(), pauses(3 * time.Second),
				gets("y", "codex · payments · allow?"), pauses(time.Second), gets("n", "opencode · menu · allow?"), pauses(time.Second),
				gets("n", "All three have your decisions"), pauses(2 * time.Second), cuts("inbox.gif"),
				presses(next), waits("somebody else's"), rolls(), presses("alt+s"), waits("Weather"), pauses(time.Second), presses("G"), pauses(time.Second),
				gets("space", "Turn on weather?"), pauses(2 * time.Second), gets("y", "claude got its tools"), pauses(time.Second), cuts("servers.gif"),
			},
		},
	}
}

// names are all that the takes make.
func names() (all []string) {
	for _, t := range takes() {
		for _, s := range t.steps {
			if s.makes != "" {
				all = append(all, s.makes)
			}
		}
	}
	return append(all, examplesName)
}

func (t take) makesAny(wanted map[string]bool) bool {
	return slices.ContainsFunc(t.steps, func(s step) bool { return wanted[s.makes] })
}

func (t take) String() string { return fmt.Sprintf("mcpdeck %v in %d×%d", t.args, t.cols, t.rows) }
