package upstream

import (
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// lastLines is the number of log lines that the user can see of a card and of each child.
const lastLines = 200

// Details returns the part of the status that the screen shows for any card.
func (s Status) Details() snapshot.Details {
	d := snapshot.Details{
		Runs: sanitize.Line(s.Program), PID: s.PID, Since: s.Since, Server: strings.TrimSpace(s.Server + " " + s.Version), Protocol: sanitize.Line(s.Protocol), Era: string(s.Era),
		Instructions: s.Instructions, Offered: s.Listed, Holding: s.Holding(), Asked: s.Asked, Error: s.Error, ErrorAt: s.ErrorAt,
	}
	offered := map[string]*catalogue.Tool{}
	for i := range s.Tools {
		offered[s.Tools[i].Original] = &s.Tools[i]
	}
	why := map[string]string{}
	for _, n := range s.Notes {
		why[n.Tool] = sanitize.Line(n.Reason)
	}
	held := map[string]bool{}
	for _, h := range s.Held {
		held[h.Tool] = held[h.Tool] || h.Kind == catalogue.OfTool
		d.Held = append(d.Held, heldOf(h))
	}
	for _, t := range s.Listing {
		switch o := offered[t.Original]; {
		case o != nil:
			d.Tools = append(d.Tools, toolOf(*o, snapshot.Allow, ""))
		case held[t.Original]:
			d.Tools = append(d.Tools, toolOf(t, snapshot.OnHold, ""))
		case s.TurnedOff[t.Original]:
			d.Tools = append(d.Tools, toolOf(t, snapshot.Denied, why[t.Original]))
		default:
			d.Tools = append(d.Tools, toolOf(t, snapshot.Hidden, strings.TrimPrefix(why[t.Original], "hidden: ")))
		}
		delete(why, t.Original)
	}
	for _, n := range s.Notes {
		if why[n.Tool] != "" {
			d.Notes = append(d.Notes, sanitize.Line(n.Tool+": "+n.Reason))
		}
	}
	d.Without = slices.Clone(s.Without)
	d.Children = slices.Clone(s.Children)
	slices.SortStableFunc(d.Children, func(a, b snapshot.Child) int { return a.Since.Compare(b.Since) })
	for _, l := range s.Log {
		d.Log = append(d.Log, snapshot.LogLine{Time: l.Time, Child: l.Child, From: l.From, Text: l.Text})
	}
	return d
}

func toolOf(t catalogue.Tool, v snapshot.Verdict, why string) snapshot.Tool {
	if t.Bytes == 0 { // not offered
		t.Bytes = len(t.Raw)
	}
	return snapshot.Tool{
		Name: t.Name, Original: t.Original, Description: t.Description, Input: t.Input, Output: t.Output, Annotations: t.Annotations,
		Context: t.Context(), Bytes: t.Bytes, Trimmed: t.Trimmed, Verdict: v, Why: why,
	}
}

func heldOf(h catalogue.Held) snapshot.Held {
	return snapshot.Held{Kind: string(h.Kind), Tool: h.Tool, What: h.What(), Diff: h.Diff, Digest: h.Digest()}
}
