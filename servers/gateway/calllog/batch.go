package calllog

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// step is how far a call has come, and what it has carried since the step before.
type step struct {
	record       *Record
	call         snapshot.Call
	args, result json.RawMessage
	cut          bool
}

// work takes everything queued into the log and tells the screen once. It reports
// whether the recorder lacks a call that is running.
func (l *Log) work() (running bool) {
	l.working.Lock()
	defer l.working.Unlock()
	for done := 0; ; {
		l.path.Lock()
		l.queued -= done
		done = l.queued
		batch := make([]step, len(l.queue))
		for i, r := range l.queue {
			batch[i] = step{r, r.call, r.args, r.result, r.cut}
			r.args, r.result, r.queued = nil, nil, false
		}
		l.queue = nil
		l.path.Unlock()
		if len(batch) == 0 {
			return len(l.running) > 0
		}
		for len(batch) > 0 {
			// What one call carried must not end the log.
			_ = recovery.Call("call log", func() error {
				for len(batch) > 0 {
					s := &batch[0]
					batch = batch[1:]
					l.take(s)
				}
				return nil
			})
		}
		if l.opts.Changed != nil {
			l.opts.Changed()
		}
	}
}

// take takes a step into the log.
func (l *Log) take(s *step) {
	keep := func(result bool, body json.RawMessage) redact.Kept {
		k := l.opts.Redact.Keep(s.record.redact, result, body)
		if len(k.Body) > bodyLimit { // the beginning stays, as a JSON string
			k.Body, _ = json.Marshal(strings.ToValidUTF8(string(k.Body[:bodyLimit]), "\ufffd"))
			s.cut = true
		}
		return k
	}
	var args, result redact.Kept
	if len(s.args) > 0 {
		args = keep(false, s.args)
	}
	if len(s.result) > 0 {
		result = keep(true, s.result)
	} else if s.call.Result != "" {
		b, _ := json.Marshal(map[string]string{"error": s.call.Result})
		result = keep(true, b)
	}
	if len(result.Images) > 0 {
		l.pictures.add(&s.call, result.Images)
	}
	k, first, ended := s.record.entered, s.record.entered == nil, s.call.Status != snapshot.Running
	l.mu.Lock()
	if first {
		k = &entered{}
		s.record.entered = k
		l.ring = append(l.ring, k)
		if len(l.ring) > kept {
			l.bodies -= len(l.ring[0].body.Args) + len(l.ring[0].body.Result)
			l.ring[0].gone = true
			l.ring[0] = nil
			l.ring = l.ring[1:]
		}
	}
	if args.Body != nil {
		k.Args, k.body.Args = args.Line, args.Body
	}
	s.call.Args, s.call.Result, s.call.ResultBytes, s.call.Images = k.Args, result.Line, len(result.Body), len(result.Images)
	k.Call, k.body.Result, k.body.Cut = s.call, result.Body, k.body.Cut || s.cut
	l.change++
	k.changed = l.change
	if ended {
		l.total++
		l.servers[k.Server]++
		l.count(&k.Call)
		if k.Status.Failed() {
			l.errors++
		}
	}
	if !k.gone {
		l.bodies += len(args.Body) + len(result.Body)
	}
	if l.bodies > keptBodies {
		l.shed()
	}
	body := k.body
	l.mu.Unlock()
	switch {
	case l.opts.Recorder == nil:
	case ended:
		l.opts.Recorder.Record(s.call, body)
	case first:
		l.running = append(l.running, k)
	}
}

// recordRunning hands the recorder the calls that have run for so long, and reports
// whether there are younger ones.
func (l *Log) recordRunning(age time.Duration) (more bool) {
	l.working.Lock()
	defer l.working.Unlock()
	l.running = slices.DeleteFunc(l.running, func(k *entered) bool {
		if k.Status == snapshot.Running && time.Since(k.Started) < age {
			return false
		}
		if k.Status == snapshot.Running {
			l.opts.Recorder.Record(k.Call, k.body)
		}
		return true
	})
	return len(l.running) > 0
}

// shed forgets the oldest bodies when there are too many bytes of them; the
// journal has them. The caller holds mu.
func (l *Log) shed() {
	for _, k := range l.ring {
		if l.bodies <= keptBodies {
			return
		}
		if k.Status == snapshot.Running {
			continue
		}
		l.bodies -= len(k.body.Args) + len(k.body.Result)
		k.body = snapshot.CallBody{}
	}
}

// Fill puts the newest calls into a snapshot and returns the count by server.
func (l *Log) Fill(s *snapshot.Snapshot) map[string]uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := max(0, len(l.ring)-snapshotCalls)
	s.Calls = make([]snapshot.Call, 0, len(l.ring)-from)
	for _, k := range l.ring[from:] {
		s.Calls = append(s.Calls, k.Call)
	}
	s.Total, s.Errors = l.total, l.errors
	return maps.Clone(l.servers)
}

// Since returns the calls that changed after the given change number, oldest
// first, and the number to pass next time. 0 asks for all that are kept: the
// newest 10,000.
func (l *Log) Since(since uint64) ([]snapshot.Call, uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if since == l.change {
		return nil, since
	}
	var out []snapshot.Call
	for _, k := range l.ring {
		if k.changed > since {
			out = append(out, k.Call)
		}
	}
	return out, l.change
}

// Body returns what a call carried, false if it is no longer in memory.
func (l *Log) Body(id uint64) (snapshot.CallBody, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i, ok := slices.BinarySearchFunc(l.ring, id, func(k *entered, id uint64) int { return cmp.Compare(k.ID, id) })
	if !ok || l.ring[i].body.Args == nil && l.ring[i].body.Result == nil {
		return snapshot.CallBody{}, false
	}
	return l.ring[i].body, true
}

// tallied is of how many calls of a tool the durations are kept, and tools of how many
// tools of a server there are figures: agents call by any name.
const (
	tallied = 512
	tools   = 1000
)

// tally is what calls of one tool came to.
type tally struct {
	calls, failed uint64
	took          []time.Duration // of the newest, in no order
}

// count adds a call that has ended. The caller holds mu.
func (l *Log) count(c *snapshot.Call) {
	of := l.tallies[c.Server]
	if of == nil {
		of = map[string]*tally{}
		l.tallies[c.Server] = of
	}
	t := of[c.Tool]
	switch {
	case t == nil && len(of) >= tools:
		return
	case t == nil:
		t = &tally{}
		of[c.Tool] = t
	}
	if len(t.took) < tallied {
		t.took = append(t.took, c.Duration)
	} else {
		t.took[t.calls%tallied] = c.Duration
	}
	t.calls++
	if c.Status.Failed() {
		t.failed++
	}
}

// Figures are what the calls of a server came to, by tool, and under "" all of them.
func (l *Log) Figures(server string) map[string]snapshot.Figures {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string]snapshot.Figures{}
	var sum tally
	for tool, t := range l.tallies[server] {
		out[tool] = t.figures()
		sum.calls, sum.failed, sum.took = sum.calls+t.calls, sum.failed+t.failed, append(sum.took, t.took...)
	}
	out[""] = sum.figures()
	return out
}

func (t *tally) figures() snapshot.Figures {
	f := snapshot.Figures{Calls: t.calls, Failed: t.failed}
	took := slices.Sorted(slices.Values(t.took))
	if n := len(took); n > 0 {
		f.P50, f.P95 = took[(n-1)/2], took[(n*95+99)/100-1]
	}
	return f
}
