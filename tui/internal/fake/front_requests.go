package fake

import (
	"fmt"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
)

// FrontAllow is what the first of [FrontSessions] asks.
func FrontAllow() ask.Request {
	return allow("shop", ask.Prompt{ID: "1", Tool: "Bash", Command: "rm -rf build && make all", Words: "Start from a clean build before measuring."})
}

// FrontLong is a permission for 59 lines.
func FrontLong() ask.Request {
	lines := []string{"set -euo pipefail", "cd ~/src/rel", "export VERSION=1.4.0", "git fetch --tags origin", `test -z "$(git status --porcelain)"`}
	for i := range 13 {
		name := []string{"core", "store", "relay", "cache", "index", "query", "mail", "audit", "login", "sync", "push", "pull", "web"}[i]
		lines = append(lines, "go vet ./"+name+"/...", "go test -count=1 ./"+name+"/...", fmt.Sprintf("go build -trimpath -o dist/%s ./cmd/%s", name, name), fmt.Sprintf("sha256sum dist/%s >> dist/SUMS", name))
	}
	lines = append(lines, "git tag v1.4.0", "git push origin v1.4.0")
	return allow("rel", ask.Prompt{ID: "2", Tool: "Bash", Command: strings.Join(lines, "\n")})
}

func allow(project string, p ask.Prompt) ask.Request {
	const agent = "claude"
	p.Session = agent + "-" + project
	r := Permission(agent, "/home/ana/src/"+project, p)
	r.Questions[0].Options = []ask.Option{{Label: "Allow once"}, {Label: "Always allow"}, {Label: "Deny"}, {Label: "Deny with a message"}}
	r.Prompt.Grants = []ask.Grant{{Allow: true, Scope: ask.Once}, {Allow: true, Scope: ask.Always, Effect: "Bash(make:*) in this project"}, {Scope: ask.Once}, {Scope: ask.Once, Note: true}}
	return r
}

func own(project string, qs ...ask.Question) ask.Request {
	id := "codex-" + project
	return ask.Request{
		Questions: qs, From: ask.From{Client: "codex"}, Local: true, Peer: ask.Peer{PID: 8, Program: "codex", Cwd: "/home/ana/src/" + project, Key: id},
		Prompt: &ask.Prompt{Kind: ask.OwnQuestion, ID: "q", Agent: "codex", Session: id, Door: ask.Shared},
	}
}

func choice(id, header, question string, options ...ask.Option) ask.Question {
	return ask.Question{ID: id, Header: header, Question: question, Kind: ask.Choice, Required: true, AllowOther: true, Options: options}
}

// FrontQuestion is what the second of [FrontSessions] asks.
func FrontQuestion() ask.Request {
	return own("payments", choice("auth", "", "How should the payments service authenticate its clients?",
		ask.Option{Label: "OAuth 2.1"}, ask.Option{Label: "API keys"}, ask.Option{Label: "Session cookies"}))
}

// FrontParts is a question with three parts.
func FrontParts() ask.Request {
	const table = "CREATE TABLE refresh_token (\n  id     uuid PRIMARY KEY,\n  client text NOT NULL,\n  until  timestamptz NOT NULL\n);"
	storage := choice("storage", "Storage", "Where should the refresh tokens live?",
		ask.Option{Label: "Postgres", Description: "One table; survives a restart of both machines.", Preview: table},
		ask.Option{Label: "Redis", Description: "Fast, there for sessions already; lost at a restart."},
		ask.Option{Label: "Memory", Description: "Nothing to run; all sign in again after a deploy."})
	storage.Description, storage.Recommended = "The service runs on two machines; tokens last 30 days.", []int{0}
	return own("payments",
		choice("login", "Login", "Which page signs partners in?", ask.Option{Label: "A page of our own"}, ask.Option{Label: "The provider's"}),
		storage,
		choice("review", "Audit", "Who reads the audit log?", ask.Option{Label: "Operations"}, ask.Option{Label: "Nobody yet"}))
}

// AnswerFront has a queue ask what was answered before, and answers it, at an interval.
func AnswerFront(q *ask.Queue, every time.Duration) error {
	all, labels := answered()
	for i, r := range all {
		c, err := q.Open(r)
		if err != nil {
			return err
		}
		if err := q.Answer(q.Pending().Items[0].ID, []ask.Result{{ID: r.Questions[0].ID, SelectedOptions: []string{labels[i]}}}); err != nil {
			return err
		}
		<-c.Done()
		c.Delivered(ask.Delivered)
		time.Sleep(every)
	}
	return nil
}

// answered are requests, the oldest first, each with the label of its answer.
func answered() (all []ask.Request, labels []string) {
	session := allow("api", ask.Prompt{ID: "a", Tool: "Bash", Command: "go test ./..."})
	session.Prompt.Grants[1].Scope = ask.ForSession
	plan := Plan("claude", "/home/ana/src/shop", "Tidy the shop")
	plan.Questions[0].Question, plan.Prompt.Session = "Tidy the shop", "claude-shop"
	menu := own("menu", choice("palette", "", "Which palette?", ask.Option{Label: "sweetie-16"}, ask.Option{Label: "pico-8"}))
	menu.From.Client, menu.Prompt.Agent, menu.Prompt.Session = "opencode", "opencode", "opencode-menu"
	return []ask.Request{
		session, menu, plan,
		allow("rel", ask.Prompt{ID: "b", Tool: "Bash", Command: "git push --force origin main"}),
		allow("shop", ask.Prompt{ID: "c", Tool: "Bash", Command: "npm test -- --watch=false"}),
		own("payments", choice("table", "", "Rename the table?", ask.Option{Label: "Keep it"}, ask.Option{Label: "Rename it"})),
	}, []string{"Always allow", "sweetie-16", "Accept the plan", "Deny", "Allow once", "Keep it"}
}
