// Package rules reads what a shell command may do before it runs: which programs it starts, what they
// read, write, delete and reach, and what of it cannot be known. It decides nothing and runs nothing.
//
// A program is a row of a table, programs.txt. What is not in the table, or not understood, is [Opaque]:
// a reading may say more than a command does, never less.
package rules

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Effect is what a command may do.
type Effect string

// The effects, the worst first.
const (
	Opaque   Effect = "opaque"    // not known: a program, an option, a text or a language that is not understood
	Priv     Effect = "priv"      // has other rights than its user: sudo, mounts, services
	Secret   Effect = "secret"    // reads keys, tokens or the environment
	Guard    Effect = "guard"     // writes what gives power later: hooks, settings of agents, start files of shells
	Delete   Effect = "delete"    // removes files, branches or work
	WriteOut Effect = "write-out" // writes outside the project
	Net      Effect = "net"       // reaches the network
	Code     Effect = "code"      // runs code of the project
	WriteIn  Effect = "write-in"  // writes in the project
	ReadOut  Effect = "read-out"  // reads outside the project
	Reads    Effect = "read"      // reads in the project
)

// ranked are all effects, the worst first.
func ranked() []Effect {
	return []Effect{Opaque, Priv, Secret, Guard, Delete, WriteOut, Net, Code, WriteIn, ReadOut, Reads}
}

// Place is where a command runs.
type Place struct {
	Shell string // "bash", "sh" or "zsh"; "" is bash
	Cwd   string // absolute; "" is not known
	Root  string // of the project; "" if there is none
	Home  string // of the user
	// Planted is set if a folder from Cwd up to Root may be a repository that is not the project's.
	Planted bool
	// Link returns where a symbolic link leads; ok is false for what is none. Nil: there are none.
	Link func(path string) (target string, ok bool)
	// Shared reports whether a file has other names, by hard links. Nil: none has.
	Shared func(path string) bool
	// Find returns where a program is that is called by its name alone; "" is nowhere, or where others may
	// write. Nil: all are where they are thought to be.
	Find func(name string) (path string)
	// Aliases are those of the shell, with what they stand for; functions are such with "" for it.
	Aliases map[string]string
	// Programs are such that the table does not have, in the words of their user.
	Programs []Program
}

// Program is what a user says of a program. It never takes the place of one of the table.
type Program struct {
	Name    string
	Sub     []string // its subcommands that are known; none: it has none
	Options []string // that are known, without a value
	Effects []Effect
}

// Fact is one thing that a segment may do.
type Fact struct {
	Effect Effect `json:"effect"`
	What   string `json:"what"` // the path, the host, the program
	At     string `json:"-"`    // the path, absolute and with its links followed, also of a file that is run; "" if it is of none that is known
}

// String says a fact in words.
func (f Fact) String() string {
	said := map[Effect]string{
		Opaque: "not worked out: ", Priv: "has other rights: ", Secret: "reads what may be secret: ",
		Guard: "changes what may run later: ", Delete: "deletes ", WriteOut: "writes outside the project: ",
		Net: "reaches the network: ", Code: "runs code of the project: ", WriteIn: "writes ", ReadOut: "reads outside the project: ", Reads: "reads ",
	}
	return said[f.Effect] + f.What
}

// Segment is one simple command of a command line.
type Segment struct {
	Text  string `json:"text"`
	Facts []Fact `json:"facts,omitempty"` // what it may do; none: it only prints or compares texts
	// Name is what the table calls what it runs, such as "go test"; "" if it does not have it.
	Name string `json:"-"`
	// Words are those of the program that runs, the first its name. One that is only known when it runs is empty.
	Words []string `json:"-"`
	// Told are those of the words after Name that are neither options nor their values, but all that follow one that is
	// a program. Runs is what the table calls that.
	Told []string `json:"-"`
	Runs string   `json:"-"`
	// In is the folder in which it runs; "" if that is not certain.
	In string `json:"-"`
}

// Reading is what a command may do.
type Reading struct {
	// Text is the command, and Cwd the folder in which it begins; "" if that is not known.
	Text     string    `json:"-"`
	Cwd      string    `json:"-"`
	Outside  bool      `json:"-"` // it begins outside the project
	Segments []Segment `json:"segments"`
	// Rest is what the command may do by itself, such as its redirections.
	Rest []Fact `json:"rest,omitempty"`
	// Programs are the names of all programs that it starts, and of functions. One that is only known when it runs is empty.
	Programs []string `json:"-"`
	// Downloads is set if something runs that the command gets from the network.
	Downloads bool `json:"downloads,omitempty"`
}

// Facts returns all facts, the worst first, each once.
func (r *Reading) Facts() []Fact {
	all := slices.Clone(r.Rest)
	for _, s := range r.Segments {
		all = append(all, s.Facts...)
	}
	order := ranked()
	var out []Fact
	for _, e := range order {
		for _, f := range all {
			if f.Effect == e && !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out
}

// Effects returns the effects, the worst first. A command that does nothing else reads.
func (r *Reading) Effects() []Effect {
	var out []Effect
	for _, f := range r.Facts() {
		if f.Effect != Reads && !slices.Contains(out, f.Effect) {
			out = append(out, f.Effect)
		}
	}
	if out == nil {
		out = []Effect{Reads}
	}
	return out
}

// Class is how far a rule may go with a command: "starter" for one that only reads in the project,
// "rule" for one that a rule of the user may allow, "never" for one that is always asked.
func (r *Reading) Class() string {
	e := r.Effects()
	switch {
	case slices.Contains([]Effect{Opaque, Priv, Secret, Guard}, e[0]):
		return "never"
	case e[0] == Reads:
		return "starter"
	}
	return "rule"
}

// Notable returns what the user should know before the command runs, in a few words each: first what
// leaves the project or gives power, then what else is worth a look. What stays in the project is neither.
func (r *Reading) Notable() (marks, notes []string) {
	if r.Downloads {
		marks = append(marks, "runs what it downloads")
	}
	for _, e := range []Effect{Priv, Secret, Guard, WriteOut, ReadOut} {
		marks = append(marks, r.said(e)...)
	}
	for _, e := range []Effect{Delete, Net, Opaque} {
		if e != Opaque || !r.Downloads {
			notes = append(notes, r.said(e)...)
		}
	}
	return marks, notes
}

// said says all facts of an effect in one sentence, but what a worse one says of the same.
func (r *Reading) said(e Effect) []string {
	var what []string
	all := r.Facts()
	for _, f := range all {
		worse := slices.ContainsFunc(all, func(o Fact) bool {
			return o.What == f.What && (o.Effect == Secret || o.Effect == Guard || o.Effect == WriteOut) && e == ReadOut
		})
		if f.Effect == e && !worse {
			what = append(what, f.What)
		}
	}
	const most = 3
	if n := len(what); n > most {
		what = append(what[:most], fmt.Sprintf("%d more", n-most))
	}
	if len(what) == 0 {
		return nil
	}
	return []string{Fact{Effect: e, What: strings.Join(what, ", ")}.String()}
}

// Read reads a command. It looks at nothing but its arguments, and at links by in.Link.
func Read(text string, in Place) *Reading {
	r := reading(in)
	r.out.Text, r.out.Cwd = text, clean(in.Cwd)
	r.bounded(func() { r.inShell(r.Shell, text) })
	return r.out
}

// reading begins to read what is done in a place.
func reading(in Place) *reader {
	in.Shell = cmp.Or(in.Shell, "bash")
	in.Home = clean(in.Home)
	if in.Root = clean(in.Root); in.Root == "/" || in.Home != "" && within(in.Root, in.Home) {
		in.Root = "" // the home is no project, nor is what contains it
	}
	r := &reader{Place: in, out: &Reading{Segments: []Segment{}}, funcs: map[string][]body{}, vars: map[string][]value{}, links: map[string]bool{}, at: -1, budget: mostWork}
	if r.cwds = []string{anywhere}; clean(in.Cwd) != "" {
		r.cwds[0] = clean(in.Cwd)
	}
	r.out.Outside = strays(r)
	r.moved = r.out.Outside || in.Planted
	return r
}

// bounded reads until it is too much.
func (r *reader) bounded(read func()) {
	defer func() {
		switch p := recover(); p.(type) {
		case nil:
		case tooMuch:
			r.out.Rest = append(r.out.Rest, Fact{Effect: Opaque, What: "a command that is too long or too deep"})
		default:
			panic(p)
		}
	}()
	read()
}

// clean is an absolute path in its shortest form, "" for any other.
func clean(p string) string {
	if !path.IsAbs(p) {
		return ""
	}
	return path.Clean(p)
}

// within reports whether a clean path is a folder or below it.
func within(folder, p string) bool {
	return folder != "" && (p == folder || strings.HasPrefix(p, strings.TrimSuffix(folder, "/")+"/"))
}
