package upstream

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// Texts are the sentences that can differ between servers; empty ones have defaults. A
// failed call may have taken effect all the same, so no text says that nothing changed.
type Texts struct {
	Mode     string // what the user turns on and off
	Off      string // for a call while off
	Lost     string // for a call whose child ended, or that finds none; the default says how it ended
	Failed   string // for a call after a failure turned the card off
	Deadline string // for a call that timed out
	Accept   string // where the user accepts held definitions: "on its page"
	// Withheld answers a call of a tool that agents cannot use; "" means as for an unknown tool.
	Withheld func(tool string, why catalogue.Withheld) string
	// Command returns the command line for a verb of the card, such as "status --long".
	Command func(verb string) string
}

func (o *Options) sentences() Texts {
	t := o.Texts
	t.Mode = cmp.Or(t.Mode, o.Title)
	if t.Off == "" {
		t.Off = t.Mode + " is off. The user can turn it on in mcpdeck."
		if o.Key != "" {
			t.Off = fmt.Sprintf("%s is off. The user can turn it on in mcpdeck (key %s).", t.Mode, o.Key)
		}
	}
	t.Failed = cmp.Or(t.Failed, t.Mode+" was turned off because its server keeps failing. The user can turn it on again in mcpdeck.")
	t.Deadline = cmp.Or(t.Deadline, fmt.Sprintf("%s did not answer within %d s. The call may have taken effect: check before repeating it.",
		o.Title, int(o.Limits.Call.Seconds())))
	if t.Command == nil {
		t.Command = func(verb string) string { return "mcpdeck " + verb + " " + o.Name }
	}
	if t.Withheld == nil {
		t.Withheld = withheld
	}
	t.Accept = cmp.Or(t.Accept, "with "+t.Command("accept"))
	return t
}

func withheld(tool string, why catalogue.Withheld) string {
	switch why {
	case catalogue.TurnedOff:
		return tool + " is turned off. The user can allow it in mcpdeck."
	case catalogue.HeldNew:
		return tool + " is hidden until the user accepts it: it is new."
	default:
		return tool + " is hidden until the user accepts it: its definition changed."
	}
}

const closedText = "mcpdeck closed during this call. It may have taken effect: check, then retry."

// refusal is why a call was not made, as text for the agent.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

// server returns the name of the program as shown to the user.
func (o *Options) server() string { return o.Title + "'s MCP server" }

// lost returns the answer to a call whose child ended; cause is the reason, if known.
func (o *Options) lost(cause string) string {
	if o.Texts.Lost != "" {
		return o.Texts.Lost
	}
	how, ended := strings.CutPrefix(cause, "it ended with ")
	if ended {
		how = " (" + how + ")"
	} else {
		how = ""
	}
	return o.Title + " stopped" + how + ". The call may have taken effect: check, then retry."
}

func (o *Options) waiting(before int) string {
	if before == 0 {
		return "waiting for " + o.Title + ", you are next"
	}
	return fmt.Sprintf("waiting for %s, %d ahead of you", o.Title, before)
}

func (o *Options) needsUser(why string) string {
	return fmt.Sprintf("%s needs the user in mcpdeck: %s.", o.Title, strings.TrimSuffix(sanitize.Line(why), "."))
}

func (o *Options) notStarted(why string) string {
	return fmt.Sprintf("%s could not be started: %s.", o.Title, strings.TrimSuffix(why, "."))
}

func (o *Options) busy(waiting int) string {
	return fmt.Sprintf("%s is busy, with %s waiting. Try again later.", o.Title, humanize.Count(waiting, "call"))
}

func (o *Options) crowded(children int) string {
	return fmt.Sprintf("%s is busy: it is running for %s. Try again later.", o.Title, humanize.Count(children, "other agent"))
}

// barred says what cannot be done with a server that has a URL.
func barred(err error) string {
	if _, answered := errors.AsType[*child.StatusError](err); answered {
		return "used"
	}
	return "reached"
}

// noTool returns the answer to a call of a tool that is not listed.
func (o *Options) noTool(listed *catalogue.Catalogue, name string) string {
	if why := listed.Withheld(o.Catalogue.Expose(name)); why != catalogue.NotWithheld {
		if text := o.Texts.Withheld(name, why); text != "" {
			return text
		}
	}
	return fmt.Sprintf("%s offers no tool %q now. List the tools again; what is offered may have changed.", o.Title, sanitize.First(name, 100))
}

func (o *Options) behind(tool string) string {
	return fmt.Sprintf("This connection has %s's tools behind %s: call that with tool %q and arguments.", o.Title, o.Gateway.Tool, tool)
}
