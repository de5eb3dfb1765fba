package card

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/card/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/plain"
)

// Texts are the sentences in which a server may differ from others; those that are
// empty have defaults. A call that failed may have taken effect all the same, so none
// of them says that nothing has changed.
type Texts struct {
	Mode     string // what the user switches
	Off      string // to a call while off
	Lost     string // to a call whose child ended, or that finds none; the default says how it ended
	Failed   string // to a call after the card went off by itself
	Deadline string // to a call that was not answered in time
	Accept   string // how the user accepts what is held: "on its page"
	// Withheld answers a call of a tool that agents may not have; "" as one of no tool.
	Withheld func(tool string, why catalogue.Withheld) string
	// Command is what the user types for a verb of the card's: "accept", "status --long".
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
		return tool + " is held: it is new and the user has not accepted it yet."
	default:
		return tool + " is held: its definition changed and the user has not accepted it yet."
	}
}

const closedText = "mcpdeck closed during this call. It may have taken effect: check, then retry."

// refusal is why a call was not made, in the words the agent reads.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

// server is what the user knows the program as.
func (o *Options) server() string { return o.Title + "'s MCP server" }

// lost is the answer to a call whose child ended, of which cause may tell why.
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
	return fmt.Sprintf("%s needs the user in mcpdeck: %s.", o.Title, strings.TrimSuffix(plain.Line(why), "."))
}

func (o *Options) notStarted(why string) string {
	return fmt.Sprintf("%s could not be started: %s.", o.Title, strings.TrimSuffix(why, "."))
}

func (o *Options) busy(waiting int) string {
	return fmt.Sprintf("%s is busy: %d calls are waiting. Try again later.", o.Title, waiting)
}

func (o *Options) crowded(children int) string {
	return fmt.Sprintf("%s is busy: it is running for %d other agents. Try again later.", o.Title, children)
}

// noTool is the answer to a call of a tool that is not among what is listed.
func (o *Options) noTool(listed *catalogue.Catalogue, name string) string {
	if why := listed.Withheld(o.Catalogue.Expose(name)); why != catalogue.NotWithheld {
		if text := o.Texts.Withheld(name, why); text != "" {
			return text
		}
	}
	return fmt.Sprintf("%s offers no tool %q now. List the tools again; what is offered may have changed.", o.Title, plain.First(name, 100))
}

func (o *Options) behind(tool string) string {
	return fmt.Sprintf("This connection has %s's tools behind %s: call that with tool %q and arguments.", o.Title, o.Gateway.Tool, tool)
}
