package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Guide leads the user through the deck: what it says stands above the footer of every
// page. It is told what the user does, from the update loop, so it must not wait.
type Guide interface {
	// Feed brings GuideMsg.
	Feed() Feed
	// Pressed is told of each key that the user presses.
	Pressed()
	// Shown is told of the page that is on the screen.
	Shown(page string)
	// Next is told that the user wants to go on.
	Next()
}

// GuideMsg is what a Guide says.
type GuideMsg struct {
	Badge string // "demo 2/6"
	About string // what this is, where there is room for it
	Say   string // what happens
	Try   string // what to press; "" for nothing in particular
	Idle  string // what is said in place of Try, where there is room for it
	Press string // a key that is to be pressed for the user, once; "" for none
}

// guided shows what the guide says, and presses its key.
func (m *Model) guided(g GuideMsg) tea.Cmd {
	before := m.layout()
	m.guide = g
	var cmds []tea.Cmd
	if m.layout() != before {
		cmds = append(cmds, m.sized())
	}
	if g.Press != "" {
		k := keyPress(g.Press)
		m.guiding = true
		cmds = append(cmds, m.anyKey(), m.key(k, false))
		m.guiding = false
		cmds = append(cmds, m.broadcast(RestMsg{})) // nobody holds it down
	}
	return tea.Batch(cmds...)
}

// keyPress is the press of a key by its name: "enter", "alt+4", "j".
func keyPress(name string) tea.KeyPressMsg {
	var k tea.Key
	if rest, ok := strings.CutPrefix(name, "alt+"); ok {
		k.Mod, name = tea.ModAlt, rest
	}
	switch name {
	case "enter":
		k.Code = tea.KeyEnter
	case "tab":
		k.Code = tea.KeyTab
	case "esc":
		k.Code = tea.KeyEscape
	case "down":
		k.Code = tea.KeyDown
	case "right":
		k.Code = tea.KeyRight
	case "space":
		k.Code, k.Text = tea.KeySpace, " "
	default:
		k.Code = []rune(name)[0]
		if k.Mod == 0 {
			k.Text = name
		}
	}
	return tea.KeyPressMsg(k)
}
