package pencil

import (
	"strconv"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/rawjson"
)

// Progress is one step that the agent that called is told of.
type Progress struct {
	Value   float64 // grows with each step
	Total   float64 // 0: not known
	Message string
}

// progressTable says who waits for progress of which call. Tokens are the
// deck's own: two agents may use the same.
type progressTable struct {
	mu   sync.Mutex
	sink map[string]func(Progress)
}

func (t *progressTable) add(token string, sink func(Progress)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sink == nil {
		t.sink = map[string]func(Progress){}
	}
	t.sink[token] = sink
}

func (t *progressTable) remove(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.sink, token)
}

// deliver hands on the params of a progress notification.
func (t *progressTable) deliver(params []byte) {
	o, err := rawjson.SplitObject(params)
	if err != nil {
		return
	}
	t.mu.Lock()
	sink := t.sink[o.Str("progressToken")]
	t.mu.Unlock()
	if sink == nil {
		return
	}
	value, err := strconv.ParseFloat(string(o.Get("progress")), 64)
	if err != nil {
		return
	}
	total, err := strconv.ParseFloat(string(o.Get("total")), 64)
	if err != nil {
		total = 0
	}
	sink(Progress{Value: value, Total: total, Message: o.Str("message")})
}

// steps hands on progress so that it grows and ends with the call, whatever
// the child sends. Its own notes weigh next to nothing, so that they do not
// outgrow the child's.
type steps struct {
	mu    sync.Mutex
	last  float64
	ended bool
	to    func(Progress)
}

func newSteps(to func(Progress)) *steps {
	if to == nil {
		return nil
	}
	return &steps{to: to}
}

// note tells something of the deck's own.
func (s *steps) note(message string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.last += 1e-6
	s.to(Progress{Value: s.last, Message: message})
}

// step passes on progress of the child; what does not grow is dropped.
func (s *steps) step(p Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || p.Value <= s.last {
		return
	}
	s.last = p.Value
	s.to(p)
}

// end stops progress; none is told after it has returned.
func (s *steps) end() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
}
