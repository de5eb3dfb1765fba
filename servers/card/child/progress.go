package child

import (
	"encoding/json"
	"strconv"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/rawjson"
)

// Progress is one step that the agent that called is told of.
type Progress struct {
	Value   float64 // grows with each step
	Total   float64 // 0: not known
	Message string
	Raw     json.RawMessage // as the child sent it, with the deck's token; nil: the deck says it
}

// Steps hand on progress so that it grows and ends with the call, whatever
// the child sends. Notes of the deck's own weigh next to nothing, so that they do not
// outgrow the child's.
type Steps struct {
	mu    sync.Mutex
	last  float64 // -1: nothing was told
	ended bool
	to    func(Progress)
}

// NewSteps returns nil, which is ready too, when nobody wants progress.
func NewSteps(to func(Progress)) *Steps {
	if to == nil {
		return nil
	}
	return &Steps{to: to, last: -1}
}

// Note tells something of the deck's own.
func (s *Steps) Note(message string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.last = max(s.last, 0) + 1e-6
	s.to(Progress{Value: s.last, Message: message})
}

// Step passes on progress of the child; what does not grow is dropped.
func (s *Steps) Step(params json.RawMessage) {
	if s == nil {
		return
	}
	o, err := rawjson.SplitObject(params)
	if err != nil {
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
	p := Progress{Value: value, Total: total, Message: o.Str("message"), Raw: params}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || p.Value <= s.last {
		return
	}
	s.last = p.Value
	s.to(p)
}

// End stops progress; none is told after it has returned.
func (s *Steps) End() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
}
