package card

import (
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/plain"
)

// lastLines is how much of the log a user looks at.
const lastLines = 20

// Details are the part of the status that the screen shows of any card.
func (s Status) Details() deck.Details {
	d := deck.Details{
		Runs: plain.Line(s.Program), PID: s.PID, Since: s.Since, Server: strings.TrimSpace(s.Server + " " + s.Version), Protocol: plain.Line(s.Protocol),
		Offered: s.Listed, Held: s.Holding(), Error: s.Error, ErrorAt: s.ErrorAt,
	}
	for _, t := range s.Tools {
		d.Tools = append(d.Tools, deck.ToolCost{Name: t.Name, Bytes: t.Bytes})
	}
	for _, n := range s.Notes {
		d.Notes = append(d.Notes, plain.Line(n.Tool+": "+n.Reason))
	}
	for _, l := range s.Log[max(0, len(s.Log)-lastLines):] {
		d.Log = append(d.Log, deck.LogLine{Time: l.Time, From: l.From, Text: l.Text})
	}
	return d
}
