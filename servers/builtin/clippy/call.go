package clippy

import (
	"context"
	"errors"
	"time"
)

// Call is one call of a tool.
type Call struct {
	Tool    string
	By      Caller
	Detail  string // what of the arguments the user may read, on one line
	Invalid error  // what is wrong with the arguments, for the agent; nil: nothing
	Rate    int    // how many calls of the tool a minute may have; 0: any number
	Writes  bool   // it changes something on the disk
}

// Do runs a call, if its arguments are right and the user lets it. The error's text is
// one sentence for the agent; what the system said is only in the log.
func Do[T any](ctx context.Context, s *Service, c Call, run func(context.Context) (T, error)) (T, error) {
	start, log := time.Now(), s.opt.logger().With("tool", c.Tool, "client", c.By.Name)
	log.Debug("tool called")
	var value T
	err := s.permit(c)
	if err == nil {
		value, err = within(ctx, s.disk, c.Writes, run)
	}
	took := time.Since(start).Round(time.Millisecond)
	if err != nil {
		log.Error("tool failed", "what", c.Detail, "said", sentence(err), "error", raw(err), "took", took)
		return value, system(err)
	}
	log.Info("tool done", "what", c.Detail, "took", took)
	return value, nil
}

// permit holds the rate. A call that cannot work does not count.
func (s *Service) permit(c Call) error {
	if errors.As(c.Invalid, new(*fault)) {
		return c.Invalid
	} else if c.Invalid != nil {
		return say("%s", c.Invalid)
	}
	if wait := s.rate(c).take(time.Now()); wait > 0 {
		return say("too many %s calls, try again in %d s", c.Tool, int((wait+time.Second-1)/time.Second))
	}
	if off := s.Off(c.Tool); off != "" {
		return say("%s", off)
	}
	return nil
}

// Asks reports whether the user is asked for each call of a tool.
func (s *Service) Asks(tool string) bool {
	p := s.Settings().Policy[tool]
	return p != "" && p != Allow // a word that nobody knows was meant as a restriction
}

// rate is the one of a call's tool; its zero value has no limit.
func (s *Service) rate(c Call) *rate {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rates[c.Tool] == nil {
		s.rates[c.Tool] = &rate{max: c.Rate}
	}
	return s.rates[c.Tool]
}
