package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// Answers are the kinds of server requests that an agent can answer.
type Answers struct {
	Forms, Pages bool   // by elicitation
	Sampling     string // the capability as declared, a JSON object; "" if none
	Roots        bool   // only from an agent of the newer era; others are not asked
}

func (a Answers) any() bool { return a != Answers{} }

// passed returns the requests that a child started for f passes on to its agent.
func (o *Options) passed(f From) (a Answers) {
	if f.Agent == "" || !o.OnDemand || o.Share != ShareSession && o.Share != ShareAuto {
		return a // the child serves several agents
	}
	return o.passedWith(f)
}

// passedWith returns the requests that a child of the newer era, which is told with each
// request what the agent answers, may have passed on to it.
func (o *Options) passedWith(f From) (a Answers) {
	if f.Agent == "" || o.ToolsOnly {
		return a
	}
	if o.ElicitAgent {
		a.Forms, a.Pages, a.Roots = f.Answers.Forms, f.Answers.Pages, f.Answers.Roots && !o.NoRoots
	}
	if o.SampleAgent {
		a.Sampling = f.Answers.Sampling
	}
	return a
}

// capabilities returns the client capabilities declared to the child.
func (a Answers) capabilities() (can rawjson.Object) {
	var modes rawjson.Object
	if a.Forms {
		modes = append(modes, rawjson.Member{Key: "form", Value: json.RawMessage(`{}`)})
	}
	if a.Pages {
		modes = append(modes, rawjson.Member{Key: "url", Value: json.RawMessage(`{}`)})
	}
	if modes != nil {
		can = append(can, rawjson.Member{Key: "elicitation", Value: modes.JSON()})
	}
	if a.Sampling != "" {
		can = append(can, rawjson.Member{Key: "sampling", Value: json.RawMessage(a.Sampling)})
	}
	return can
}

// to reports whether the agent answers a request.
func (a Answers) to(method string, params json.RawMessage) bool {
	switch method {
	case sample:
		return a.Sampling != ""
	case listRoots:
		return a.Roots
	}
	o, _ := rawjson.SplitObject(params) // if invalid, the agent reports the error
	if o.Str("mode") == "url" {
		return a.Pages
	}
	return a.Forms && method == elicit
}

// toAll reports whether the agent answers all of some input requests.
func (a Answers) toAll(requests json.RawMessage) bool {
	all, err := rawjson.SplitObject(requests)
	if err != nil || len(all) == 0 {
		return false
	}
	for _, r := range all {
		about, err := rawjson.SplitObject(r.Value)
		if err != nil || !a.to(about.Str("method"), about.Get("params")) {
			return false
		}
	}
	return true
}

// passOn sends a request to the agent that made these calls. One that the agent cannot
// answer is logged: elicitations are declined, anything else is an error.
func (l *link) passOn(ctx context.Context, can Answers, method string, params json.RawMessage, calls []Call) (json.RawMessage, error) {
	why := "no call is running"
	if !can.to(method, params) {
		why, calls = "the agent does not answer such requests", nil
	}
	for _, in := range calls {
		if in.Ask == nil {
			continue
		}
		l.log.Note(fmt.Sprintf("%s: passed on to %s, %s", method, sanitize.Line(in.Agent), humanize.Bytes(len(params))))
		raw, err := in.Ask(ctx, method, params)
		if _, theirs := errors.AsType[*rpc.Error](err); err == nil || theirs {
			return raw, err
		}
		why = err.Error()
		if ctx.Err() != nil {
			break
		}
	}
	l.log.Note(method + ": declined, " + sanitize.Line(why))
	if method == elicit {
		return Elicited{Action: "decline"}.JSON(), nil
	}
	return nil, fmt.Errorf("it asks for %s, and %s", method, why)
}

// Declares reports whether the server is told what its agents answer.
func (o *Options) Declares() bool { return o.ElicitAgent || o.SampleAgent }
