package tui

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// offersMost is how many files are offered: the rest is found by typing.
const offersMost = 100

// Files completes a word that begins with @ with the path of a file.
type Files struct {
	Completion

	list func() []string
	all  []string // of list, once known
	// asked tells that list was called for this word. Its answer counts only if made for
	// this folder.
	asked  bool
	folder int
}

// filesMsg is what list returned.
type filesMsg struct {
	to     *Files
	folder int
	all    []string
}

// From says where the files are: list returns their paths, and may take a while. With nil
// there are none.
func (c *Files) From(list func() []string) {
	c.Reset()
	c.list, c.all = list, nil
	c.folder++
}

// Reset closes the list, of a field that is left. The files are listed anew for the next.
func (c *Files) Reset() {
	c.Completion.Reset()
	c.asked = false
}

// Typed looks at the word before the cursor of a field that is being typed; after is told
// when it was completed.
func (c *Files) Typed(field *widget.Editor, after func() tea.Cmd) tea.Cmd {
	before := field.Before()
	word := before[strings.LastIndexFunc(before, unicode.IsSpace)+1:]
	name, is := strings.CutPrefix(word, "@")
	if !is || c.list == nil {
		c.Offer(field, after, "", nil, true)
		c.asked = false // there may be other files the next time
		return nil
	}
	c.Offer(field, after, word, matching(c.all, name), true)
	if c.asked {
		return nil
	}
	c.asked = true
	list, folder := c.list, c.folder
	return func() tea.Msg { return filesMsg{c, folder, list()} }
}

// Update takes the files when they are known.
func (c *Files) Update(msg tea.Msg) {
	m, ok := msg.(filesMsg)
	if !ok || m.to != c || m.folder != c.folder {
		return
	}
	if c.all = m.all; c.asked && c.field != nil {
		c.Typed(c.field, c.after)
	}
}

// matching are the files that a text asks for, each as the word that names it: those whose
// own name fits first, then those that lie less deep.
func matching(all []string, text string) []string {
	type hit struct {
		file         string
		score, depth int
	}
	var hits []hit
	for _, file := range all {
		score := 1
		if text != "" {
			if score = widget.Match(text, file); score == 0 {
				continue
			}
			score += 200 * min(widget.Match(text, path.Base(file)), 1)
		}
		hits = append(hits, hit{file, score, strings.Count(file, "/")})
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.depth, b.depth), cmp.Compare(a.file, b.file))
	})
	out := make([]string, min(len(hits), offersMost))
	for i := range out {
		out[i] = "@" + hits[i].file
	}
	return out
}
