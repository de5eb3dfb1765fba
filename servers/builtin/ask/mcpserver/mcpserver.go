// Package mcpserver offers the queue of questions to agents over MCP: the tools ask
// and ask_wait.
package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/inproc"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Queue is where questions go: the queue of this process, or the socket of
// another.
type Queue interface {
	Open(req questions.Request) (Call, error)
	// Resume waits again for what was opened under a key, in the name of peer.
	Resume(key, owner string, peer questions.Peer) (Call, error)
	// Left says that the connection with this key of a peer has ended.
	Left(key string)
}

// Call is one wait for an answer; see [questions.Call].
type Call interface {
	Done() <-chan struct{}
	Reply() (questions.Reply, error)
	Delivered(d questions.Delivery)
	Leave(why string)
	HandOver()
	Place() (state questions.State, ahead, pending int)
	// Unreached tells since when no deck has the question; zero when one has it.
	Unreached() time.Time
}

// InProcess is a queue of this process.
func InProcess(q *questions.Queue) Queue { return queueDesk{q} }

type queueDesk struct{ q *questions.Queue }

func (d queueDesk) Open(req questions.Request) (Call, error) {
	c, err := d.q.Open(req)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (d queueDesk) Resume(key, owner string, peer questions.Peer) (Call, error) {
	c, err := d.q.Resume(key, owner, peer)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (d queueDesk) Left(key string) { d.q.Left(key) }

// handlers are those of a queue.
type handlers struct {
	queue Queue
	sign  signer
}

// Remote is the queue of another process, reached by its socket.
func Remote(c *questions.Client) Queue { return remoteDesk{c} }

type remoteDesk struct{ c *questions.Client }

func (d remoteDesk) Open(req questions.Request) (Call, error) {
	c, err := d.c.Open(req)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (d remoteDesk) Left(string) {} // the deck sees this process itself

func (d remoteDesk) Resume(key, owner string, _ questions.Peer) (Call, error) {
	c, err := d.c.Resume(key, owner)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// noQueue is that of a process without one.
type noQueue struct{}

func (noQueue) Open(questions.Request) (Call, error) { return nil, questions.ErrUnavailable }
func (noQueue) Left(string)                          {}
func (noQueue) Resume(string, string, questions.Peer) (Call, error) {
	return nil, questions.ErrUnavailable
}

// New makes the server of a queue. With nil, questions go to the agent's own client if it can
// show forms.
func New(queue Queue, version string, opts ...server.ServerOption) *server.MCPServer {
	h := handlers{queue: queue, sign: newSigner()}
	if queue == nil {
		h.queue = noQueue{}
	}
	hints := mcp.ToolAnnotation{
		Title: "Ask the user", ReadOnlyHint: mcp.ToBoolPtr(true), DestructiveHint: mcp.ToBoolPtr(false),
		IdempotentHint: mcp.ToBoolPtr(false), OpenWorldHint: mcp.ToBoolPtr(false),
	}
	waitHints := hints
	waitHints.Title, waitHints.IdempotentHint = "Wait for the user's answer", mcp.ToBoolPtr(true)
	meta := func(search string) *mcp.Meta {
		return mcp.NewMetaFromMap(map[string]any{"anthropic/alwaysLoad": true, "anthropic/searchHint": search})
	}
	srv := server.NewMCPServer("pi-ask-mcp", version, append(opts, server.WithToolCapabilities(false), server.WithElicitation(),
		server.WithInstructions("Use ask when only the user can decide something that changes what you do next. "+
			"If it returns status pending, call ask_wait with the id until there is an answer."))...)
	srv.AddTool(mcp.Tool{
		Name: "ask", Title: "Ask the user", Description: askDescription, Annotations: hints,
		RawInputSchema: json.RawMessage(askInput), RawOutputSchema: json.RawMessage(resultSchema),
		Meta: meta("ask the user a question, get a decision or preference"),
	}, h.ask)
	srv.AddTool(mcp.Tool{
		Name: "ask_wait", Title: "Wait for the user's answer", Description: waitDescription, Annotations: waitHints,
		RawInputSchema: json.RawMessage(waitInput), RawOutputSchema: json.RawMessage(resultSchema),
		Meta: meta("wait for the answer to a question asked before"),
	}, h.askWait)
	return srv
}

// InDeck is the server of a queue in the deck.
func InDeck(queue Queue, version string) *inproc.Server {
	return inproc.New(inproc.Options{
		Info: backend.Info{Name: "ask", Title: "Ask", ServerName: "pi-ask-mcp"},
		Policy: func(tool string) backend.Policy {
			return backend.Policy{Load: admission.Waits, Resumable: true, Ordered: tool == "ask"}
		},
		Ended: queue.Left,
	}, func(opts ...server.ServerOption) *server.MCPServer { return New(queue, version, opts...) })
}

func (h handlers) ask(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	args, err := parseAsk(req)
	if err != nil {
		return refusal("The question was not shown to the user: " + err.Error() + ". Correct this and call ask again."), nil
	}
	if res, done := h.elicited(ctx, req, args.Questions); done {
		return res, nil
	}
	next := backend.InOrder(ctx)
	call, err := h.queue.Open(h.request(ctx, req, args))
	next()
	w := waitFor{call: call, questions: args.Questions, key: args.ResumeKey, fallback: func() *mcp.CallToolResult {
		return h.elicit(ctx, req, args.Questions)
	}}
	if err != nil {
		return w.failed(err), nil
	}
	return h.wait(ctx, req, w)
}

func (h handlers) askWait(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	args := req.GetArguments() // into a map: names are told apart exactly
	id, _ := args["id"].(string)
	if id == "" {
		return refusal("ask_wait needs the id that ask returned with status pending."), nil
	}
	who := backend.CallFrom(ctx).Caller
	call, err := h.queue.Resume(id, who.Identity, peerOf(who))
	if err != nil {
		return failure(err), nil
	}
	limit := seconds(args["timeoutSeconds"])
	return h.wait(ctx, req, waitFor{call: call, key: id, limit: limit})
}

// arguments are those of ask.
type arguments struct {
	questions.Request
}

func parseAsk(req mcp.CallToolRequest) (arguments, error) {
	raw := req.Params.RawArguments
	if len(raw) == 0 {
		b, err := json.Marshal(req.Params.Arguments)
		if err != nil {
			return arguments{}, errors.New("the arguments are not JSON")
		}
		raw = b
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return arguments{}, errors.New("the arguments are not a JSON object")
	}
	qs, err := questions.ParseQuestions(fields["questions"])
	if err != nil {
		return arguments{}, err
	}
	a := arguments{Request: questions.Request{Questions: qs}}
	_ = json.Unmarshal(fields["title"], &a.Title) // a title that is no string is as good as none
	var timeout any
	if json.Unmarshal(fields["timeoutSeconds"], &timeout) == nil {
		a.Timeout = seconds(timeout)
	}
	if req.Params.Meta != nil {
		a.ResumeKey, _ = req.Params.Meta.AdditionalFields[backend.ResumeKeyMeta].(string)
		a.Again, _ = req.Params.Meta.AdditionalFields[backend.AgainMeta].(bool)
	}
	if a.ResumeKey == "" {
		a.ResumeKey = questions.NewKey()
	}
	return a, nil
}

// askedAt is when the call was made: the relay says it of one that it has sent
// to another process before.
func askedAt(req mcp.CallToolRequest, now time.Time) time.Time {
	if req.Params.Meta == nil {
		return now
	}
	ms, _ := req.Params.Meta.AdditionalFields[backend.AskedMeta].(float64)
	if at := time.UnixMilli(int64(ms)); at.Before(now) && now.Sub(at) < 7*24*time.Hour {
		return at
	}
	return now
}

// seconds is a number of seconds above 0, else 0.
func seconds(v any) time.Duration {
	switch v := v.(type) {
	case float64:
		if v > 0 && v < 1e9 {
			return time.Duration(v * float64(time.Second))
		}
	case string:
		if d, err := time.ParseDuration(v + "s"); err == nil && d > 0 {
			return d
		}
	}
	return 0
}

// request adds who is asking.
func (h handlers) request(ctx context.Context, _ mcp.CallToolRequest, a arguments) questions.Request {
	who := backend.CallFrom(ctx).Caller
	r := a.Request
	r.Owner = who.Identity
	r.From = questions.From{
		Client: who.Client, ClientVersion: who.ClientVersion, Cwd: who.Folder(), Title: r.Title,
		Session: who.Hints["MCPDECK_SESSION"],
	}
	r.Peer = peerOf(who)
	return r
}

// peerOf is what the system says about a caller.
func peerOf(who snapshot.Caller) questions.Peer {
	p := questions.Peer{PID: who.PID, Agent: who.PID, Program: who.Program, Key: who.Agent}
	if who.Transport == "unix" {
		p.Cwd = who.Folder()
	}
	return p
}

// waitFor is what a call of either tool waits for.
type waitFor struct {
	call      Call
	questions []questions.Question // for the texts; nil in ask_wait
	key       string
	limit     time.Duration // ask_wait returns pending after this; 0: by the client alone

	// fallback asks the client when there is no deck; nil results and a nil
	// function mean that it cannot be asked.
	fallback func() *mcp.CallToolResult
}

func (w *waitFor) failed(err error) *mcp.CallToolResult {
	if errors.Is(err, questions.ErrUnavailable) && w.fallback != nil {
		if res := w.fallback(); res != nil {
			return res
		}
	}
	return failure(err)
}

// wait keeps the call alive until there is an answer, the client is about to
// give up, or has.
func (h handlers) wait(ctx context.Context, req mcp.CallToolRequest, w waitFor) (*mcp.CallToolResult, error) {
	defer backend.CallFrom(ctx).WaitForUser()()
	now := time.Now()
	start := askedAt(req, now)
	progress := newProgress(ctx, req, w, start)
	limit := backend.CallFrom(ctx).Caller.Patience(progress.token != nil)
	if w.limit > 0 && (limit == 0 || w.limit < limit) {
		limit = w.limit
	}
	var over <-chan time.Time
	if limit > 0 {
		t := time.NewTimer(limit - now.Sub(start)) // the client counts from its call
		defer t.Stop()
		over = t.C
	}
	beat := time.NewTicker(progressEvery)
	defer beat.Stop()
	for {
		progress.send()
		select {
		case <-w.call.Done():
			return h.end(ctx, w)
		case <-beat.C:
		case <-over:
			w.call.HandOver()
			select {
			case <-w.call.Done(): // the answer won, or the hand-over itself ended the call
				if _, err := w.call.Reply(); err == nil {
					return h.end(ctx, w)
				}
			default:
			}
			return pending(w.key, time.Since(start), w.call.Unreached()), nil
		case <-ctx.Done():
			w.call.Leave("the agent stopped waiting")
			return nil, ctx.Err()
		}
	}
}

func (h handlers) end(ctx context.Context, w waitFor) (*mcp.CallToolResult, error) {
	reply, err := w.call.Reply()
	if err != nil {
		return w.failed(err), nil
	}
	if ctx.Err() != nil {
		w.call.Delivered(questions.NotTaken)
		return nil, ctx.Err()
	}
	told := func(reached bool) {
		if reached {
			w.call.Delivered(questions.Delivered)
		} else {
			w.call.Delivered(questions.NotTaken)
		}
	}
	if !backend.CallFrom(ctx).OnDelivery(told) {
		told(true)
	}
	return outcome(reply), nil
}

const progressEvery = 15 * time.Second

// progress tells a client that the call is alive.
type progress struct {
	ctx   context.Context
	token any
	w     waitFor
	start time.Time
	last  float64
}

func newProgress(ctx context.Context, req mcp.CallToolRequest, w waitFor, start time.Time) *progress {
	p := &progress{ctx: ctx, w: w, start: start, last: -1}
	if req.Params.Meta != nil {
		p.token = req.Params.Meta.ProgressToken
	}
	return p
}

func (p *progress) send() {
	srv := server.ServerFromContext(p.ctx)
	if p.token == nil || srv == nil || p.ctx.Err() != nil {
		return
	}
	// To the millisecond: another process may have told of the same second.
	at := time.Since(p.start).Round(time.Millisecond).Seconds()
	if at <= p.last {
		at = p.last + 0.001
	}
	p.last = at
	_, ahead, _ := p.w.call.Place()
	what := "waiting for your answer in mcpdeck"
	switch n, lost := len(p.w.questions), p.w.call.Unreached(); {
	case !lost.IsZero():
		what = fmt.Sprintf("waiting for mcpdeck, which has been away for %s", time.Since(lost).Round(time.Second))
	case n > 1 && ahead > 0:
		what += fmt.Sprintf(" (%s, %d ahead in the queue)", humanize.Count(n, "question"), ahead)
	case n > 1:
		what += " (" + humanize.Count(n, "question") + ")"
	case ahead > 0:
		what += fmt.Sprintf(" (%d ahead in the queue)", ahead)
	}
	// A client that cannot be told may still get the result.
	_ = srv.SendNotificationToClient(p.ctx, "notifications/progress", map[string]any{
		"progressToken": p.token, "progress": at, "message": what,
	})
}
