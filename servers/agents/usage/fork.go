package usage

import "github.com/mcpdeck/mcpdeck/servers/support/snapshot"

// shared finds the sessions that begin as s does, and counts what s has in common with
// those of them whose IDs come before its own, and the one of which it has most. A program may
// write a fork's newest reply before those that it begins with.
func (c *Counter) shared(s *session) (out snapshot.Shared) {
	var before []*session
	all := 0
	for _, o := range c.sessions {
		if o == s || o.agent != s.agent || !s.holds(o.First) && !o.holds(s.First) {
			continue
		}
		if out.With == "" || o.id < out.With {
			out.With = o.id
		}
		if n := len(o.Replies); n > all && s.has(o) {
			out.All, all = o.id, n
		}
		if o.id < s.id {
			before = append(before, o)
		}
	}
	if len(before) == 0 {
		return out
	}
	for id, r := range s.Replies {
		for _, o := range before {
			if o.holds(id) {
				out.Tokens += r.In + r.Out + r.Read + r.Write + r.WriteHour
				usd, _ := c.prices.cost(s.modelOf(&r), &r)
				out.USD += usd
				if r.Day == s.day {
					out.Today += usd
				}
				break
			}
		}
	}
	return out
}

// holds reports whether a reply, which may be none, is in the session.
func (s *session) holds(reply uint64) bool {
	_, ok := s.Replies[reply]
	return ok
}

// has reports whether all replies in the other session are in this one.
func (s *session) has(o *session) bool {
	for id := range o.Replies {
		if !s.holds(id) {
			return false
		}
	}
	return true
}
