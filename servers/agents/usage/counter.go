package usage

import (
	"cmp"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/record"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Options say where to look.
type Options struct {
	// Programs are agents' programs by their IDs in the table of clients.
	Programs map[string]Program
	// Prices returns the table in use; nil, or a nil table: no cost is known.
	Prices func() *Prices
	// State is the folder that keeps what was counted, so that no run reads a file twice;
	// "" keeps nothing.
	State string
	// Redact says how secrets are removed from what a session recorded.
	Redact redact.Rules
}

// Program is an agent's program whose conversations are read.
type Program struct {
	Folder string // of its own files, absolute
	Format *Format
}

// Counter counts what sessions use. It must not be used by two goroutines at once.
type Counter struct {
	opts     Options
	prices   *Prices
	sessions map[key]*session
	reading  reading
}

type key struct{ agent, id string }

// New makes a Counter.
func New(o Options) *Counter {
	if o.Prices == nil {
		o.Prices = func() *Prices { return nil }
	}
	return &Counter{opts: o, prices: o.Prices(), sessions: map[key]*session{}, reading: reading{first: firstRead, growth: mostGrowth, past: pastRead, run: pastRun, left: pastRead, began: time.Now()}}
}

// Reprice takes another table of prices if one is in use, and tells whether that is so: what
// each session cost is to be looked up again.
func (c *Counter) Reprice() bool {
	now := c.opts.Prices()
	if now == c.prices {
		return false
	}
	c.prices = now
	for _, s := range c.sessions {
		c.price(s)
	}
	return true
}

// session is what is known of one. What is exported is kept.
type session struct {
	Version int
	Files   []*tail // the session's own first
	Models  []string
	Replies map[uint64]Reply // by identity
	First   uint64           // identity of the first one that was read; a fork begins with those of another session
	FirstAt int64            `json:",omitempty"` // where in the session's own file
	Since   time.Time        `json:",omitzero"`  // the first one was made
	Total   Reply            // as the program counts, if it does
	present
	Tool string

	Changed snapshot.Changed `json:",omitzero"`
	Unread  bool             `json:",omitempty"`
	// Where the lines begin in its own file that say what was asked and said last. The words
	// may hold secrets, and are not kept: they are read again from there.
	Asked, Said int64 `json:",omitempty"`

	record  record.Builder
	kept    bool   // and its words have not been read again
	seeks   bool   // what the user asked is not known yet
	subject string // of the last call
	call    string // ID of the last call

	key
	format  *Format
	folder  string
	sum     Reply
	usd     float64
	day     int64     // that is today, as dayOf counts
	today   float64   // what of usd was spent on it
	undated bool      // of a reply with a price it is not known when it was made
	priced  bool      // a reply has a known price
	unknown bool      // a reply has none
	find    time.Time // when to look for its file again
	dirty   bool      // differs from what is kept
	told    Found     // last
}

// present is how a session is by what was read last.
type present struct {
	Current        int // index of the model in use
	Filled, Window int64

	Title, Mode, Model string
	Named              bool `json:",omitempty"` // the user chose Title
}

// or returns p with what is known only from before.
func (p present) or(before present) present {
	p.Filled, p.Window = cmp.Or(p.Filled, before.Filled), cmp.Or(p.Window, before.Window)
	p.Mode, p.Model = cmp.Or(p.Mode, before.Mode), cmp.Or(p.Model, before.Model)
	if p.Title == "" || before.Named && !p.Named {
		p.Title, p.Named = before.Title, before.Named
	}
	return p
}

const version = 5

var plainID = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// Round begins a round of looks at all sessions. In each, the past of large files is read a
// little further; what is still missing after a few minutes stays so for this run.
func (c *Counter) Round() { c.reading.left = min(c.reading.past, c.reading.run) }

// Look reads what the session's program has written since the last look. It returns what
// is known, and whether that has changed.
func (c *Counter) Look(of *snapshot.Session) (Found, bool) {
	prog := c.opts.Programs[of.Agent]
	home := prog.Folder
	if len(of.ID) > 128 || !plainID.MatchString(of.ID) {
		return Found{}, false
	}
	k := key{of.Agent, of.ID}
	s := c.sessions[k]
	fresh := s == nil
	if fresh {
		s = c.load(k)
		s.key, s.format, s.record.Redact = k, prog.Format, c.opts.Redact
		c.price(s)
		c.sessions[k] = s
	}
	if prog.Format == nil || home == "" { // it has no files to read, and says itself what is in them
		return Found{Unread: s.Unread}, fresh
	}
	s.folder = of.Folder
	root, err := file.Root(home)
	if err != nil {
		return Found{}, false
	}
	defer root.Close()
	moved := c.dated(s, time.Now())
	changed := c.look(s, root, home, of.Transcript)
	s.dirty = s.dirty || changed
	if of.State == snapshot.Idle || of.State == snapshot.Ended {
		s.record.Rest(of.Since)
	}
	found := c.found(s)
	found.Subagents = s.working(of)
	changed, s.told = changed || fresh || moved || found != s.told, found
	return found, changed
}

// look reads the files of a session. A file that was replaced starts the session over.
func (c *Counter) look(s *session, root *os.Root, home, transcript string) (changed bool) {
	for range 2 {
		main := s.mainFile(root, home, transcript)
		if main == "" {
			return changed
		}
		if len(s.Files) > 0 && s.Files[0].Name != main {
			s.restart()
		}
		s.addFile(main, false)
		s.addSubagents(root, main)
		s.recall(root)
		did, again := c.readAll(s, root)
		if changed = changed || did; !again {
			return changed
		}
		s.restart()
		changed = true
	}
	return changed
}

// readAll reads on in the files of a session: the ends of all, then what is before these. It
// reports whether one was replaced.
func (c *Counter) readAll(s *session, root *os.Root) (changed, again bool) {
	for _, past := range []bool{false, true} {
		if past && s.format.Total {
			break // the end says all
		}
		for _, t := range slices.Clone(s.Files) {
			do := func(text []byte, at int64) { c.take(s, text, at, t) }
			var did bool
			var err error
			if past {
				now := s.present
				s.present, s.seeks = present{Current: now.Current}, !t.Sub && s.Asked == 0
				did, err = t.readPast(root, &c.reading, do)
				s.present = now.or(s.present)
			} else {
				did, err = t.read(root, &c.reading, do)
			}
			switch {
			case errors.Is(err, errReplaced):
				again = true
			case errors.Is(err, fs.ErrNotExist):
				s.Files = slices.DeleteFunc(s.Files, func(o *tail) bool { return o == t }) // what it said still counts
			case err != nil:
				slog.Debug("count tokens", "session", s.id, "error", err)
			case t.From > 0 || t.later: // what is read later is out of order
				s.record.Skipped()
			}
			changed = changed || did
		}
	}
	return changed, again
}

// restart forgets what was counted.
func (s *session) restart() {
	*s = session{Version: version, Replies: map[uint64]Reply{}, key: s.key, format: s.format, folder: s.folder, day: s.day, record: record.Builder{Redact: s.record.Redact}, dirty: true}
}

// mainFile returns the name of the session's own file below home, "" if there is none yet.
func (s *session) mainFile(root *os.Root, home, transcript string) string {
	look := Lookup{root: root, folder: s.folder}
	if name := below(home, transcript); name != "" && look.Is(name) {
		return name
	}
	if len(s.Files) > 0 && !s.Files[0].Sub {
		return s.Files[0].Name
	}
	const again = 20 * time.Second
	if look.near = time.Now().Before(s.find); !look.near {
		s.find = time.Now().Add(again)
	}
	return s.format.Main(look, s.id)
}

// below returns the name that a path has below a folder, "" if it has none.
func below(folder, path string) string {
	if path == "" {
		return ""
	}
	for _, resolve := range []func(string) (string, error){func(s string) (string, error) { return s, nil }, filepath.EvalSymlinks} {
		folder, err := resolve(folder)
		if err != nil {
			continue
		}
		if name, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(name) {
			return filepath.ToSlash(name)
		}
	}
	return ""
}

func (s *session) addFile(name string, sub bool) {
	if !slices.ContainsFunc(s.Files, func(t *tail) bool { return t.Name == name }) {
		s.Files = append(s.Files, &tail{Name: name, Sub: sub})
	}
}

func (s *session) addSubagents(root *os.Root, main string) {
	if s.format.Subagents == nil {
		return
	}
	folder, pattern := s.format.Subagents(main, s.id)
	names, err := fs.Glob(file.FS(root), folder+"/"+pattern)
	if err != nil {
		return
	}
	for _, name := range names {
		s.addFile(name, true)
	}
}

// dated sums up what was spent on the day that it is, and tells whether that has changed.
func (c *Counter) dated(s *session, now time.Time) (moved bool) {
	day := dayOf(now)
	if day == s.day {
		return false
	}
	s.day, s.today = day, 0
	for _, r := range s.Replies {
		if r.Day == day {
			usd, _ := c.prices.cost(s.modelOf(&r), &r)
			s.today += usd
		}
	}
	return true
}

// modelOf is the model that made a reply, "" if it is unknown.
func (s *session) modelOf(r *Reply) string {
	if r.Model < len(s.Models) {
		return s.Models[r.Model]
	}
	return ""
}

// take counts what a line of a file says.
func (c *Counter) take(s *session, text []byte, at int64, of *tail) {
	if text == nil { // too long
		s.record.Skipped()
		return
	}
	sub := of.Sub
	l, ok := s.format.Parse(text, sub)
	if !ok {
		return
	}
	of.turned(&l)
	s.takeEvent(&l, at, of)
	s.Mode, s.Window, s.Filled = cmp.Or(l.Mode, s.Mode), cmp.Or(l.Window, s.Window), cmp.Or(l.Filled, s.Filled)
	if l.Title != "" && (l.Named || !s.Named) {
		s.Title, s.Named = l.Title, l.Named
	}
	if l.Model != "" {
		s.Current = s.index(l.Model)
		if !sub {
			s.Model = l.Model
		}
	}
	day := dayOf(l.When)
	switch {
	case l.Total != nil:
		if of.From > 0 && s.Total == (Reply{}) {
			day = 0 // most of it is from before
		}
		c.takeTotal(s, l.Total, day)
	case l.Reply != nil:
		l.Reply.Model, l.Reply.Day = s.Current, day
		id := hashOf([]byte(l.ID))
		if !sub && (s.First == 0 || at < s.FirstAt) {
			s.First, s.FirstAt, s.Since = id, at, l.When
		}
		c.count(s, id, l.Reply)
	}
}

// takeTotal counts what a total is more than the last one. One that is less begins anew.
func (c *Counter) takeTotal(s *session, total *Reply, day int64) {
	d, last := *total, s.Total
	if total.In >= last.In && total.Read >= last.Read && total.Out >= last.Out {
		d.In, d.Read, d.Out, d.Reasoning = d.In-last.In, d.Read-last.Read, d.Out-last.Out, d.Reasoning-last.Reasoning
	}
	s.Total = *total
	if d == (Reply{}) {
		return
	}
	d.Model, d.Day = s.Current, day
	c.count(s, hashOf([]byte(strconv.Itoa(len(s.Replies)))), &d)
}

// count puts a reply in place of what was known of it.
func (c *Counter) count(s *session, id uint64, r *Reply) {
	old, had := s.Replies[id]
	now := *r
	if had {
		now = old
		now.most(r)
		if now == old {
			return
		}
		c.add(s, &old, -1)
	}
	s.Replies[id] = now
	c.add(s, &now, 1)
}

// add adds a reply to the sums, or takes it away.
func (c *Counter) add(s *session, r *Reply, sign int64) {
	s.sum.In += sign * r.In
	s.sum.Out += sign * r.Out
	s.sum.Read += sign * r.Read
	s.sum.Write += sign * r.Write
	s.sum.WriteHour += sign * r.WriteHour
	s.sum.Reasoning += sign * r.Reasoning
	usd, known := c.prices.cost(s.modelOf(r), r)
	s.usd += float64(sign) * usd
	if r.Day == s.day && s.day != 0 {
		s.today += float64(sign) * usd
	}
	s.undated = s.undated || known && r.Day == 0
	s.priced = s.priced || known
	s.unknown = s.unknown || !known
}

func (s *session) index(model string) int {
	i := slices.Index(s.Models, model)
	if i < 0 {
		i = len(s.Models)
		s.Models = append(s.Models, model)
	}
	return i
}

func (c *Counter) found(s *session) Found {
	f := Found{
		Usage: snapshot.Usage{In: s.sum.In, Out: s.sum.Out, CacheRead: s.sum.Read, CacheWrite: s.sum.Write + s.sum.WriteHour, Reasoning: s.sum.Reasoning},
		Title: s.Title, Named: s.Named, Mode: s.Mode, Model: s.Model, LastTool: s.Tool, LastSubject: record.Within(s.folder, s.subject),
		Context: snapshot.Context{Used: s.Filled, Window: cmp.Or(s.Window, c.prices.Window(s.Model))},
	}
	f.Record, f.Unread = s.record.Record(s.folder), s.Unread
	f.Shared = c.shared(s)
	if f.Usage.Partial = !s.format.Total && slices.ContainsFunc(s.Files, (*tail).partial); f.Usage.Partial {
		f.Usage.Since = s.Since
	}
	if s.priced {
		f.Cost = snapshot.Cost{USD: max(s.usd, 0), Today: max(s.today, 0), Undated: s.undated || f.Usage.Partial, Known: true, Partial: s.unknown || f.Usage.Partial, Source: c.prices.Source}
	}
	return f
}

// Lookup finds files of a session.
type Lookup struct {
	root   *os.Root
	folder string // in which the session works
	near   bool   // look where the file is expected only
}

// Near reports whether to look only where the file is expected.
func (l Lookup) Near() bool { return l.near }

// Is reports whether there is a regular file with a name.
func (l Lookup) Is(name string) bool {
	info, err := l.root.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// Newest returns the last name that fits a pattern: names begin with a time, or there is
// one.
func (l Lookup) Newest(pattern string) string {
	names, err := fs.Glob(file.FS(l.root), pattern)
	if err != nil || len(names) == 0 {
		return ""
	}
	return slices.Max(names)
}
