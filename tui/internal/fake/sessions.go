package fake

import (
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Sessions is a list of sessions that a test may change.
type Sessions struct {
	All  []snapshot.Session
	Gone float64 // spent today by others
	Used []snapshot.Quota
	Lost []snapshot.Away
	notify.Feed
}

// Sessions is the list.
func (s *Sessions) Sessions() []snapshot.Session { return s.All }

// Spent is Gone.
func (s *Sessions) Spent() float64 { return s.Gone }

// Quotas is Used.
func (s *Sessions) Quotas() []snapshot.Quota { return s.Used }

// Away is Lost.
func (s *Sessions) Away() []snapshot.Away { return s.Lost }

// Hints hints at changes, after Send.
func (s *Sessions) Hints() (<-chan struct{}, func()) { return s.Subscribe() }

// Drafts are the drafts of sessions' next prompts.
type Drafts map[[2]string]string

// NextDraft is that of a session.
func (d Drafts) NextDraft(agent, id string) string { return d[[2]string{agent, id}] }

// SetNextDraft sets it.
func (d Drafts) SetNextDraft(agent, id, text string) { d[[2]string{agent, id}] = text }

// NewSessions are sessions of four agents, as of now, sorted by need.
func NewSessions(now time.Time) *Sessions {
	const list = "LiteLLM 1.109.1, taken on 2026-11-22"
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	return &Sessions{All: []snapshot.Session{
		{
			Agent: "claude", ID: "3f6c1a52-77aa-4b1e-9d8e-0a4d5b6c7d8e", Version: "2.1.330", PID: 4211, State: snapshot.WaitsForPermission, Since: ago(72 * time.Second),
			WaitingFor: "Bash rm -rf build && make all", Folder: "/home/ana/src/shop", Title: "Mend the till", Mode: "default", Model: "claude-sonnet-5", Subagents: 2,
			LastTool: "Bash", LastSubject: "rm -rf build && make all", Usage: snapshot.Usage{In: 18_000, Out: 41_000, CacheRead: 4_100_000, CacheWrite: 210_000},
			Cost: snapshot.Cost{USD: 2.14, Today: 2.14, Known: true, Source: list}, Context: snapshot.Context{Used: 122_000, Window: 200_000}, Place: snapshot.Place{Tmux: "work:1.0", TmuxPane: "%3"}, Connection: "a1", Verified: true,
		},
		{
			Agent: "codex", ID: "019a9b1c-1111-7000-8000-000000000001", Version: "0.169.0", PID: 4390, State: snapshot.WaitsForAnswer, Since: ago(41 * time.Second),
			WaitingFor: "How should the payments service authenticate its clients?", Folder: "/home/ana/src/payments", Model: "gpt-6.1-sol", Mode: "on-request",
			Usage: snapshot.Usage{In: 90_000, Out: 12_000, CacheRead: 800_000, Reasoning: 4_000}, Cost: snapshot.Cost{USD: 0.41, Today: 0.30, Known: true, Partial: true, Source: list},
			Context: snapshot.Context{Used: 31_000, Window: 272_000}, Place: snapshot.Place{TTY: "/dev/pts/7"}, Verified: true,
		},
		{
			Agent: "claude", ID: "9b0f2c11-0000-4b1e-9d8e-0a4d5b6c7d8e", Version: "2.1.330", PID: 5022, State: snapshot.Working, Since: ago(38 * time.Second),
			Folder: "/home/ana/src/api", Title: "Retry policy", Mode: "auto", Model: "claude-opus-5-5", LastTool: "Bash", LastSubject: "go test ./internal/...",
			Usage: snapshot.Usage{In: 4_000, Out: 9_000, CacheRead: 900_000}, Cost: snapshot.Cost{USD: 1.1, Today: 0.85, Known: true, Source: list},
			Context: snapshot.Context{Used: 610_000, Window: 1_000_000}, Place: snapshot.Place{Tmux: "work:2.1", TmuxPane: "%5"}, Verified: true,
		},
		{
			Agent: "gemini", ID: "8b7a1c22", State: snapshot.Working, Since: ago(4 * time.Second), Folder: "/home/ana/src/docs", Model: "gemini-3.8-flash",
			LastTool: "pixelsrc_render", LastSubject: "art/lantern.pxl", Usage: snapshot.Usage{In: 30_000, Out: 1_200}, Cost: snapshot.Cost{USD: 0.07, Today: 0.07, Known: true, Source: list},
			Context: snapshot.Context{Used: 125_000, Window: 1_048_576}, Verified: true,
		},
		{
			Agent: "opencode", ID: "ses_1", Version: "1.18.33", PID: 6100, State: snapshot.Idle, Since: ago(9 * time.Minute), Folder: "/home/ana/src/menu", Title: "A menu for the winter",
			Model: "house/model", Usage: snapshot.Usage{In: 12_000, Out: 3_000}, Place: snapshot.Place{Other: "kitty 3"}, Verified: true,
		},
		{Agent: "cursor", ID: "c9", PID: 6222, State: snapshot.StateUnknown, Note: "connected", Since: ago(3 * time.Minute), Folder: "/home/ana/src/menu", Connection: "c9"},
		{Agent: "opencode", ID: "process 7000", PID: 7000, State: snapshot.StateUnknown, Note: "not set up", Folder: "/home/ana/src/shop", Verified: true},
		{
			Agent: "claude", ID: "aaaa2c11-0000-4b1e-9d8e-0a4d5b6c7d8e", State: snapshot.Ended, Since: ago(25 * time.Minute), Folder: "/home/ana/src/shop", Title: "日本語の見出し\x1b[2J",
			Model: "claude-sonnet-5", Usage: snapshot.Usage{In: 100, Out: 900}, Cost: snapshot.Cost{USD: 0.01, Today: 0.01, Known: true, Source: list}, Headless: true,
		},
	}}
}
