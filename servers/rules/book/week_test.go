package book

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the week anew")

// prompted is one prompt of the week, and what its user answered.
type prompted struct {
	Time    time.Time `json:"time"`
	Agent   string    `json:"agent"`
	Session string    `json:"session"` // one for each task
	Project string    `json:"project"`
	Cwd     string    `json:"cwd"`
	Task    string    `json:"task"`
	Tool    string    `json:"tool"` // bash, edit, write, fetch or mcp
	Text    string    `json:"text"` // the command, the path, the address, or server and tool
	Args    string    `json:"args,omitempty"`
	Answer  string    `json:"answer"` // y or n
}

// TestTheWeekIsMadeAsItIsKept makes the week of testdata/week.jsonl: five days of a user with three agents and five
// projects. It was written before anything was learned of prompts, and is not to be fitted to what is.
//
// The tasks are of two public lists: the features of RealWorld, the example application with many implementations
// (articles, comments, favorites, tags, profiles, follows, feed, pagination, sign in), and of TodoMVC (routing,
// persistence, counter, editing), and the types of work of the Conventional Commits convention (feat, fix, docs, style,
// refactor, perf, test, build, ci, chore). Commands are in the style of each agent. Claude Code asks with its standard
// settings, so not for what only reads if it stands alone; Codex asks with approval_policy = "untrusted" and OpenCode
// with "ask", so for nearly everything.
func TestTheWeekIsMadeAsItIsKept(t *testing.T) {
	const kept = "testdata/week.jsonl"
	got := weekText(t)
	if *update {
		if err := os.WriteFile(kept, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("the week is another than is kept")
	}
	if n := bytes.Count(got, []byte("\n")); n < 300 {
		t.Errorf("it has %d prompts", n)
	}
}

func weekText(t *testing.T) []byte {
	t.Helper()
	w := week{dice: rand.New(rand.NewPCG(2026, 45)), cwd: map[string]string{}}
	monday := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	for day, tasks := range weekDays() {
		w.now = monday.AddDate(0, 0, day)
		for line := range strings.Lines(tasks) {
			if line = strings.TrimSpace(line); line != "" {
				w.line(t, line)
			}
		}
	}
	return w.out.Bytes()
}

// week writes prompts, one a line.
type week struct {
	dice *rand.Rand
	now  time.Time
	cwd  map[string]string
	is   prompted
	n    int
	out  bytes.Buffer
}

const weekHome = "/home/u/"

// line takes a line of the tasks: "# agent project kind: task", or a step of it: what is done, after "n " if the user
// denies it. "$ COMMAND" is a command as it is written, another word one of the ways in which an agent does that.
func (w *week) line(t *testing.T, line string) {
	t.Helper()
	if head, is := strings.CutPrefix(line, "# "); is {
		f := strings.SplitN(head, " ", 3)
		w.n++
		w.now = w.now.Add(time.Duration(5+w.dice.IntN(30)) * time.Minute)
		w.is = prompted{Agent: f[0], Project: weekHome + f[1], Task: f[2], Session: fmt.Sprintf("%s-%d", f[0], w.n)}
		w.is.Cwd = w.is.Project
		return
	}
	p := w.is
	p.Answer = "y"
	if rest, is := strings.CutPrefix(line, "n "); is {
		line, p.Answer = rest, "n"
	}
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "$":
		p.Tool, p.Text = "bash", rest
	case "edit", "write":
		p.Tool, p.Text = verb, rest
		if !path.IsAbs(rest) {
			p.Text = path.Join(p.Project, rest)
		}
	case "fetch":
		p.Tool, p.Text = verb, rest
	case "mcp":
		server, more, _ := strings.Cut(rest, " ")
		tool, args, _ := strings.Cut(more, " ")
		p.Tool, p.Text, p.Args = verb, server+" "+tool, args
	default:
		ways := weekWays()[path.Base(p.Project)+" "+verb]
		if ways == nil {
			ways = weekWays()[verb]
		}
		if ways == nil {
			t.Fatalf("no way to %s", verb)
		}
		way := strings.Split(strings.TrimSpace(ways[p.Agent]), "\n")
		p.Tool, p.Text = "bash", strings.TrimSpace(way[w.dice.IntN(len(way))])
		if p.Text == "-" { // which the agent does without asking
			return
		}
		p.Text = strings.NewReplacer("{}", rest, "{dir}", path.Dir(rest), "{project}", p.Project, "␤", "\n", "{n}", fmt.Sprint(20*(1+w.dice.IntN(12)))).Replace(p.Text)
	}
	w.now = w.now.Add(time.Duration(20+w.dice.IntN(220)) * time.Second)
	p.Time = w.now
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	w.out.Write(append(b, '\n'))
}

// weekWays are the ways in which each agent does what recurs, one a line; "␤" is a newline in it. "-" is one for which it does not ask.
func weekWays() map[string]map[string]string {
	return map[string]map[string]string{
		"state": {
			"claude":   "git status --short && git diff --stat\ncd {project} && git status && git diff --stat\n-\n-",
			"codex":    "git status --short\ngit status --short && git diff --stat\ngit diff --stat\ngit status -sb",
			"opencode": "git status\ngit status --short\ngit diff",
		},
		"look": {
			"claude":   "-\n-\n-\ncd {project} && sed -n '1,{n}p' {}",
			"codex":    "sed -n '1,{n}p' {}\nsed -n '{n},420p' {}\nnl -ba {} | sed -n '1,{n}p'\ncat {}",
			"opencode": "cat {}\nhead -n {n} {}\n-\n-",
		},
		"search": {
			"claude":   "-\n-\n-\ngrep -rn \"{}\" . --include='*.go' --include='*.ts' --include='*.py' 2>/dev/null | head -{n}",
			"codex":    "rg -n \"{}\"\nrg -n \"{}\" -S .\nrg --files | rg -i \"{}\"\nrg -n \"{}\" | head -n {n}",
			"opencode": "grep -rn \"{}\" . | head -{n}\nrg \"{}\"\n-\n-",
		},
		"log": {
			"claude":   "cd {project} && git log --oneline -10\n-\n-",
			"codex":    "git log --oneline -n 10\ngit log -5 --stat\ngit log --oneline -- {}",
			"opencode": "git log --oneline -10\ngit log -3 -p -- {}",
		},
		"list": {
			"claude":   "-\n-\nls -la {} && cat {}/README.md 2>/dev/null | head -{n}",
			"codex":    "ls\nls -la {}\nfind {} -maxdepth 2 -type f | sort | head -n {n}\nrg --files {}",
			"opencode": "ls -la\nls {}\nfind {} -name '*' -type f | head -{n}",
		},
		"commit": {
			"claude":   "git add -A && git commit -m \"$(cat <<'EOM'␤{}␤EOM␤)\"",
			"codex":    "git add -A && git commit -m \"{}\"\ngit commit -am \"{}\"",
			"opencode": "git add . && git commit -m \"{}\"\ngit add -A && git commit -m \"{}\"",
		},
		"shop test": {
			"claude":   "go test {} 2>&1 | tail -20\ncd {project} && go test {} 2>&1 | tail -{n}\ngo test {} -count=1 2>&1 | head -60\ngo build ./... && go test {}",
			"codex":    "go test {}\ngo test {} -count=1\ngo test {} -run . -v",
			"opencode": "go test {}\ngo test {} -v\ncd {project} && go test {}",
		},
		"shop lint": {
			"claude":   "go vet ./... 2>&1 | head -20\ngolangci-lint run ./... 2>&1 | tail -30\ngofmt -l . && go vet ./...",
			"codex":    "go vet ./...\ngofmt -l .\ngolangci-lint run",
			"opencode": "go vet ./...\ngolangci-lint run ./...",
		},
		"shop build": {
			"claude":   "go build ./... 2>&1 | head -30\ncd {project} && go build -o /tmp/shop ./cmd/shop && echo OK",
			"codex":    "go build ./...",
			"opencode": "go build ./...\ngo build -o bin/shop ./cmd/shop",
		},
		"web test": {
			"claude":   "npm test -- {} 2>&1 | tail -30\nnpx vitest run {} 2>&1 | tail -40\ncd {project} && npm test 2>&1 | tail -{n}",
			"codex":    "npm test -- --run {}\nnpx vitest run {}\nnpm run test",
			"opencode": "npm test\nnpx vitest run {}\nnpm run test -- {}",
		},
		"web lint": {
			"claude":   "npm run lint 2>&1 | tail -20\nnpx tsc --noEmit 2>&1 | head -30\nnpm run lint && npx tsc --noEmit",
			"codex":    "npm run lint\nnpx tsc --noEmit\nnpx eslint src --max-warnings 0",
			"opencode": "npm run lint\nnpx tsc --noEmit\nnpm run typecheck",
		},
		"web build": {
			"claude":   "npm run build 2>&1 | tail -15\ncd {project} && npm run build 2>&1 | grep -iE 'error|warn' | head",
			"codex":    "npm run build",
			"opencode": "npm run build",
		},
		"etl test": {
			"claude":   "python -m pytest {} -q 2>&1 | tail -15\ncd {project} && source .venv/bin/activate && pytest {} -x -q 2>&1 | tail -{n}\nuv run pytest {} -q",
			"codex":    "pytest -q {}\npython -m pytest {} -q\nuv run pytest {} -q",
			"opencode": "pytest {}\npython -m pytest {} -v\nuv run pytest",
		},
		"etl lint": {
			"claude":   "ruff check . 2>&1 | tail -20\nuv run ruff check src tests && uv run mypy src 2>&1 | tail -5",
			"codex":    "ruff check .\nmypy src",
			"opencode": "ruff check .\nuv run mypy src",
		},
		"site build": {
			"claude":   "hugo --minify 2>&1 | tail -10\ncd {project} && hugo --quiet && ls public | head",
			"codex":    "hugo --minify",
			"opencode": "hugo",
		},
	}
}
