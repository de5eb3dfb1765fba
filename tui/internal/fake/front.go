package fake

import (
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// FrontSessions are seven sessions at work on seven projects, as of now, sorted by need: the
// ones of all frames that show what a session's conversation was.
func FrontSessions(now time.Time) *Sessions {
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	runs := func(began time.Time, tool, subject, outcome string) snapshot.Step {
		return snapshot.Step{Tool: tool, Subject: subject, Outcome: outcome, Began: began, Running: true}
	}
	session := func(agent, project, name string, state snapshot.SessionState, since time.Duration, usd float64) snapshot.Session {
		return snapshot.Session{
			Agent: agent, ID: agent + "-" + project, State: state, Since: ago(since), Started: ago(3 * time.Hour), Folder: "/home/ana/src/" + project, Title: name, Named: true,
			Cost: snapshot.Cost{USD: usd, Today: usd, Known: usd > 0}, Usage: snapshot.Usage{In: 30_000, Out: 9_000}, Record: &snapshot.Record{Prompt: name + "."}, Verified: true,
		}
	}
	shop := session("claude", "shop", "Make the release build reproducible", snapshot.WaitsForPermission, 12*time.Second, 0.52)
	shop.WaitingFor, shop.Context = "Bash rm -rf build && make all", snapshot.Context{Used: 28_000, Window: 200_000}
	shop.LastTool, shop.LastSubject = "Bash", "rm -rf build && make all"
	shop.Record = &snapshot.Record{
		Prompt: "Make the release build reproducible, and measure it.", Said: "The cache keeps old objects, so I build once from nothing and compare the two hashes.", SaidAt: ago(14 * time.Second),
		Changed: snapshot.Changed{Added: 18, Removed: 4, Files: []snapshot.ChangedFile{{Path: "Makefile", Added: 11, Removed: 3}, {Path: "scripts/build.sh", Added: 7, Removed: 1}}},
		Steps: []snapshot.Step{
			step(ago(100*time.Second), "Read", "Makefile", "", 200*time.Millisecond),
			step(ago(85*time.Second), "Edit", "Makefile", "+11 -3", 300*time.Millisecond),
			step(ago(58*time.Second), "Bash", "make -n all", "", 2*time.Second),
			step(ago(40*time.Second), "Edit", "scripts/build.sh", "+7 -1", 100*time.Millisecond),
			runs(ago(12*time.Second), "Bash", "rm -rf build && make all", ""),
		},
	}
	payments := session("codex", "payments", "Add sign-in for partners to payments", snapshot.WaitsForAnswer, 41*time.Second, 0)
	payments.Usage = snapshot.Usage{} // nothing that is paid by the token
	payments.WaitingFor = "How should the payments service authenticate its clients?"
	payments.Record = paymentsRecord(now)
	rel := session("claude", "rel", "Cut release 1.4.0", snapshot.Idle, 3*time.Minute, 0.2)
	rel.Unread = true
	rel.Record = &snapshot.Record{
		Prompt: "Cut release 1.4.0 and tell the channel.", Said: "Released; SUMS attached. The channel knows.", SaidAt: ago(3 * time.Minute),
		Changed: snapshot.Changed{Added: 9, Removed: 2, Files: []snapshot.ChangedFile{{Path: "CHANGELOG.md", Added: 8, Removed: 1}, {Path: "version.go", Added: 1, Removed: 1}}},
	}
	api := session("claude", "api", "Fix the flaky auth test", snapshot.Working, 38*time.Second, 0.54)
	api.Model, api.Context, api.PID, api.Version = "opus-4.8", snapshot.Context{Used: 122_000, Window: 200_000}, 4211, "2.1.330"
	api.Place, api.Connection, api.Cost.Source = snapshot.Place{Tmux: "work:1.0", TmuxPane: "%3"}, "a1", "LiteLLM 1.109.1, taken on 2026-11-22"
	api.LastTool, api.LastSubject = "Bash", "go test ./internal/auth -run Refresh -count 50"
	api.Record = &snapshot.Record{
		Prompt: "Fix the flaky auth test in CI. Do not touch the public API.", Asked: ago(57 * time.Minute),
		Said: "The test races the token refresh. I moved the clock into the fixture and run the suite 50 times.", SaidAt: ago(20 * time.Second),
		Changed: snapshot.Changed{Added: 41, Removed: 12, Files: []snapshot.ChangedFile{
			{Path: "internal/auth/token.go", Added: 22, Removed: 9}, {Path: "internal/auth/token_test.go", Added: 17, Removed: 3}, {Path: ".github/workflows/ci.yml", Added: 2},
		}},
	}
	api.Record.Changed.Files[0].Diff, api.Record.Changed.Files[1].Diff = tokenDiff, "@@ -12,2 +12,2 @@ func TestRefresh(t *testing.T) {\n-\ts := New(nil)\n+\ts := New(fixedClock)\n"
	for i := range 24 {
		at := ago(time.Duration(56-2*i) * time.Minute)
		file := []string{"internal/auth/token.go", "internal/auth/token_test.go", "internal/clock/clock.go"}[i%3]
		api.Record.Steps = append(api.Record.Steps, step(at, "Read", file, "", 200*time.Millisecond), step(at.Add(time.Minute), "Bash", "go test ./internal/auth", "ok", 4*time.Second))
	}
	api.Record.Steps = append(api.Record.Steps,
		step(ago(9*time.Minute), "Bash", "go test ./internal/auth -count 200", "1 failed", 41*time.Second),
		step(ago(3*time.Minute), "Edit", "internal/auth/token.go", "+22 -9", 300*time.Millisecond),
		step(ago(2*time.Minute), "Edit", "internal/auth/token_test.go", "+17 -3", 200*time.Millisecond),
		runs(ago(38*time.Second), "Bash", "go test ./internal/auth -run Refresh -count 50", "31 of 50 ok"),
	)
	docs := session("gemini", "docs", "Rewrite the install page", snapshot.Working, 4*time.Second, 0.07)
	docs.LastTool, docs.LastSubject = "Edit", "docs/install.md"
	docs.Record = &snapshot.Record{
		Prompt: "Rewrite the install page.", Asked: ago(9 * time.Minute), SaidAt: ago(time.Minute),
		Said:    "Packages come first now; building from source moved to the end, with the two commands that people copy.",
		Changed: snapshot.Changed{Added: 31, Removed: 58, Partial: true, Files: []snapshot.ChangedFile{{Path: "docs/install.md", Added: 31, Removed: 58}}},
		Steps: []snapshot.Step{
			step(ago(4*time.Minute), "Read", "docs/install.md", "", 200*time.Millisecond), step(ago(3*time.Minute), "Call", "github_list_issues", "14 open", 420*time.Millisecond),
			step(ago(2*time.Minute), "Read", "README.md", "", 100*time.Millisecond), runs(ago(4*time.Second), "Edit", "docs/install.md", "+31 -58"),
		},
	}
	menu := session("opencode", "menu", "Draw icons for the menu", snapshot.Working, 2*time.Second, 0.41)
	menu.LastTool, menu.LastSubject = "pixelsrc_render", "3 of 5"
	menu.Record = &snapshot.Record{
		Prompt: "Draw icons for the menu.", Asked: ago(5 * time.Minute), Said: "Five icons share the palette of the hero; the potion is the third.", SaidAt: ago(50 * time.Second),
		Steps: []snapshot.Step{
			step(ago(3*time.Minute), "Write", "art/coin.pxl", "", 100*time.Millisecond), step(ago(2*time.Minute), "Call", "pixelsrc_render art/coin.pxl", "16×16", 10*time.Millisecond),
			runs(ago(2*time.Second), "Call", "pixelsrc_render art/potion.pxl", "3 of 5"),
		},
	}
	notes := session("claude", "notes", "Sort my reading list", snapshot.Idle, 2*time.Hour, 0.03)
	return &Sessions{All: []snapshot.Session{shop, payments, rel, api, docs, menu, notes}}
}

// step is one that has ended.
func step(began time.Time, tool, subject, outcome string, took time.Duration) snapshot.Step {
	return snapshot.Step{Tool: tool, Subject: subject, Outcome: outcome, Began: began, Took: took, Failed: outcome == "1 failed"}
}

func paymentsRecord(now time.Time) *snapshot.Record {
	return &snapshot.Record{
		Prompt: "Add sign-in for partners to payments.", Said: "Three decisions first; the rest follows.", SaidAt: now.Add(-44 * time.Second),
		Steps: []snapshot.Step{
			step(now.Add(-3*time.Minute), "Read", "api/openapi.yaml", "", 100*time.Millisecond), step(now.Add(-2*time.Minute), "Bash", "rg -n session internal", "14 lines", 300*time.Millisecond),
			step(now.Add(-90*time.Second), "Read", "internal/login/login.go", "", 100*time.Millisecond), step(now.Add(-time.Minute), "Read", "internal/login/session.go", "", 100*time.Millisecond),
		},
	}
}

// FrontCalls are the calls of these sessions, every minute one until now.
func FrontCalls(d *Deck, now time.Time) {
	rows := []struct {
		agent, tool, about string
		took               time.Duration
	}{
		{"opencode", "pixelsrc_explain", "art/coin.pxl", time.Millisecond},
		{"claude", "logicstamp_refresh", "40 contracts", 17 * time.Millisecond},
		{"gemini", "github_list_issues", "14 open", 420 * time.Millisecond},
		{"codex", "read_project_context", "docs", time.Millisecond},
		{"claude", "logicstamp_search", "price", time.Millisecond},
		{"opencode", "pixelsrc_palettes", "12 palettes", time.Millisecond},
		{"gemini", "github_get_file", "docs/install.md", 180 * time.Millisecond},
		{"codex", "ask", "Rename the table?", 20 * time.Second},
		{"claude", "logicstamp_compare", "2 breaking in Button", 26 * time.Millisecond},
		{"opencode", "pixelsrc_render", "art/potion.pxl", time.Millisecond},
	}
	d.Forget()
	for i := range 5 * len(rows) {
		r := rows[i%len(rows)]
		d.Add(snapshot.Call{AgentName: r.agent, Tool: r.tool, Args: r.about, Duration: r.took, Status: snapshot.OK, Started: now.Add(time.Duration(i-50) * time.Minute)})
	}
}

// tokenDiff is what the session of api changed in a file.
const tokenDiff = `@@ -41,9 +41,14 @@ func (s *Source) Token() (*Token, error)
 	s.mu.Lock()
 	defer s.mu.Unlock()
-	if time.Until(s.tok.Expiry) > skew {
+	now := s.clock.Now()
+	if s.tok.Expiry.Sub(now) > skew {
 		return s.tok, nil
 	}
-	tok, err := s.refresh()
+	tok, err := s.refreshOnce(now)
 	if err != nil {
 		return nil, err
 	}
@@ -77,4 +82,21 @@ func (s *Source) refresh() (*Token, error)
+// refreshOnce lets one caller refresh while the others wait.
+func (s *Source) refreshOnce(now time.Time) (*Token, error) {
+	s.once.Lock()
+	defer s.once.Unlock()
+	if s.tok.Expiry.Sub(now) > skew {
+		return s.tok, nil
+	}
+	return s.refresh()
+}
`
