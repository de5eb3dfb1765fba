package child

import (
	"encoding/json"
	"strconv"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// Progress is a progress notification for the calling agent.
type Progress struct {
	Value   float64 // grows with each step
	Total   float64 // 0: not known
	Message string
	Raw     json.RawMessage // as sent by the child, with the deck's token; nil if it is from the deck
}

// Steps forwards progress so that it increases and ends with the call, whatever the
// child sends. Notes from the deck increase the value only minimally, so that they do
// not overtake the child's.
type Steps struct {
	mu    sync.Mutex
	last  float64 // -1: nothing was told
	ended bool
	to    func(Progress)
}

// NewSteps returns nil, which is also ready to use, if progress is not wanted.
func NewSteps(to func(Progress)) *Steps {
	if to == nil {
		return nil
	}
	return &Steps{to: to, last: -1}
}

// Note sends a message from the deck.
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

// Step forwards progress from the child. Values that do not increase are dropped.
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

// End stops progress. None is sent after End has returned.
func (s *Steps) End() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
}
