// Package fake is a deck with invented agents and calls, for tests.
package fake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Deck holds a snapshot and calls that a test may change.
type Deck struct {
	mu      sync.Mutex
	snap    *snapshot.Snapshot
	calls   []snapshot.Call
	bodies  map[uint64]snapshot.CallBody
	changed []uint64 // calls in the order they changed; one may be in it twice
	stale   bool     // snap lacks calls
	hint    chan struct{}

	Restarted []string // names given to RestartServer
}

// NewDeck is a deck at work: five servers, three agents, some calls, as of now.
func NewDeck(now time.Time) *Deck {
	d := &Deck{hint: make(chan struct{}, 1), bodies: map[uint64]snapshot.CallBody{}}
	d.snap = &snapshot.Snapshot{
		Version: 1, Started: now.Add(-42 * time.Minute),
		Servers: []snapshot.Server{
			{Name: "pencil", Title: "Pencil", Foreign: true, State: snapshot.State{Status: snapshot.Ready, Detail: "menu.pen"}, Tools: 14, Bytes: 21_400, Context: 15_200},
			{Name: "ask", Title: "Ask", State: snapshot.State{Status: snapshot.Ready}, Tools: 2, Bytes: 3_120, Context: 2_400},
			{Name: "pixelsrc", Title: "Pixelsrc", State: snapshot.State{Status: snapshot.Starting}, Tools: 11, Bytes: 14_000, Context: 9_600},
			{Name: "logicstamp", Title: "LogicStamp", State: snapshot.State{Status: snapshot.Degraded, Reason: "run `mcpdeck doctor --fix` to install it; the stamp command was not found"}, Tools: 8, Bytes: 9_800, Context: 6_900},
			{Name: "clippy", Title: "Clippy", State: snapshot.State{Status: snapshot.Ready}, Tools: 4, Bytes: 4_400, Context: 3_000},
		},
		Agents: []snapshot.Agent{
			{Caller: snapshot.Caller{Agent: "a1", Transport: "unix", PID: 4211, Program: "claude", Client: "claude-code", ClientVersion: "2.1.4", Root: "/home/ana/src/menu"}, Protocol: "2026-07-28", Since: now.Add(-31 * time.Minute), Calls: 41, Errors: 1, InFlight: []string{"pencil_get_screenshot"}, LastCall: now.Add(-2 * time.Second), LastTool: "pencil_get_screenshot"},
			{Caller: snapshot.Caller{Agent: "a2", Transport: "unix", PID: 4390, Program: "codex", Client: "codex-mcp-client", ClientVersion: "0.61.0", Root: "/home/ana/src/shop"}, View: []string{"ask", "clippy"}, Protocol: "2025-06-18", Since: now.Add(-12 * time.Minute), Calls: 9, Waiting: true, InFlight: []string{"ask"}, LastCall: now.Add(-70 * time.Second), LastTool: "ask"},
			{Caller: snapshot.Caller{Agent: "a3", Transport: "http", Client: "opencode", ClientVersion: "1.2.0", Root: "/home/ana/src/menu"}, Protocol: "2025-11-25", Since: now.Add(-3 * time.Minute), Calls: 2, LastCall: now.Add(-2 * time.Minute), LastTool: "pixelsrc_render"},
		},
		Endpoints: snapshot.Endpoints{Socket: "/home/ana/.local/state/mcpdeck/run/deck.sock", HTTP: "127.0.0.1:7337"},
	}
	d.someCalls(now)
	return d
}

func (d *Deck) someCalls(now time.Time) {
	rows := []struct {
		agent, name, server, tool string
		status                    snapshot.CallStatus
		ago, took                 time.Duration
		args, result              string
	}{
		{"a1", "claude", "clippy", "read_project_context", snapshot.OK, 12 * time.Minute, 8 * time.Millisecond, `{"path":"README.md"}`, "# Menu"},
		{"a1", "claude", "pencil", "pencil_batch_get", snapshot.OK, 9 * time.Minute, 41 * time.Millisecond, `{"ids":["hero","nav"]}`, "2 nodes"},
		{"a2", "codex", "clippy", "manage_memory", snapshot.ToolError, 8 * time.Minute, 3 * time.Millisecond, `{"action":"get","key":"palette"}`, "no memory named palette"},
		{"a3", "opencode", "pixelsrc", "pixelsrc_render", snapshot.OK, 2 * time.Minute, 120 * time.Millisecond, `{"file":"hero.pxl","scale":4}`, "1 picture, 64×64"},
		{"a1", "claude", "logicstamp", "logicstamp_compare", snapshot.Refused, 90 * time.Second, time.Millisecond, `{"base":"main"}`, "unknown tool: logicstamp_compare"},
		{"a2", "codex", "ask", "ask", snapshot.Running, 70 * time.Second, 0, `{"questions":[{"question":"Which database?","options":["sqlite","postgres"]}]}`, ""},
		{"a1", "claude", "pencil", "pencil_batch_design", snapshot.OK, 40 * time.Second, 380 * time.Millisecond, `{"operations":"hero=I(root,{type:\"frame\"})"}`, "ok"},
		{"a1", "claude", "clippy", "haunt_desktop", snapshot.Cancelled, 20 * time.Second, 90 * time.Millisecond, `{"filename":"note.txt","content":"boo"}`, ""},
		{"a1", "claude", "pencil", "pencil_get_screenshot", snapshot.Running, 2 * time.Second, 0, `{"id":"hero"}`, ""},
	}
	for _, r := range rows {
		d.Add(snapshot.Call{
			Agent: r.agent, AgentName: r.name, Server: r.server, Tool: r.tool, Status: r.status,
			Started: now.Add(-r.ago), Duration: r.took, Args: r.args, Result: r.result,
			ArgsBytes: len(r.args), ResultBytes: len(r.result), Waiting: r.tool == "ask",
		})
	}
}

// Add puts a call into the log, with an ID when it has none, and returns the ID;
// one whose ID is known replaces it.
func (d *Deck) Add(c snapshot.Call) uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.ID == 0 {
		c.ID = uint64(len(d.calls) + 1)
	}
	d.changed = append(d.changed, c.ID)
	if c.ID <= uint64(len(d.calls)) {
		d.calls[c.ID-1] = c
	} else {
		d.calls = append(d.calls, c)
	}
	d.stale = true
	d.tell()
	return c.ID
}

// Forget makes the log empty.
func (d *Deck) Forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls, d.changed, d.stale = nil, nil, true
	d.tell()
}

// Change edits a copy of the snapshot and makes it the current one.
func (d *Deck) Change(edit func(s *snapshot.Snapshot)) {
	d.Snapshot()
	d.mu.Lock()
	defer d.mu.Unlock()
	snap := *d.snap
	snap.Version++
	edit(&snap)
	d.snap = &snap
	d.tell()
}

func (d *Deck) tell() {
	notify.Poke(d.hint)
}

// Snapshot is the current one.
func (d *Deck) Snapshot() *snapshot.Snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stale {
		snap := *d.snap
		snap.Version++
		snap.Calls = append([]snapshot.Call(nil), d.calls[max(0, len(d.calls)-512):]...)
		snap.Total = uint64(len(d.calls))
		d.snap, d.stale = &snap, false
	}
	return d.snap
}

// Subscribe hints at changes.
func (d *Deck) Subscribe() (<-chan struct{}, func()) { return d.hint, func() {} }

// Calls are those that changed since a version.
func (d *Deck) Calls(since uint64) ([]snapshot.Call, uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ids := slices.Clone(d.changed[min(since, uint64(len(d.changed))):])
	slices.Sort(ids)
	var out []snapshot.Call
	for _, id := range slices.Compact(ids) {
		out = append(out, d.calls[id-1])
	}
	return out, uint64(len(d.changed))
}

// SetBody is what Body answers for a call.
func (d *Deck) SetBody(id uint64, b snapshot.CallBody) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bodies[id] = b
}

// Body is what a call carried.
func (d *Deck) Body(_ context.Context, id uint64) (snapshot.CallBody, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if b, ok := d.bodies[id]; ok {
		return b, true
	}
	if id == 0 || id > uint64(len(d.calls)) {
		return snapshot.CallBody{}, false
	}
	c := d.calls[id-1]
	b := snapshot.CallBody{Args: json.RawMessage(c.Args)}
	switch c.Status {
	case snapshot.Running:
	case snapshot.Refused:
		b.Result = json.RawMessage(fmt.Sprintf(`{"code":-32602,"message":%q}`, c.Result))
	default:
		b.Result = json.RawMessage(fmt.Sprintf(`{"content":[{"type":"text","text":%q}],"isError":%v}`, c.Result, c.Status == snapshot.ToolError))
	}
	return b, true
}

// RestartServer notes the name; "pencil" fails.
func (d *Deck) RestartServer(_ context.Context, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Restarted = append(d.Restarted, name)
	if name == "pencil" {
		return errors.New("restart pencil: the program does not answer; switch Pencil off and on")
	}
	return nil
}
