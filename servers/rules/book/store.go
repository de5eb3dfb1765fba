package book

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/rules"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// Store is the user's book on the disk, beside what of it the user has accepted on the deck's screen.
type Store struct {
	path  string // of the book
	state string // of what was accepted

	mu sync.Mutex

	watched atomic.Bool
	changes atomic.Uint64 // that were told of
	recent  atomic.Pointer[read]
}

// NewStore returns the book in a folder of the configuration, and of what was accepted in a folder of the state.
func NewStore(config, state string) *Store {
	return &Store{path: filepath.Join(config, "rules.toml"), state: filepath.Join(state, "rules.json")}
}

// Path is where the book is.
func (s *Store) Path() string { return s.path }

// accepted is what the user has said on the screen.
type accepted struct {
	Enabled bool     `json:"enabled"`
	Book    string   `json:"book"` // as it was then
	Paused  []string `json:"paused,omitempty"`
	// Stood are what names of scripts and targets stood for when rules were kept, by the pins of these.
	Stood map[string]string `json:"stood,omitempty"`
}

// How much is kept of what names stood for, in bytes: of one, and in all.
const (
	mostStands = 16 << 10
	mostStood  = 64 << 10
)

// keep keeps what the name in a command of a book stands for, and forgets those of rules that have gone.
func (a *accepted) keep(b *Book, c *Command) {
	all := 0
	for pin, text := range a.Stood {
		if all += len(text); !slices.ContainsFunc(b.Rules, func(r Rule) bool { return r.Command != nil && r.Command.Pin == pin }) {
			all -= len(text)
			delete(a.Stood, pin)
		}
	}
	if c == nil || c.Pin == "" || c.stands == "" || len(c.stands) > mostStands || all+len(c.stands) > mostStood {
		return
	}
	if a.Stood == nil {
		a.Stood = map[string]string{}
	}
	a.Stood[c.Pin] = c.stands
}

// Standing is what holds at a moment.
type Standing struct {
	Enabled bool // rules answer
	// Fault is why the file is not used at all; "" if it is. Edited is set if the file is another than the
	// user has accepted. Either way nothing is allowed, and what was denied or asked stays so.
	Fault  string
	Edited bool
	Listed Book // what to show: the file's rules, or if it is at fault those that were accepted
	Paused []string

	book  Book // that decides
	text  string
	stood map[string]string
}

// Answers reports whether rules answer, and all of them.
func (s *Standing) Answers() bool { return s.Enabled && !s.Edited && s.Fault == "" }

// Hash identifies the rules that decide.
func (s *Standing) Hash() string {
	h := sha256.Sum256([]byte(fmt.Sprint(s.Enabled, s.Edited, s.Fault, s.Paused, s.text)))
	return hex.EncodeToString(h[:8])
}

// Decide returns what the rules that hold say of a request.
func (s *Standing) Decide(q Request) Decision {
	d := s.book.Decide(q)
	if c := d.Changed; c != nil {
		c.Was = s.stood[c.Rule.Command.Pin]
	}
	if d.Verdict == "" && d.Why == NoRule {
		switch {
		case s.Fault != "":
			d.Why = "the book of rules is off: " + s.Fault
		case s.Edited:
			d.Why = "the book of rules was changed outside mcpdeck"
		}
	}
	return d
}

// Programs are those that the user has described, if what rules allow is to be answered.
func (s *Standing) Programs() []rules.Program {
	if !s.Answers() {
		return nil
	}
	var all []rules.Program
	for _, p := range s.Listed.Programs {
		all = append(all, rules.Program(p))
	}
	return all
}

// Now reads both files. Without a book there are no rules.
func (s *Store) Now() Standing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now()
}

func (s *Store) now() Standing {
	a, stateFault := s.read()
	out := Standing{Enabled: a.Enabled, Paused: a.Paused, stood: a.Stood}
	text, err := s.text()
	was, wasErr := Parse([]byte(a.Book))
	if wasErr != nil {
		was = &Book{}
	}
	now := &Book{}
	if err == nil {
		now, err = Parse(text)
	}
	out.text = string(text)
	switch {
	case err != nil:
		out.Fault, now = err.Error(), &Book{}
	case stateFault != nil:
		out.Fault = stateFault.Error()
	default:
		out.Edited = a.Book != string(text)
	}
	out.Listed = *now
	if err != nil {
		out.Listed = *was
	}
	for _, r := range now.Rules {
		if !slices.Contains(a.Paused, r.ID) && (r.Verdict != Allow || out.Answers()) {
			out.book.Rules = append(out.book.Rules, r)
		}
	}
	if out.Edited || out.Fault != "" { // denies stay
		for _, r := range was.Rules {
			if r.Verdict != Allow && !slices.Contains(a.Paused, r.ID) {
				out.book.Rules = append(out.book.Rules, r)
			}
		}
	}
	return out
}

// text reads the book: a plain file of the user's own that nobody else can read, in a folder that nobody else
// can write.
func (s *Store) text() ([]byte, error) {
	f, err := file.Open(s.path, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, file.ErrNotPlain):
		return nil, errors.New("it is a link, or no plain file")
	case err != nil:
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case file.OpenToOthers(info):
		return nil, errors.New("others may read or write it; run chmod 600 on it")
	case info.Size() > MostBytes:
		return nil, errTooLarge
	}
	if err := file.Folder(filepath.Dir(s.path)); err != nil {
		return nil, err
	}
	return file.Read(s.path, MostBytes)
}

// read reads what was accepted. What cannot be read is as if nothing were, and is a fault.
func (s *Store) read() (a accepted, err error) {
	b, err := file.Read(s.state, 4*MostBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &a)
	}
	if err != nil {
		return accepted{}, fmt.Errorf("read what was accepted of the rules: %w", err)
	}
	return a, nil
}

// change changes what was accepted.
func (s *Store) change(set func(*accepted) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := s.read()
	if err != nil {
		a = accepted{} // damaged; what the user says now counts
	}
	if err := set(&a); err != nil {
		return err
	}
	b, err := json.Marshal(a)
	if err != nil {
		return err
	}
	defer s.changes.Add(1)
	return file.Write(s.state, b, file.Options{})
}

// Accept takes the book as the user was shown it, and turns the rules on. It fails if the book has changed since.
func (s *Store) Accept(shown Standing) error {
	return s.change(func(a *accepted) error {
		text, err := s.text()
		if err == nil {
			_, err = Parse(text)
		}
		if err == nil && string(text) != shown.text {
			err = errors.New("it has changed meanwhile: look again")
		}
		if err != nil {
			return fmt.Errorf("the book of rules: %w", err)
		}
		a.Enabled, a.Book = true, string(text)
		return nil
	})
}

// Off has no rule answer.
func (s *Store) Off() error {
	return s.change(func(a *accepted) error {
		a.Enabled = false
		return nil
	})
}

// Pause has a rule not count, or count again.
func (s *Store) Pause(id string) error {
	return s.change(func(a *accepted) error {
		if i := slices.Index(a.Paused, id); i >= 0 {
			a.Paused = slices.Delete(a.Paused, i, i+1)
		} else {
			a.Paused = append(a.Paused, id)
		}
		return nil
	})
}

// Forget removes a rule from the book.
func (s *Store) Forget(id string) error {
	return s.edit(nil, func(text []byte) ([]byte, error) { return Without(text, id) })
}

// Keep adds a rule to the book as the user was shown it. It takes the place of one that is like it but for what it pins.
func (s *Store) Keep(r Rule) error {
	return s.edit(r.Command, func(text []byte) ([]byte, error) {
		b, err := Parse(text)
		if err == nil {
			err = r.check()
		}
		if err == nil {
			if i := slices.IndexFunc(b.Rules, func(o Rule) bool { return r.renews(&o) }); i >= 0 {
				if text, err = Without(text, b.Rules[i].ID); err == nil {
					b.Rules = slices.Delete(b.Rules, i, i+1)
				}
			}
		}
		if err == nil && slices.ContainsFunc(b.Rules, func(o Rule) bool { return o.ID == r.ID || o.Words() == r.Words() }) {
			err = errors.New("there is such a rule")
		}
		if err != nil {
			return nil, err
		}
		return With(text, r)
	})
}

// edit changes the book, in which a command may be new. One that was edited elsewhere stays one that is not accepted.
func (s *Store) edit(c *Command, do func(text []byte) ([]byte, error)) error {
	return s.change(func(a *accepted) error {
		text, err := s.text()
		if err != nil {
			return fmt.Errorf("the book of rules: %w", err)
		}
		var b *Book
		next, err := do(text)
		if err == nil {
			b, err = Parse(next)
		}
		if err == nil {
			err = file.Write(s.path, next, file.Options{Folder: true})
		}
		if err != nil {
			return fmt.Errorf("the book of rules: %w", err)
		}
		if a.Book == string(text) {
			a.Book = string(next)
		}
		a.keep(b, c)
		return nil
	})
}

// Off says that no rule answers.
const Off = "Rules are off: nothing is answered by them."

// Says says whether rules answer.
func (s *Standing) Says() string {
	switch {
	case !s.Enabled && s.Fault != "":
		return Off + " The book cannot be read: " + s.Fault + "."
	case !s.Enabled:
		return Off
	case s.Fault != "":
		return "The book of rules is off: " + s.Fault + ". Denies and asks stay."
	case s.Edited:
		return "The book of rules was changed outside the screen: nothing is allowed until you accept it there. Denies and asks stay."
	}
	return "Rules are on."
}

// State is what is the matter with a rule, in a word: "on" if nothing is.
func (s *Standing) State(r *Rule, now time.Time) string {
	switch {
	case !r.Until.IsZero() && !now.Before(r.Until):
		return "ended"
	case slices.Contains(s.Paused, r.ID):
		return "paused"
	case !s.Enabled:
		return "off"
	case r.Verdict == Allow && !s.Answers():
		return "not accepted"
	}
	return "on"
}
