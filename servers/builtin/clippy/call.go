package clippy

import (
	"context"
	"errors"
	"time"
)

const approvalWait = 60 * time.Second

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
	err := s.permit(ctx, c)
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

// permit holds the rate and the user's policy. A call that cannot work counts for
// neither.
func (s *Service) permit(ctx context.Context, c Call) error {
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
	switch s.Settings().Policy[c.Tool] {
	case "", Allow:
	default: // a word that nobody knows was meant as a restriction
		ctx, cancel := context.WithTimeout(ctx, approvalWait)
		defer cancel()
		if s.opt.Approve == nil {
			return say("the user must approve each call of %s, and no deck is open to ask them; ask the user to run mcpdeck", c.Tool)
		}
		if !s.opt.Approve(ctx, Approval{Tool: c.Tool, Agent: c.By.Name, AgentID: c.By.ID, Detail: c.Detail}) {
			return say("the user did not allow this call")
		}
	}
	return nil
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
