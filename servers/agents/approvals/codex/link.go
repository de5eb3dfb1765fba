package codex

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// link is a connection to the daemon of one folder.
type link struct {
	a       *Adapter
	home    string
	pid     int
	program string   // of the daemon's process, as the system has it
	loaded  []string // threads at the time of the connection
	frames  approvals.Frames
	conn    *rpc.Conn
	ctx     context.Context
	end     context.CancelFunc

	mu      sync.Mutex // guards what follows
	version string     // of the daemon
	threads map[string]*thread
	told    map[string]snapshot.Session // what the roster was told last
	over    bool
	pace    approvals.Pace
	limits  limits
}

const answerWithin = 30 * time.Second

const connectionLost = "the connection to Codex was lost"

var errFormat = errors.New("the daemon's answer is not understood")

// connect connects to the daemon of a folder, and introduces the deck.
func (a *Adapter) connect(ctx context.Context, home string) (*link, error) {
	raw, err := dial(ctx, home)
	if err != nil {
		return nil, err
	}
	l := &link{a: a, home: home, threads: map[string]*thread{}, told: map[string]snapshot.Session{}, pace: approvals.Pace{Queue: a.opt.Queue, Agent: agent}}
	if u, ok := raw.(*net.UnixConn); ok {
		if p, err := socket.PeerOf(u); err == nil {
			l.pid, l.program = p.PID, socket.Program(p.PID)
		}
	}
	if l.frames, err = a.opt.Frames(ctx, raw); err != nil {
		return nil, err
	}
	l.ctx, l.end = context.WithCancel(ctx)
	l.conn = rpc.New(rpc.Options{
		Name: "Codex", Bare: true, Notify: l.notified, Serve: l.requested,
		Note: func(remark string) { a.opt.Log.Warn("talk to Codex", "home", home, "error", remark) },
	})
	l.conn.BeginSending(writer{l})
	recovery.Go("Codex reader", l.read)
	if err := l.introduce(); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// writer sends lines as frames.
type writer struct{ l *link }

func (w writer) Write(line []byte) (int, error) {
	if err := w.l.frames.Write(w.l.ctx, line[:len(line)-1]); err != nil {
		w.l.end()
		return 0, err
	}
	return len(line), nil
}

func (l *link) read() {
	defer l.close()
	for {
		message, err := l.frames.Read(l.ctx)
		if err != nil {
			return
		}
		if len(message) > 0 {
			l.conn.Hear(message)
		}
	}
}

func (l *link) close() {
	l.end()
	_ = l.frames.Close() // it only ends
	l.conn.Finish()
}

// call sends a request and waits for its result.
func (l *link) call(method string, params any, within time.Duration) (json.RawMessage, error) {
	raw, err := rpc.Raw(params)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(l.ctx, within)
	defer cancel()
	return l.conn.Call(ctx, method, raw)
}

// unwanted are the notifications that the deck has no use for.
func unwanted() []string {
	return []string{
		"account/gatewayOAuth/changed", "account/login/completed", "account/updated", "app/list/updated",
		"autoApprovalReview/strictReviewRequired", "command/exec/outputDelta", "configWarning", "deprecationNotice", "error",
		"externalAgentConfig/import/completed", "externalAgentConfig/import/progress", "fs/changed",
		"fuzzyFileSearch/sessionCompleted", "fuzzyFileSearch/sessionUpdated", "guardianWarning", "hook/completed", "hook/started",
		"item/agentMessage/delta", "item/autoApprovalReview/completed", "item/autoApprovalReview/started", "item/commandExecution/outputDelta",
		"item/commandExecution/terminalInteraction", "item/fileChange/outputDelta", "item/fileChange/patchUpdated",
		"item/mcpToolCall/progress", "item/plan/delta", "item/reasoning/summaryPartAdded", "item/reasoning/summaryTextDelta",
		"item/reasoning/textDelta", "mcpServer/event/stream/notification", "mcpServer/oauthLogin/completed", "mcpServer/startupStatus/updated",
		"model/rerouted", "model/safetyBuffering/updated", "model/verification", "modelProvider/authRecoveryCompleted",
		"modelProvider/authRecoveryStarted", "process/exited", "process/outputDelta", "project/changed",
		"remoteControl/status/changed", "skills/changed", "thread/archived", "thread/attachment/updated",
		"thread/compacted", "thread/environment/connected", "thread/environment/disconnected", "thread/goal/cleared", "thread/goal/updated",
		"thread/prediction/updated", "thread/project/updated", "thread/queue/changed", "thread/realtime/closed",
		"thread/realtime/error", "thread/realtime/item/completed", "thread/realtime/item/started", "thread/realtime/item/transcript/delta",
		"thread/realtime/itemAdded", "thread/realtime/outputAudio/delta", "thread/realtime/sdp", "thread/realtime/started",
		"thread/realtime/transcript/delta", "thread/realtime/transcript/done", "thread/reverted", "thread/section/changed",
		"thread/tokenUsage/updated", "thread/unarchived", "turn/completed", "turn/diff/updated", "turn/moderationMetadata", "turn/plan/updated",
		"turn/started", "warning", "windows/worldWritableWarning", "windowsSandbox/setupCompleted",
	}
}

// introduce greets the daemon and asks which threads are loaded.
func (l *link) introduce() error {
	type object = map[string]any
	raw, err := l.call("initialize", object{
		"clientInfo":   object{"name": "mcpdeck", "title": "mcpdeck", "version": l.a.opt.Version},
		"capabilities": object{"experimentalApi": true, "optOutNotificationMethods": unwanted()},
	}, answerWithin)
	if err != nil {
		return err
	}
	o, err := rawjson.SplitObject(raw)
	if err != nil || o.Str("userAgent") == "" {
		return errFormat
	}
	_, rest, _ := strings.Cut(o.Str("userAgent"), "/")
	l.mu.Lock()
	l.version, _, _ = strings.Cut(rest, " ")
	l.mu.Unlock()
	l.conn.Say(rpc.Message{Method: "initialized"})
	for cursor := ""; ; {
		params := object{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		var page struct {
			Data       []string `json:"data"`
			NextCursor string   `json:"nextCursor"`
		}
		raw, err := l.call("thread/loaded/list", params, answerWithin)
		if err != nil {
			return err
		}
		if json.Unmarshal(raw, &page) != nil {
			return errFormat
		}
		l.loaded = append(l.loaded, page.Data...)
		if cursor = page.NextCursor; cursor == "" || len(page.Data) == 0 {
			return nil
		}
	}
}

// run serves the connection until it or ctx ends.
func (l *link) run(ctx context.Context) {
	l.mu.Lock()
	for _, id := range l.loaded { // all of them: a sub-agent that is read before its session is there would be one of its own
		l.learn(l.thread(id))
	}
	l.mu.Unlock()
	recovery.Go("earlier sessions of Codex", l.earlier)
	if l.a.opt.Quota != nil {
		recovery.Go("quota of Codex", l.followQuota)
	}
	select {
	case <-l.conn.Done():
	case <-ctx.Done():
	}
	l.close()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	for _, t := range l.threads {
		t.stopLinger()
		for _, o := range t.open {
			o.withdraw(connectionLost)
		}
		t.open = map[string]*open{}
	}
}

// How many sessions that are not loaded are listed, and for how long after their last use.
const (
	mostEarlier = 20
	earlierFor  = time.Hour
)

// earlier reports sessions that were in use lately and are not loaded: they have ended.
func (l *link) earlier() {
	raw, err := l.call("thread/list", map[string]any{"limit": mostEarlier, "sortKey": "updated_at", "sortDirection": "desc"}, answerWithin)
	var page struct {
		Data []info `json:"data"`
	}
	if err != nil || json.Unmarshal(raw, &page) != nil {
		return // the sessions that are loaded count
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, in := range page.Data {
		used := time.Unix(in.Updated, 0)
		if l.over || l.threads[in.ID] != nil || in.ID == "" || in.Parent != "" || l.a.now().Sub(used) > earlierFor {
			continue
		}
		l.report(&thread{info: in, known: true, status: status{Type: "notLoaded"}, since: used})
	}
}

// sessions returns what the roster knows from this connection, without what has ended.
func (l *link) sessions() map[string]snapshot.Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string]snapshot.Session{}
	for id, s := range l.told {
		if s.State != snapshot.Ended {
			out[id] = s
		}
	}
	return out
}
