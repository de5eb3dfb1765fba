package setup

import (
	"os"
	"path/filepath"
	"reflect"
)

// State is how a client stands to the deck.
type State int

// How a client can stand to the deck.
const (
	NotSetUp State = iota
	SetUp
	Differs // it has an entry mcpdeck, not the one that setup writes
	Broken  // its file cannot be read
)

// Status is one client in a Survey.
type Status struct {
	Client    string
	Installed bool   // its program, its folder or its file was found
	Path      string // of the file that has the entry, or would get it
	State     State
	Err       error // why it is Broken, or why setup cannot write there
}

// Survey tells which clients are here and which are set up, in their project's
// file or the user's. look reports whether a program is on PATH.
func Survey(e Entry, look func(program string) bool) []Status {
	var out []Status
	for _, c := range all() {
		s := c.status(e)
		if own := e; s.State == NotSetUp && c.inProject(e) {
			own.User = true
			if u := c.status(own); u.State != NotSetUp {
				s = u
			}
		}
		for _, p := range c.Programs {
			s.Installed = s.Installed || look(p)
		}
		// Of a file that lies in the home itself, the folder says nothing.
		if dir := filepath.Dir(c.User(e.Folders)[0]); dir != filepath.Clean(e.Folders.Home) {
			_, err := os.Stat(dir)
			s.Installed = s.Installed || err == nil
		}
		for _, path := range c.User(e.Folders) {
			_, err := os.Lstat(path)
			s.Installed = s.Installed || err == nil
		}
		out = append(out, s)
	}
	return out
}

// status looks at one file. An entry counts as set up whatever the user has
// changed around the command.
func (c client) status(e Entry) Status {
	s := Status{Client: c.ID}
	p, err := c.place(e)
	s.Path = p.Path()
	if err != nil { // of a link, which setup does not follow; the client may
		s.Err = err
		return s
	}
	b, err := p.Read()
	if err == nil {
		s.State, err = c.state(b, e)
	}
	if err != nil {
		s.State, s.Err = Broken, err
	}
	return s
}

func (c client) state(b []byte, e Entry) (State, error) {
	file, err := c.Grammar.Decode(b)
	if err != nil {
		return Broken, err
	}
	servers, _ := file[c.Section].(map[string]any)
	entry, ok := servers[serverName].(map[string]any)
	if !ok {
		return NotSetUp, nil
	}
	want, err := overlay(c.Grammar, map[string]any{}, place{path: []string{c.Section, serverName}}, c.members(e))
	if err != nil {
		return Broken, err
	}
	ours := want[c.Section].(map[string]any)[serverName].(map[string]any)
	for _, k := range []string{"command", "args"} {
		if !reflect.DeepEqual(entry[k], ours[k]) {
			return Differs, nil
		}
	}
	return SetUp, nil
}
