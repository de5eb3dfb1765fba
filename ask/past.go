package ask

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// Bounds of what is kept of agents' prompts for rules.
const (
	pastFor   = 30 * 24 * time.Hour
	mostPast  = 20_000
	pastSlack = mostPast / 50   // how many more the file may have for a while
	pastEach  = time.Hour       // how often the deck looks for what is too old
	pastWait  = 2 * time.Second // for another process that writes or empties the file
)

// Past is the file from which rules are learned: of each permission what a rule can be about, and whether it was
// allowed. It has at most 20,000 of the last 30 days, and is read only when it is needed.
type Past struct {
	Path string
	On   func() bool      // reports whether it is kept
	Now  func() time.Time // nil: time.Now

	lines  int // of the file, once it was looked at
	looked time.Time
}

// AllPast returns what agents asked and what became of it, for rules to be learned from, the oldest first.
func AllPast(q *Queue) []Record { return q.opt.Past.Or(q.Pending().History) }

// Or is Read where it is kept, else the history.
func (p *Past) Or(history []Record) []Record {
	if p != nil && p.On() {
		if all, err := p.Read(); err == nil {
			return all
		}
	}
	return history
}

func (p *Past) now() time.Time {
	if p.Now != nil {
		return p.Now()
	}
	return time.Now()
}

// Read returns what is kept, the oldest first.
func (p *Past) Read() (all []Record, err error) {
	type key struct {
		id int
		at int64
	}
	known, since := map[key]int{}, p.now().Add(-pastFor)
	_, err = eachRecord(p.Path, func(r Record) {
		k := key{r.ID, r.Arrived.UnixNano()}
		if i, is := known[k]; is {
			all[i] = r
		} else if r.Ended.After(since) {
			known[k] = len(all)
			all = append(all, r)
		}
	})
	return all[max(0, len(all)-mostPast):], err
}

// Forget removes all that is kept. It leaves an empty file: without one, the next would begin with what the history has.
func (p *Past) Forget() error {
	return p.alone(func() error { return file.Write(p.Path, nil, file.Options{}) })
}

func (p *Past) alone(do func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), pastWait)
	defer cancel()
	return file.Alone(ctx, p.Path, do)
}

func (p *Past) missing() bool {
	_, err := os.Lstat(p.Path)
	return errors.Is(err, fs.ErrNotExist)
}

// add keeps records, and of a new file also the earlier ones that the history still has. It drops what is too old or
// too much.
func (p *Past) add(records []Record, history string) error {
	if records = pastOf(records); len(records) > 0 && !p.On() {
		records = nil
	}
	look := p.now().Sub(p.looked) >= pastEach
	if len(records) == 0 && (!look || p.missing()) {
		return nil
	}
	return p.alone(func() error {
		if len(records) > 0 && p.missing() {
			records = append(pastOf(ReadHistory(history)), records...) // some twice, which Read joins
		}
		if err := appendHistory(p.Path, records); err != nil {
			return err
		}
		if p.lines += len(records); look || p.lines > mostPast+pastSlack {
			return p.trim()
		}
		return nil
	})
}

// trim drops the first lines of the file, as far as they are too old, too many or broken.
func (p *Past) trim() error {
	p.looked = p.now()
	over, from := p.lines-mostPast, int64(0)
	p.lines = 0
	err := eachLine(p.Path, func(text []byte, at int64) {
		var r Record
		if over--; p.lines == 0 && (over >= 0 || json.Unmarshal(text, &r) != nil || p.now().Sub(r.Ended) > pastFor) {
			from = at + int64(len(text))
			return
		}
		p.lines++
	})
	if err != nil || from == 0 {
		return err
	}
	b, err := file.Read(p.Path, maxState)
	if err != nil {
		return err
	}
	return replaceFile(p.Path, b[from:])
}

// pastOf is what a rule may be learned from, without what only shows it.
func pastOf(all []Record) (out []Record) {
	for _, r := range all {
		p, end := r.Request.permission(), r.End()
		if p == nil || p.Command == "" && r.Does == nil || r.Refused != nil || r.Request.Peer.Host+r.Request.Peer.Machine != "" ||
			!slices.Contains([]End{EndAllowed, EndDenied, EndElsewhere}, end) {
			continue
		}
		g, _ := r.Request.Granted(r.Reply.Results)
		kept := Prompt{Kind: p.Kind, Agent: p.Agent, Mode: p.Mode, Tool: p.Tool, Command: p.Command, Shell: p.Shell, Dir: p.Dir, Grants: []Grant{{Allow: g.Allow, Scope: g.Scope}}}
		if r.Does != nil && r.Does.Tool != "" {
			kept.Args = p.Args
		}
		r.Request = Request{From: From{Cwd: r.Request.Cwd()}, Prompt: &kept, Questions: []Question{{Options: []Option{{Label: string(end)}}}}}
		r.How, r.Reply = "", Reply{Status: r.Reply.Status, Results: []Result{{SelectedOptions: []string{string(end)}}}}
		out = append(out, r)
	}
	return out
}
