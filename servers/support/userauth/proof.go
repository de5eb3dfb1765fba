// Package userauth decides whether a connection acts for the user, by asking for
// something that no agent is told.
//
// A process that an agent started looks like any other process of the user. It
// can leave its parents (two forks and setsid), its terminal (tmux) and its
// control group (systemd-run), so none of these identifies it. A code shown
// briefly on the deck's screen, or a passphrase kept as a slow hash, does.
package userauth

import (
	"cmp"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/notify"
)

// Method is what a connection has to show.
type Method string

// The methods. Off refuses everybody. Push is Pair, and takes also the code that was sent for
// the item to answer.
const (
	Off        Method = "off"
	Pair       Method = "pair"
	Passphrase Method = "passphrase"
	Push       Method = "push"
)

// Methods are the words for them in the configuration.
func Methods() []string { return []string{string(Off), string(Pair), string(Passphrase), string(Push)} }

const (
	codeFor     = 10 * time.Minute
	codeLetters = 8
	someWrong   = 3 // failed attempts that bring a pause
	pause       = time.Minute
	tooMany     = 10 // failed attempts that lock until the user unlocks
	keptTries   = 20
)

// Who is the process that makes an attempt.
type Who struct {
	PID     int
	Program string
	Folder  string
}

// String is for a user.
func (w Who) String() string {
	s := cmp.Or(w.Program, "a program")
	s += fmt.Sprintf(" (process %d)", w.PID)
	if w.Folder != "" {
		s += " in " + w.Folder
	}
	return s
}

// Try is one attempt, right or wrong.
type Try struct {
	At time.Time
	Who
	OK  bool
	Why string // it was refused without a secret being looked at; "" if one was
}

// Options say how a Gate decides.
type Options struct {
	Method Method
	Path   string // the file that keeps the hash of the passphrase
}

// Gate decides. Its methods may be called from any goroutine.
type Gate struct {
	opt  Options
	hint chan struct{}

	slow sync.Mutex // held while a passphrase is hashed: that takes memory

	mu     sync.Mutex
	screen bool
	code   string // valid until
	until  time.Time
	bound  map[int]string // codes that were sent, by the item that each answers
	sealed string         // the passphrase's hash; "" when none is set
	wrong  int            // failed attempts since the last right one, of those who showed a secret
	paused time.Time
	tries  []Try
	total  int
}

// New makes a Gate that refuses everybody until it is opened.
func New(o Options) *Gate { return &Gate{opt: o, hint: make(chan struct{}, 1)} }

// Open reads what is kept; an error refuses everybody until the user sets a new
// passphrase. screen tells whether the deck has a screen that can show a code.
func (g *Gate) Open(screen bool) error {
	sealed, err := "", error(nil)
	if g.opt.Method == Passphrase {
		sealed, err = readHash(g.opt.Path)
	}
	g.mu.Lock()
	g.screen, g.sealed = screen, sealed
	g.mu.Unlock()
	return err
}

// Screen tells whether the deck has a screen on which the user can decide.
func (g *Gate) Screen() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.screen
}

// State is what the screen shows of a Gate.
type State struct {
	Method Method
	Until  time.Time // of the code that is valid; zero when none is
	Set    bool      // there is a passphrase
	Locked bool
	Tries  []Try // the last ones, oldest first
	Total  int   // of all attempts
}

// State returns the current state.
func (g *Gate) State() State {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := State{Method: g.method(0), Set: g.sealed != "", Locked: g.wrong >= tooMany, Tries: slices.Clone(g.tries), Total: g.total}
	if g.valid() {
		s.Until = g.until
	}
	return s
}

// Hint returns a channel of one slot, for one reader, that receives when State
// has changed.
func (g *Gate) Hint() <-chan struct{} { return g.hint }

func (g *Gate) changed() {
	notify.Poke(g.hint)
}

func (g *Gate) valid() bool { return g.code != "" && time.Now().Before(g.until) }

// Pair makes a new code, valid once and for ten minutes, replacing any earlier
// one. It is for a key on the deck's screen. The code is kept only in memory.
func (g *Gate) Pair() string {
	code := newCode()
	g.mu.Lock()
	g.code, g.until = code, time.Now().Add(codeFor)
	g.mu.Unlock()
	g.changed()
	return readable(code)
}

func newCode() string {
	const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ" // none that look alike
	b := make([]byte, codeLetters)
	_, _ = rand.Read(b) // never fails
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	return string(b)
}

func readable(code string) string { return code[:codeLetters/2] + "-" + code[codeLetters/2:] }

// Bind returns the code that answers one item, once. It is for what sends it to the user's
// phone, and is kept only in memory.
func (g *Gate) Bind(item int) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.bound[item] == "" {
		if g.bound == nil {
			g.bound = map[int]string{}
		}
		g.bound[item] = newCode()
	}
	return readable(g.bound[item])
}

// Unbind revokes the codes of all items but those for which waits returns true.
func (g *Gate) Unbind(waits func(item int) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	maps.DeleteFunc(g.bound, func(item int, _ string) bool { return !waits(item) })
}

// Withdraw revokes the current code.
func (g *Gate) Withdraw() {
	g.mu.Lock()
	g.code = ""
	g.mu.Unlock()
	g.changed()
}

// Unlock forgets the failed attempts. It is for a key on the deck's screen.
func (g *Gate) Unlock() {
	g.mu.Lock()
	g.wrong, g.paused = 0, time.Time{}
	g.mu.Unlock()
	g.changed()
}

// Errors of a Gate that cannot be opened now.
var (
	errOff    = errors.New(`answers from a shell are off; answer in the deck, or set ask.cli_answers to "pair" or "passphrase" and restart mcpdeck`)
	errLocked = errors.New("too many failed attempts: unlock in the deck, with its command \"let a shell answer\" (:)")
	errWrong  = errors.New("wrong")
)

// Ready returns what a connection has to show, or the reason why no proof can
// be accepted now.
func (g *Gate) Ready() (Method, error) { return g.ReadyFor(0) }

// ReadyFor is Ready for a connection that is to answer one item and nothing else.
func (g *Gate) ReadyFor(item int) (Method, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	m := g.method(item)
	return m, g.ready(m)
}

// method is what has to be shown for an item; 0 stands for all that the user may do.
func (g *Gate) method(item int) Method {
	if g.opt.Method == Push && g.bound[item] == "" {
		return Pair
	}
	return g.opt.Method
}

func (g *Gate) ready(m Method) error {
	wait := time.Until(g.paused)
	switch {
	case m == Pair && !g.screen:
		return errors.New(`this deck has no screen to show a pairing code on; answer elsewhere, or set ask.cli_answers to "passphrase"`)
	case m == Pair && g.wrong < tooMany && !g.valid():
		return errors.New("no pairing code is valid: show one in the deck, with its command \"let a shell answer\" (:), then try again")
	case m == Passphrase && g.sealed == "":
		return errors.New("no passphrase is set: set one in the deck, with its command \"let a shell answer\" (:)")
	case m != Pair && m != Passphrase && m != Push:
		return errOff
	case g.wrong >= tooMany:
		return errLocked
	case wait > 0:
		return fmt.Errorf("too many failed attempts: wait %d s", int(wait.Seconds())+1)
	}
	return nil
}

// Try checks the secret that a connection shows. The error does not reveal how
// close a wrong secret was.
func (g *Gate) Try(who Who, secret string) error { return g.TryFor(who, 0, secret) }

// TryFor is Try for a connection that is to answer one item and nothing else.
func (g *Gate) TryFor(who Who, item int, secret string) error {
	g.slow.Lock() // one at a time, so that nobody gets ahead of the count
	defer g.slow.Unlock()
	g.mu.Lock()
	m := g.method(item)
	err, code, sealed := g.ready(m), g.code, g.sealed
	if m == Push {
		code = g.bound[item]
	}
	g.mu.Unlock()
	if err != nil {
		g.Refused(who, err)
		return err
	}
	ok := false
	if m != Passphrase {
		ok = subtle.ConstantTimeCompare([]byte(tidy(secret)), []byte(code)) == 1
	} else {
		ok = matches(sealed, secret)
	}
	return g.record(who, item, ok)
}

// record counts an attempt, and returns the error that a wrong one gets.
func (g *Gate) record(who Who, item int, ok bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	defer g.changed()
	g.keep(Try{At: time.Now(), Who: who, OK: ok})
	if ok {
		if g.wrong = 0; g.bound[item] != "" {
			delete(g.bound, item)
		} else {
			g.code = ""
		}
		return nil
	}
	if g.wrong++; g.wrong%someWrong == 0 {
		g.paused = time.Now().Add(pause)
	}
	if g.wrong >= tooMany {
		g.code = ""
		clear(g.bound)
		return errLocked
	}
	if g.opt.Method != Passphrase {
		return fmt.Errorf("that is the %w code", errWrong)
	}
	return fmt.Errorf("that is the %w passphrase", errWrong)
}

// sameAfter is how long the same refusal of the same program counts as one.
const sameAfter = 10 * time.Second

// Refused notes that someone wanted to act for the user and was refused, whatever they would
// have shown. It is no failed attempt: nothing was guessed.
func (g *Gate) Refused(who Who, why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := Try{At: time.Now(), Who: who}
	t.Why, _, _ = strings.Cut(why.Error(), ": wait ") // which says how long
	for i := len(g.tries) - 1; i >= 0 && t.At.Sub(g.tries[i].At) < sameAfter; i-- {
		if old := &g.tries[i]; old.Why == t.Why && old.Program == who.Program && old.Folder == who.Folder {
			return // a program that goes on trying must not push out the others
		}
	}
	g.keep(t)
	g.changed()
}

// keep adds to what the screen shows.
func (g *Gate) keep(t Try) {
	g.total++
	g.tries = append(g.tries, t)
	g.tries = g.tries[max(0, len(g.tries)-keptTries):]
}

// tidy takes a code however it is typed.
func tidy(code string) string {
	return strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(strings.TrimSpace(code)))
}
