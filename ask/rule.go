package ask

import "errors"

// ByRule is a rule of the user that answered in the user's place.
type ByRule struct {
	ID  string `json:"id"`
	Say string `json:"say"` // what the rule did then, in words
}

// OpenAnswered adds a permission that a rule has answered: nobody is asked. The answer is in the history, and on the
// disk, before this returns. still reports whether the rule holds at the moment when the agent is given the answer.
// With an error, nothing was added.
func (q *Queue) OpenAnswered(req Request, by ByRule, results []Result, still func() bool) (*Call, error) {
	c, err := openAnswered(q, req, by, results, still)
	if err == nil && q.store.flush() != nil {
		c.Gone("the history could not be written: you are asked")
		err = errors.New("the history could not be written")
	}
	return c, err
}

func openAnswered(q *Queue, req Request, by ByRule, results []Result, still func() bool) (*Call, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil, ErrShutdown
	}
	print := req.Fingerprint()
	g, ok := req.Granted(results)
	switch {
	case !ok || g.Scope != Once || req.Prompt.Kind != Permission || req.Prompt.Unconfirmed || req.Prompt.Door != Shared && req.Prompt.Door != Here:
		return nil, errors.New("no rule answers this")
	case q.known(&req, print) != nil:
		return nil, errors.New("it is asked already")
	}
	d, err := draftOf(req.Questions, results)
	if err == nil {
		err = q.full(&req)
	}
	if err != nil {
		return nil, err
	}
	it := q.add(req, print)
	it.rule, it.draft = &by, d
	c := q.wait(it, req)
	c.still = still
	q.finish(it, q.answer(it))
	q.changed(true)
	return c, nil
}

// ByRule reports whether a rule has answered.
func (c *Call) ByRule() bool { return c.still != nil }

// Holds reports whether the reply may be given: that of the user may, and that of a rule while the rule holds.
func (c *Call) Holds() bool { return c.still == nil || c.still() }
