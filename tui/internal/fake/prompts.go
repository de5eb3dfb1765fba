package fake

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/mcpdeck/mcpdeck/ask"
)

// Permission is a request for permission as an adapter makes it, with the usual options.
func Permission(agent, folder string, p ask.Prompt) ask.Request {
	p.Kind, p.Agent = ask.Permission, agent
	p.Session = cmp.Or(p.Session, agent+"-1")
	p.Door = cmp.Or(p.Door, ask.Shared)
	options := []ask.Option{{Label: "Allow once"}, {Label: "Allow for this session"}, {Label: "Always"}, {Label: "Deny"}, {Label: "Deny with a message"}, {Label: "Deny and stop the turn"}}
	p.Grants = []ask.Grant{
		{Allow: true, Scope: ask.Once},
		{Allow: true, Scope: ask.ForSession, Effect: "folder " + folder},
		{Allow: true, Scope: ask.Always, Effect: "Bash(make:*) in this project, .claude/settings.local.json"},
		{Scope: ask.Once},
		{Scope: ask.Once, Note: true},
		{Scope: ask.Once, Stop: true},
	}
	return ask.Request{
		Questions: []ask.Question{{ID: "permission", Question: "Allow " + p.Tool + "?", Kind: ask.Choice, Required: true, Options: options}},
		From:      ask.From{Client: agent, Session: p.Session}, Local: true, Prompt: &p,
		Peer: ask.Peer{PID: 7, Program: agent, Cwd: folder, Key: p.Session},
	}
}

// Plan is a plan that an agent proposes.
func Plan(agent, folder, plan string) ask.Request {
	r := Permission(agent, folder, ask.Prompt{ID: "plan", Tool: "ExitPlanMode"})
	r.Prompt.Kind = ask.Plan
	r.Prompt.Grants = []ask.Grant{{Allow: true, Scope: ask.Once}, {Scope: ask.Once}, {Scope: ask.Once, Note: true}}
	r.Questions[0].Question, r.Questions[0].Description = "Accept this plan?", plan
	r.Questions[0].Options = []ask.Option{{Label: "Accept the plan"}, {Label: "Keep planning"}, {Label: "Keep planning, with a message"}}
	return r
}

// Prompts are what agents' own programs ask: one of each kind.
func Prompts() []ask.Request {
	const api, shop = "/home/ann/src/api", "/home/ann/src/shop"
	question := ask.Request{
		Questions: []ask.Question{{
			ID: "db", Question: "Which database shall the service use?", Kind: ask.Choice, Required: true, AllowOther: true,
			Options: []ask.Option{{Label: "SQLite", Description: "one file, nothing to run"}, {Label: "PostgreSQL", Description: "what the other services use"}},
		}},
		From: ask.From{Client: "codex"}, Local: true, Peer: ask.Peer{PID: 8, Program: "codex", Cwd: shop, Key: "codex-1"},
		Prompt: &ask.Prompt{Kind: ask.OwnQuestion, ID: "q", Agent: "codex", Session: "codex-1", Door: ask.Shared},
	}
	return []ask.Request{
		Permission("claude", api, ask.Prompt{
			ID: "1", Tool: "Bash", Command: "rm -rf build && go test ./...", Words: "clean and test", Mode: "default", Door: ask.Held, Subagent: "tests",
			Notes: []string{"deletes build"},
		}),
		Permission("claude", api, ask.Prompt{
			ID: "2", Tool: "Edit", Path: api + "/retry/retry.go", Diff: diff, Mode: "default",
		}),
		Permission("claude", api, ask.Prompt{
			ID: "3", Tool: "Bash", Command: "cat > ../shared/run.sh <<'EOF'\n" + strings.Repeat("echo step\n", 40) + "EOF\nchmod +x ../shared/run.sh\n../shared/run.sh \u202e&& true",
			Words: "write the script and run it", Mode: "default", Marks: []string{"outside the project", "invisible characters"},
		}),
		Permission("opencode", shop, ask.Prompt{
			ID: "4", Tool: "mcp__github__create_issue", Args: json.RawMessage(`{"repo":"ann/shop","title":"Retry when the server is away","body":"The client gives up at once.\n\nIt should wait and try again."}`),
		}),
		Plan("claude", api, "## Retry\n\n1. Add `retry.Policy` with **three** attempts\n2. Use it in the client\n3. Test that it gives up\n\nNothing else changes."),
		question,
		Permission("gemini", shop, ask.Prompt{ID: "5", Tool: "run_shell_command", Command: "npm test", Door: ask.InTerminal}),
	}
}

const diff = `--- a/retry/retry.go
+++ b/retry/retry.go
@@ -10,7 +10,9 @@ func Do(f func() error) error {
 	for range attempts {
 		if err = f(); err == nil {
 			return nil
 		}
-		time.Sleep(pause)
+		time.Sleep(pause)
+		pause *= 2
+		log.Printf("retry: %v", err)
 	}
 	return err
 }
`
