package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// part is what an agent's program is called, by itself and by its connection.
type part struct{ program, client, version string }

// cast are the agents of the demo.
func cast() []part {
	return []part{
		{"claude", "claude-code", "2.1.330"},
		{"codex", "codex-mcp-client", "0.169.0"},
		{"opencode", "opencode", "1.18.33"},
	}
}

// scene is one thing that happens, and what the user can do about it.
type scene struct {
	begins string // what is said at first; "" for nothing
	agents func(ctx context.Context, s *Show) error
	ready  func(s *Show) bool  // the deck shows what the user is to see
	say    string              // then, what happens
	try    string              // and what can be pressed
	then   func(s *Show) bool  // the user has got so far that it is something else
	next   string              // namely this
	page   string              // the user is to be on it; "" for any
	there  string              // what can be done on that page, in place of try
	did    func(s *Show) bool  // the user has done their part; nil: when the agents have
	keys   []string            // are pressed if the user does nothing
	alone  func(s *Show) error // does the user's part where there is no screen; nil: there is none
	ends   string              // what is said when it is over; "" for nothing
}

// script is the whole demo, about a minute and a half at its usual pace.
func script() []scene {
	return []scene{
		{
			begins: "claude, codex and opencode are connected. This is the Inbox.",
			agents: work,
			ready:  called("manage_memory", snapshot.OK),
		},
		{
			agents: question, ready: waiting(1), alone: answerAll,
			say:  "codex asks you, and waits for the answer.",
			try:  "Choose with the digits, or enter opens it. Or wait.",
			then: reviewed, next: "This is the review: enter sends both answers. Or wait.",
			keys: []string{"1", "2", "enter"},
			ends: "codex has your answers.",
		},
		{
			agents: drawing, ready: called("pixelsrc_render", snapshot.OK),
			say:  "opencode has drawn pictures.",
			try:  "Press P to look at them.",
			page: "pixels", keys: []string{"P"},
			there: "The newest is on top; j and k move, + draws it larger.",
		},
		{
			agents: func(ctx context.Context, s *Show) error {
				if err := s.agents["codex"].fails(ctx, "read_project_context", `{"directoryPath":"docs/payments"}`); err != nil {
					return err
				}
				// The agent may have the result before the deck's list of calls has it.
				return s.wait(ctx, func() bool { return called("read_project_context", snapshot.ToolError)(s) })
			},
			ready: called("read_project_context", snapshot.ToolError),
			say:   "A call of codex has failed.",
			try:   "Press C to see what it wanted and what it got.",
			page:  "calls", keys: []string{"C"},
			there: "It is selected; enter opens its arguments and its result.",
		},
		{
			begins: "claude notes what components promise each other, and edits one …",
			agents: edit, ready: called("logicstamp_compare_snapshot", snapshot.OK),
			say:  "claude's edit breaks what other components rely on.",
			try:  "Press D for what changed, and who is affected.",
			page: "drift", keys: []string{"D"},
			there: "Button lost a prop; the details name the files that import it.",
		},
		{
			begins: "All three go on, and may not run commands without you …",
			agents: prompts, ready: waiting(len(cast())), alone: answerAll,
			say:  "All three ask to run a command: in their terminals, and here.",
			try:  "y allows once, n denies. If you wait, the demo denies.",
			keys: []string{"n", "n", "n", "n"},
			ends: "All three have your decisions, and have confirmed them.",
		},
		{
			agents: forecast, ready: func(*Show) bool { return true }, alone: func(s *Show) error { return s.o.TurnOn("weather") },
			say:   "Weather is somebody else's server. Off, it costs agents nothing.",
			try:   "Press S, G and space; read what Weather runs, then press y.",
			there: "Press G and space; read what Weather runs, then press y.",
			page:  "servers", keys: []string{"S", "G", "space", "y"}, did: func(s *Show) bool { return weather(s).State.Status != snapshot.Off },
			ends: "claude got its tools at once, and has called one.",
		},
	}
}

// work is what agents do all day.
func work(ctx context.Context, s *Show) error {
	if err := s.opens(ctx); err != nil {
		return err
	}
	if err := s.o.Folder.write("menu/art/hero.pxl", pixelsrc.Example("hero")); err != nil {
		return err
	}
	for _, c := range []struct{ agent, tool, args string }{
		{"claude", "read_project_context", `{"directoryPath":"src"}`},
		{"codex", "read_project_context", `{"directoryPath":"."}`},
		{"opencode", "pixelsrc_palettes", `{}`},
		{"opencode", "pixelsrc_validate", `{"path":"art/hero.pxl"}`},
		{"claude", "logicstamp_refresh_snapshot", `{}`},
		{"claude", "logicstamp_search_components", `{"query":"price"}`},
		{"codex", "manage_memory", `{"action":"write","key":"review.todo","value":"Check the totals of the cart"}`},
	} {
		if err := s.agents[c.agent].call(ctx, c.tool, c.args); err != nil {
			return fmt.Errorf("%s: %w", c.tool, err)
		}
		if err := process.Pause(ctx, min(s.o.Pace/20, 300*time.Millisecond)); err != nil {
			return err
		}
	}
	return nil
}

// question is two of them, of one call.
func question(ctx context.Context, s *Show) error {
	return s.agents["codex"].call(ctx, "ask", `{"title":"Orders of the shop","questions":[`+
		`{"id":"login","header":"Login","question":"How should the payments service authenticate its clients?",`+
		`"description":"Clients are **two services of our own** and one partner. Tokens are checked in `+"`middleware/auth.ts`"+`.","recommended":0,"options":[`+
		`{"label":"OAuth 2.1","description":"Short-lived tokens, refreshed; needs the identity service","preview":"POST /token\n  grant_type=client_credentials\n  scope=charges:write\n\n200 OK\n{\n  \"access_token\": \"eyJhbGciOi…\",\n  \"expires_in\": 900\n}"},`+
		`{"label":"API keys","description":"What the partner uses today; one key a client","preview":"GET /charges\n  X-Api-Key: sk_live_…"},`+
		`{"label":"Mutual TLS","description":"Certificates from the mesh; none for the partner yet"}]},`+
		`{"id":"storage","header":"Storage","question":"Which database for the orders?","options":[`+
		`{"label":"SQLite","description":"One file beside the program. Nothing to run."},`+
		`{"label":"Postgres","description":"A server. Several shops can write at once."}]}]}`)
}

func drawing(ctx context.Context, s *Show) error {
	for _, name := range []string{"coin", "robot", "mushroom", "city", "hero", "potion"} {
		file := "art/" + name + ".pxl"
		if err := s.o.Folder.write("menu/"+file, pixelsrc.Example(name)); err != nil {
			return err
		}
		if err := s.agents["opencode"].call(ctx, "pixelsrc_render", `{"path":"`+file+`"}`); err != nil {
			return err
		}
	}
	return nil
}

// edit changes what a component promises.
func edit(ctx context.Context, s *Show) error {
	if err := s.o.Folder.copyProject(); err != nil { // as it was, when the demo is played again
		return err
	}
	claude := s.agents["claude"]
	if err := claude.call(ctx, "logicstamp_refresh_snapshot", `{}`); err != nil {
		return err
	}
	if err := s.o.Folder.edit("shop/src/parts/Button.tsx", "  disabled?: boolean;\n", "  tone: 'calm' | 'loud';\n"); err != nil {
		return err
	}
	if err := s.o.Folder.edit("shop/src/parts/Price.tsx", "cents: number;", "cents: number | bigint;"); err != nil {
		return err
	}
	return claude.call(ctx, "logicstamp_compare_snapshot", `{}`)
}

// forecast calls a tool of the server as soon as it is there. The user may turn the server
// off again before that.
func forecast(ctx context.Context, s *Show) error {
	for {
		if err := s.wait(ctx, func() bool { return weather(s).Tools > 0 }); err != nil {
			return err
		}
		err := s.agents["claude"].call(ctx, "weather_forecast", `{"city":"Vienna"}`)
		if !errors.As(err, new(errTool)) && !errors.As(err, new(*rpc.Error)) {
			return err
		}
		if err := process.Pause(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// weather is the server that is off at first.
func weather(s *Show) snapshot.Server {
	all := s.o.Deck.Snapshot().Servers
	if i := slices.IndexFunc(all, func(v snapshot.Server) bool { return v.Name == "weather" }); i >= 0 {
		return all[i]
	}
	return snapshot.Server{State: snapshot.State{Status: snapshot.Off}}
}

// waiting reports whether so many things wait for the user.
func waiting(n int) func(*Show) bool {
	return func(s *Show) bool { return len(open(s)) >= n }
}

// reviewed reports whether all questions of what waits are answered, and not sent.
func reviewed(s *Show) bool {
	return slices.ContainsFunc(open(s), func(it ask.Item) bool { return it.Draft.Tab >= len(it.Request.Questions) })
}

func open(s *Show) []ask.Item {
	return slices.DeleteFunc(slices.Clone(s.o.Queue.Pending().Items), func(it ask.Item) bool { return !it.Waits() })
}

// called reports whether a tool was called with an outcome.
func called(tool string, status snapshot.CallStatus) func(*Show) bool {
	return func(s *Show) bool {
		all, _ := s.o.Deck.Calls(0)
		return slices.ContainsFunc(all, func(c snapshot.Call) bool { return c.Tool == tool && c.Status == status })
	}
}

// answerAll answers what is open: permissions with no, questions with the last option.
func answerAll(s *Show) error {
	for _, it := range open(s) {
		var all []ask.Result
		for _, q := range it.Request.Questions {
			label := q.Options[len(q.Options)-1].Label
			if slices.ContainsFunc(q.Options, func(o ask.Option) bool { return o.Label == "Deny" }) {
				label = "Deny"
			}
			all = append(all, ask.Result{ID: q.ID, SelectedOptions: []string{label}})
		}
		if err := s.o.Queue.Answer(it.ID, all); err != nil {
			return err
		}
	}
	return nil
}
