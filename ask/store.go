package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// parked is an answer that its asker has not confirmed.
type parked struct {
	ID      int        `json:"id"`
	Print   string     `json:"print"`
	Request Request    `json:"request"`
	Keys    []ownedKey `json:"keys,omitempty"`
	Draft   Draft      `json:"draft"`
	Reply   Reply      `json:"reply"`
	At      time.Time  `json:"at"`
	Left    bool       `json:"left,omitempty"` // the connection that asked has ended
	sending bool       // being delivered to an asker
	loaded  bool       // from an earlier run of the deck
}

// savedDraft is the draft of a request that is no longer listed, or of a session's next prompt.
type savedDraft struct {
	Print string    `json:"print"`
	Draft Draft     `json:"draft"`
	At    time.Time `json:"at"`
	Note  bool      `json:"note,omitempty"` // on a permission; Print is of what that was about
	Text  string    `json:"text,omitempty"` // of a prompt
}

// savedItem is an open request.
type savedItem struct {
	ID      int        `json:"id"`
	Request Request    `json:"request"`
	Keys    []ownedKey `json:"keys,omitempty"`
	Draft   Draft      `json:"draft"`
	LentBy  string     `json:"lentBy,omitempty"`
	State   State      `json:"state"`
	Absent  Absence    `json:"absent"`
	Why     string     `json:"why,omitempty"`
	Arrived time.Time  `json:"arrived"`
	Left    time.Time  `json:"left"`
	Shown   bool       `json:"shown,omitempty"` // was on screen
	Snooze  time.Time  `json:"snooze,omitzero"` // when the snooze ends
	Unsent  bool       `json:"unsent,omitempty"`
	Handed  *Handed    `json:"handed,omitempty"`
	Handing bool       `json:"handing,omitempty"` // the machine that asks has not been told
}

// savedState is the content of the state file.
type savedState struct {
	Version int          `json:"version"`
	NextID  int          `json:"nextId"`
	Items   []savedItem  `json:"items"`
	Parked  []parked     `json:"parked"`
	Drafts  []savedDraft `json:"drafts"`
}

func (q *Queue) saved() savedState {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := savedState{Version: 1, NextID: q.nextID, Parked: slices.Clone(q.parked), Drafts: slices.Clone(q.drafts)}
	for _, it := range q.items {
		if it.req.Local {
			if it.typed() { // in case its asker's program asks again
				s.Drafts = append(s.Drafts, savedDraft{Print: it.print, Draft: it.draft.Clone(), At: it.arrived})
			}
			continue
		}
		s.Items = append(s.Items, savedItem{
			ID: it.id, Request: it.req, Keys: slices.Clone(it.keys), Draft: it.draft.Clone(), LentBy: it.lentBy, State: it.state, Absent: it.absent,
			Why: it.why, Arrived: it.arrived, Left: it.left, Shown: it.id == q.onScreen,
			Snooze: it.snooze, Unsent: it.unsent, Handed: it.handed, Handing: it.handing,
		})
	}
	return s
}

// load restores the state of the last run. No asker is connected yet, so the askers of
// all open requests may come back.
func (q *Queue) load() {
	s, records, notice := q.store.load()
	if notice != "" {
		q.notices = append(q.notices, notice)
	}
	now := time.Now()
	q.nextID = max(s.NextID, 1)
	q.parked, q.drafts = s.Parked, s.Drafts
	for i := range q.parked {
		q.parked[i].loaded = true
	}
	prune(q)
	for _, v := range s.Items {
		it := &item{
			id: v.ID, req: v.Request, keys: v.Keys, state: v.State, absent: v.Absent, why: v.Why, arrived: v.Arrived, left: v.Left,
			draft: v.Draft.fit(v.Request.Questions), lentBy: v.LentBy, handed: v.Handed, handing: v.Handing, print: v.Request.Fingerprint(), asks: v.Request.asks(), loaded: true,
		}
		if it.absent == Present {
			it.absent, it.why, it.left = Restarted, "the deck was restarted", now
		}
		q.resume(it, v, now)
		q.items = append(q.items, it)
		q.nextID = max(q.nextID, it.id+1)
	}
	for _, r := range records {
		q.nextID = max(q.nextID, r.ID+1)
	}
	q.history.records = records
	q.wake()
}

// resume restores what the user had done with a request. An answer that was held back is
// not sent automatically, since the user could no longer undo it.
func (q *Queue) resume(it *item, v savedItem, now time.Time) {
	it.unsent = v.Unsent || v.State == Sending
	switch {
	case v.State == Snoozed && v.Snooze.After(now):
		q.snoozes++
		it.snooze, it.snoozeNo = v.Snooze, q.snoozes
	case v.State != Queued:
		it.state = Shown
	}
}

// store writes the state and the history on its own goroutine.
type store struct {
	stateFile, historyFile string
	past                   *Past // nil: none is kept
	log                    *slog.Logger
	state                  func() savedState

	mu      sync.Mutex
	stale   bool     // the state file is out of date
	records []Record // not yet in the history file
	passed  []Record // not yet in past
	kick    chan struct{}
	stop    chan struct{}
	stopped chan struct{}

	writing sync.Mutex // one writes at a time; guards failed
	failed  error
}

// saveEvery bounds how much typing is lost when the process ends. A write takes about
// 100 µs.
const saveEvery = 100 * time.Millisecond

// maxState is the maximum number of bytes read from a file.
const maxState = 1 << 30

func newStore(opt *Options, log *slog.Logger, state func() savedState) *store {
	s := &store{
		stateFile: opt.StateFile, historyFile: opt.HistoryFile, past: opt.Past, log: log, state: state,
		kick: make(chan struct{}, 1), stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	if opt.StateFile == "" && opt.HistoryFile == "" {
		close(s.stopped)
		return s
	}
	recovery.Go("ask store", s.run)
	return s
}

func (s *store) save() {
	if s.stateFile == "" {
		return
	}
	s.mu.Lock()
	s.stale = true
	s.mu.Unlock()
	notify.Poke(s.kick)
}

func (s *store) record(r Record) {
	if s.historyFile == "" {
		return
	}
	s.mu.Lock()
	s.records = append(s.records, r)
	if s.past != nil {
		s.passed = append(s.passed, r)
	}
	s.mu.Unlock()
	notify.Poke(s.kick)
}

// run writes the first change after a pause at once, and later ones at most every
// saveEvery.
func (s *store) run() {
	defer close(s.stopped)
	_ = s.pass() // it is logged
	for {
		select {
		case <-s.stop:
			return
		case <-s.kick:
		}
		_ = s.flush()
		_ = s.pass()
		select {
		case <-s.stop:
			return
		case <-time.After(saveEvery):
		}
	}
}

// flush writes what is not written. The error is also that of the last time, if there is nothing to write.
func (s *store) flush() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	stale, records := s.stale, s.records
	s.stale, s.records = false, nil
	s.mu.Unlock()
	if !stale && len(records) == 0 {
		return s.failed
	}
	var err error
	if stale {
		err = writeState(s.stateFile, s.state())
	}
	s.report(errors.Join(err, appendHistory(s.historyFile, records)))
	return s.failed
}

// pass writes what rules are learned from, which no answer waits for, and drops what is too old.
func (s *store) pass() error {
	if s.past == nil {
		return nil
	}
	s.mu.Lock()
	all := s.passed
	s.passed = nil
	s.mu.Unlock()
	err := s.past.add(all, s.historyFile)
	if err != nil {
		s.log.Error("prompts are not being kept for rules", "error", err)
	}
	return err
}

func (s *store) report(err error) {
	if err != nil && s.failed == nil {
		s.log.Error("questions are not being saved", "error", err)
	}
	s.failed = err
}

// close writes the last state, and ends the goroutine that does so else.
func (s *store) close() error {
	close(s.stop)
	<-s.stopped
	s.save()
	return errors.Join(s.flush(), s.pass())
}

func writeState(path string, s savedState) error {
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode questions: %w", err)
	}
	return replaceFile(path, b)
}

// replaceFile atomically writes path with permissions for its owner only.
func replaceFile(path string, b []byte) error {
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = file.Write(path, b, file.Options{})
	}
	if err != nil {
		return fmt.Errorf("save questions: %w", err)
	}
	return nil
}

func appendHistory(path string, records []Record) error {
	if len(records) == 0 {
		return nil
	}
	lines, err := historyLines(records)
	if err != nil {
		return fmt.Errorf("encode question history: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("save question history: %w", err)
	}
	f, err := file.Open(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY)
	if err != nil {
		return fmt.Errorf("save question history: %w", err)
	}
	_, err = f.Write(append([]byte("\n"), lines...)) // ends a line that a killed process has left
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("save question history: %w", err)
	}
	return nil
}

func historyLines(records []Record) (all []byte, err error) {
	for _, r := range records {
		line, err := rawjson.Encode(r, "")
		if err != nil {
			return nil, err
		}
		all = append(append(all, line...), '\n')
	}
	return all, nil
}

// load reads both files. It renames a damaged state file and names it in the notice.
func (s *store) load() (st savedState, records []Record, notice string) {
	if s.stateFile != "" {
		switch b, err := file.Read(s.stateFile, maxState); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			notice = fmt.Sprintf("saved questions could not be read (%v); starting without them", err)
		case json.Unmarshal(b, &st) != nil || st.Version != 1:
			aside := fmt.Sprintf("%s.damaged-%d", s.stateFile, time.Now().Unix())
			_ = file.Move(s.stateFile, aside) // if this fails the file is overwritten, as after a rename
			notice = "saved questions were damaged; moved to " + aside
			st = savedState{}
		}
	}
	if s.historyFile != "" {
		records = s.loadHistory()
	}
	return st, records, notice
}

// loadHistory reads the newest records and skips damaged lines. It truncates the file to
// these records once it has grown to several times their size.
func (s *store) loadHistory() []Record {
	records, lines := readHistory(s.historyFile)
	if lines > 4*historyLength {
		b, err := historyLines(records)
		if err == nil {
			err = replaceFile(s.historyFile, b)
		}
		s.report(err)
	}
	return records
}

// readHistory returns the newest records of a file, without damaged lines, and how many lines it has.
func readHistory(path string) (records []Record, lines int) {
	lines, _ = eachRecord(path, func(r Record) { // without a file there are none
		records = slices.DeleteFunc(records, func(o Record) bool { return r.replaces(&o) })
		records = append(records, r)
	})
	return records[max(0, len(records)-historyLength):], lines
}

// eachRecord passes on the records of a file, without damaged lines, and returns how many lines it has.
func eachRecord(path string, do func(Record)) (lines int, err error) {
	err = eachLine(path, func(text []byte, _ int64) {
		lines++
		var r Record
		if json.Unmarshal(text, &r) != nil {
			return
		}
		r.Delivery = lastSeen(&r)
		if p := r.Request.Prompt; p != nil && r.Does != nil {
			p.Does, r.Does.Args = r.Does, p.Args
		}
		do(r)
	})
	return lines, err
}

// maxRecord is the maximum length of a record that is read.
const maxRecord = 16 << 20

// eachLine passes on the lines of a file that are not empty, and where they begin. One that is too long is nil.
func eachLine(path string, do func(text []byte, at int64)) error {
	f, err := file.Open(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	_, err = file.Lines(f, 0, info.Size(), maxRecord, func(text []byte, at int64) {
		if text == nil || len(text) > 0 {
			do(text, at)
		}
	})
	return err
}
