package usage

import "github.com/mcpdeck/mcpdeck/servers/support/snapshot"

// shared finds the sessions that begin as s does, and counts what s has in common with
// those of them whose IDs come before its own.
func (c *Counter) shared(s *session) (out snapshot.Shared) {
	var before []*session
	for _, o := range c.sessions {
		if o == s || o.agent != s.agent || s.First == 0 || o.First != s.First {
			continue
		}
		if out.With == "" || o.id < out.With {
			out.With = o.id
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
			if _, both := o.Replies[id]; both {
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
