package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

// PromptNames are the clients whose prompts the deck can show.
func PromptNames() []string {
	return clients.IDs(func(c clients.Client) bool { return c.Prompts != nil })
}

// Prompter is what a client's program runs to reach the deck with its prompts.
type Prompter struct {
	Hook    []string // the command of a hook, without the ID of the agent's program: absolute
	Options []string // by which it finds the deck; none for the default one
	Socket  string   // of the deck, absolute; "" for the default one
	Root    string   // project folder
	Project bool     // the project's file instead of the user's own
	Apart   bool     // the way of the sessions that the deck does not reach by itself
	Signals bool     // also hooks that only tell what was answered elsewhere
	Denied  bool     // also the hook that tells what the program has refused by itself
	State   string   // folder that records what UndoPrompts needs
	Folders clients.Folders
	// Version returns that of a client's program, "" if it is unknown; nil: all are.
	Version func(clients.Client) string
}

// plugin is the file that is all the deck's, by which a client's prompts reach it.
func (p Prompter) plugin(c clients.Client) *approvals.Plugin {
	a := agents.Of(c.ID)
	switch known, _ := clients.Find(c.ID); {
	case p.Apart:
		return a.Apart
	case a.Next != nil && c.Prompts == known.Prompts.Next:
		return a.Next.Plugin
	}
	return a.Plugin
}

// command is the hook's, as a shell reads it.
func (p Prompter) command(c clients.Client) string {
	return commandLine(shellOf(c, runtime.GOOS), slices.Concat(p.Hook, []string{c.ID}, p.Options))
}

// shellOf is what reads the command of a client's hooks on a system.
func shellOf(c clients.Client, system string) clients.Shell {
	if system == "windows" && c.Prompts != nil {
		return c.Prompts.Windows
	}
	return clients.Sh
}

// hook is the command as a client's settings get it.
func (p Prompter) hook(c clients.Client) string {
	if p.Project && c.Prompts.Guarded {
		return shellOf(c, runtime.GOOS).Guard(p.command(c))
	}
	return p.command(c)
}

// commandLine is a command as a shell reads it.
func commandLine(shell clients.Shell, words []string) string {
	line := make([]string, len(words))
	for i, w := range words {
		if shell == clients.GitBash { // which takes a backslash for a sign of its own
			w = strings.ReplaceAll(w, `\`, "/")
		}
		line[i] = Quoted(shell, w)
	}
	if shell == clients.PowerShell && line[0] != words[0] {
		line[0] = "& " + line[0] // else it is a text
	}
	return strings.Join(line, " ")
}

// Quoted is a word as a shell reads it.
func Quoted(shell clients.Shell, word string) string {
	plain := "/._-+:="
	switch shell {
	case clients.Sh, clients.GitBash:
		plain += "@%,"
	case clients.Cmd, clients.PowerShell:
		plain += `\`
	}
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(plain, r)
	}
	switch {
	case word != "" && strings.IndexFunc(word, func(r rune) bool { return !safe(r) }) < 0:
		return word
	case shell == clients.Cmd:
		return `"` + word + `"` // no path has a quotation mark
	case shell == clients.PowerShell:
		return "'" + strings.ReplaceAll(word, "'", "''") + "'"
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func (p Prompter) place(c clients.Client) (change.Place, error) {
	if p.Project {
		return change.InProject(p.Root, filepath.FromSlash(c.Prompts.Project))
	}
	return change.OfUser(c.Prompts.User(p.Folders))
}

// way is that of the version of a client's program that is installed.
func (p Prompter) way(c clients.Client) *clients.Prompts {
	if c.Prompts.Next == nil || p.Version == nil {
		return c.Prompts
	}
	return c.Prompts.Of(p.Version(c))
}

// promptsOf finds a client, with the way of its prompts that is to be set up.
func promptsOf(name string, p Prompter) (clients.Client, error) {
	c, ok := clients.Find(name)
	switch {
	case !ok || c.Prompts == nil:
		return c, fmt.Errorf("set up the prompts of %q: unknown client (known: %s)", name, strings.Join(PromptNames(), ", "))
	case p.Apart && c.Prompts.Apart == nil:
		return c, fmt.Errorf("set up hooks of %s: all its sessions are set up without --hooks", c.ID)
	case p.Signals && len(c.Prompts.Signals) == 0:
		return c, fmt.Errorf("set up signals of %s: it needs none", c.ID)
	case p.Denied && c.Prompts.Denied.Event == "":
		return c, fmt.Errorf("set up what %s denies: it does not tell", c.ID)
	case p.Apart:
		c.Prompts = c.Prompts.Apart
	case c.Prompts.Next != nil:
		c.Prompts = p.way(c)
	case p.Signals || p.Denied:
		all := *c.Prompts
		if p.Signals {
			all.Hooks = slices.Concat(all.Hooks, all.Signals)
		}
		if p.Denied {
			all.Hooks = append(slices.Clip(all.Hooks), all.Denied)
		}
		c.Prompts = &all
	}
	return c, nil
}

// Words are those of the command that sets up a client's prompts, without the program.
func (p Prompter) Words(client string) string {
	words := "setup " + client + " --prompts"
	if p.Apart {
		words += " --hooks"
	}
	if p.Signals {
		words += " --signals hooks"
	}
	if p.Denied {
		words += " --denied"
	}
	return words
}

// locatePrompts finds the file by which a client's prompts reach the deck, and what is in
// it; nil: there is no file.
func locatePrompts(c clients.Client, p Prompter) (at change.Place, now []byte, err error) {
	if at, err = p.place(c); err == nil {
		now, err = at.Read()
	}
	if err != nil {
		return at, nil, fmt.Errorf("read the settings of %s: %w", c.ID, err)
	}
	return at, now, nil
}

// PlanPrompts works out the change by which a client's prompts reach the deck. nil: the
// client needs none.
func PlanPrompts(name string, p Prompter) (*Change, error) {
	c, err := promptsOf(name, p)
	if err != nil || c.Prompts.User == nil {
		return nil, err
	}
	at, before, err := locatePrompts(c, p)
	if err != nil {
		return nil, err
	}
	out := &Change{Path: at.Path(), Says: c.Prompts.Consent, what: p.Words(c.ID), state: p.State, edit: change.Edit{Place: at, Before: before}}
	if c.Prompts.Hooks == nil {
		plugin := p.plugin(c)
		if _, ours := plugin.Own(before); before != nil && !ours {
			return nil, fmt.Errorf("write %s: it is not as mcpdeck wrote it; move it away first", at.Path())
		}
		out.again = func([]byte) ([]byte, error) { return plugin.File(p.Socket, p.command(c)), nil }
	} else {
		out.again = hooksOf(c, p.hook(c)).add
	}
	if out.edit.After, err = out.again(before); err != nil {
		return nil, fmt.Errorf("edit %s: %w", at.Path(), err)
	}
	if out.also, err = p.need(c); err != nil {
		return nil, err
	}
	if out.also == nil {
		if out.also, err = p.other(c); err != nil {
			return nil, err
		}
	}
	if c.Prompts.Hooks != nil {
		for _, off := range disabled(c, out.edit.After) {
			out.note(fmt.Sprintf("%s is set there, so %s does not run these hooks.", off, c.Title))
		}
	}
	if len(out.Notes) == 0 { // else it has no effect yet
		out.note(c.Prompts.Note)
	}
	if c.Prompts.Review != "" {
		out.note(c.Prompts.Review)
		for _, e := range c.Prompts.Hooks {
			out.note("  Event     " + e.Event)
			out.note("  Command   " + p.hook(c))
		}
	}
	if p.Project {
		out.note(c.Prompts.ProjectNote)
	}
	return out, nil
}

// need works out the change of the setting that a client's prompts need; nil: there is none, or it
// is as it has to be.
func (p Prompter) need(c clients.Client) (*Change, error) {
	need := c.Prompts.Needs
	if need == nil {
		return nil, nil
	}
	at, err := change.OfUser(need.File(p.Folders))
	if err != nil {
		return nil, fmt.Errorf("find the settings of %s: %w", c.ID, err)
	}
	out := &Change{Path: at.Path(), Does: need.Does, edit: change.Edit{Place: at}}
	out.again = func(before []byte) ([]byte, error) {
		return Replace(clients.JSONC, before, nil, nil, []clients.Member{{Key: need.Key, Value: true}})
	}
	if out.edit.Before, err = at.Read(); err == nil {
		out.edit.After, err = out.again(out.edit.Before)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("edit %s: %w", at.Path(), err)
	case out.edit.Same():
		return nil, nil
	}
	return out, nil
}

// other works out the removal of the file of the other versions of a client's program; nil: there
// is none, or it is not as mcpdeck wrote it.
func (p Prompter) other(c clients.Client) (*Change, error) {
	known, _ := clients.Find(c.ID)
	if known.Prompts.Next == nil || p.Apart {
		return nil, nil
	}
	if known.Prompts == c.Prompts {
		known.Prompts = known.Prompts.Next
	}
	at, now, err := locatePrompts(known, p)
	if err != nil || now == nil {
		return nil, err
	}
	if _, ours := p.plugin(known).Own(now); !ours {
		return nil, nil
	}
	return &Change{
		Path: at.Path(), Does: "removes the plugin for other versions of " + c.Title, edit: change.Edit{Place: at, Before: now},
		again: func([]byte) ([]byte, error) { return nil, nil },
	}, nil
}

// disabled are the settings that keep hooks from running.
func disabled(c clients.Client, settings []byte) []string {
	file, err := c.Prompts.Grammar.Decode(settings)
	if err != nil {
		return nil
	}
	var out []string
	for _, key := range c.Prompts.Disabled {
		if file[key] == true {
			out = append(out, key)
		}
	}
	return out
}

// UndoPrompts works out how to take back what PlanPrompts planned: byte for byte, or, if
// the file has changed since, the deck's hooks alone.
func UndoPrompts(name string, p Prompter) (*change.Undo, error) {
	c, err := promptsOf(name, p)
	if err != nil {
		return nil, err
	}
	if c.Prompts.User == nil {
		return nil, fmt.Errorf("undo the setup of %s: its prompts need none", c.ID)
	}
	at, now, err := locatePrompts(c, p)
	if err != nil {
		return nil, err
	}
	fail := func(err error) (*change.Undo, error) {
		return nil, fmt.Errorf("undo the change of %s: %w", at.Path(), err)
	}
	if now == nil {
		return fail(errors.New("there is no such file"))
	}
	j := journal(p.State)
	entry, err := last(j, p.Words(c.ID), at.Path())
	if err != nil {
		return nil, err
	}
	if entry == nil {
		entry = &change.Entry{}
	}
	undo, err := j.Plan(*entry)
	if err == nil && len(undo.Files) > 0 && undo.Exact() {
		return undo, nil
	}
	if c.Prompts.Hooks == nil {
		if err == nil && slices.ContainsFunc(undo.Files, func(r change.Restored) bool { return r.Path == at.Path() && r.Exact }) {
			return undo, nil // with the setting that it needed, whatever else is in that file
		}
		if _, ours := p.plugin(c).Own(now); !ours {
			return fail(errors.New("it is not as mcpdeck wrote it; remove it by hand"))
		}
		return j.Instead(*entry, at, now, nil), nil
	}
	h := hooksOf(c, p.hook(c))
	after, removeErr := h.remove(now)
	if removeErr != nil {
		return fail(removeErr)
	}
	switch {
	case bytes.Equal(after, now):
		return fail(errors.New("it has no hooks of mcpdeck, so there is nothing to undo"))
	case err == nil && len(undo.Files) == 1 && h.same(undo.Files[0].New, after):
		return undo, nil // with the white space that was there before
	}
	return j.Instead(*entry, at, now, after), nil
}

// PromptStatus is how a client's prompts stand to the deck.
type PromptStatus struct {
	Client  clients.Client
	Apart   bool   // it is about the sessions that the deck does not reach by itself, too
	Project bool   // it is the project's file
	Path    string // of the file; "" if none is needed
	State   State
	Err     error    // why it is Broken
	Missing []string // programs that its hooks name and that are gone
	Off     []string // settings that keep its hooks from running
}

// SurveyPrompts tells of every client whether its prompts reach the deck, by the
// project's file or the user's.
func SurveyPrompts(p Prompter) []PromptStatus {
	var out []PromptStatus
	for _, name := range PromptNames() {
		c, _ := clients.Find(name)
		c.Prompts = p.way(c)
		s := promptStatus(c, p)
		if own := p; s.State == NotSetUp && p.Root != "" && c.Prompts.Project != "" && !p.Project {
			own.Project = true
			if inProject := promptStatus(c, own); inProject.State == SetUp || inProject.State == Differs {
				s, s.Project = inProject, true
			}
		}
		out = append(out, s)
	}
	return out
}

func promptStatus(c clients.Client, p Prompter) PromptStatus {
	s := PromptStatus{Client: c}
	if p.Apart = false; c.Prompts.User == nil {
		s.State = SetUp
	} else {
		s = fileStatus(c, p)
	}
	if apart := c.Prompts.Apart; apart != nil && (s.State == NotSetUp || c.Prompts.User == nil) {
		c.Prompts, p.Apart = apart, true
		if other := fileStatus(c, p); other.State != NotSetUp {
			other.Client, other.Apart = s.Client, true
			return other
		}
	}
	return s
}

// fileStatus is how the file of one way stands.
func fileStatus(c clients.Client, p Prompter) PromptStatus {
	s := PromptStatus{Client: c}
	at, now, err := locatePrompts(c, p)
	s.Path = at.Path()
	if err != nil {
		s.State, s.Err = Broken, err
		return s
	}
	if c.Prompts.Hooks == nil {
		_, ours := p.plugin(c).Own(now)
		switch {
		case bytes.Equal(now, p.plugin(c).File(p.Socket, p.command(c))):
			s.State = SetUp
			if need, err := p.need(c); need != nil || err != nil {
				s.State = Differs
			}
		case ours:
			s.State = Differs
		case now != nil:
			s.State, s.Err = Broken, errors.New("it is not as mcpdeck wrote it")
		}
		return s
	}
	file, err := c.Prompts.Grammar.Decode(now)
	if err != nil {
		s.State, s.Err = Broken, err
		return s
	}
	h := hooksOf(c, p.hook(c))
	var commands []string
	s.State, commands = h.state(file)
	for _, command := range commands {
		program := programOf(command)
		if _, err := os.Stat(program); filepath.IsAbs(program) && errors.Is(err, fs.ErrNotExist) {
			s.Missing = append(s.Missing, program)
		}
	}
	if s.State != NotSetUp {
		s.Off = disabled(c, now)
	}
	return s
}

// programOf is the program that a hook's command starts.
func programOf(command string) string {
	command = clients.Bare(command)
	for _, q := range []string{"'", `"`} {
		if inner, ok := strings.CutPrefix(command, q); ok {
			program, _, _ := strings.Cut(inner, q)
			return program
		}
	}
	program, _, _ := strings.Cut(command, " ")
	return program
}
