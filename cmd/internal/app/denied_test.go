package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
)

func refused(project, command string) *ask.Request {
	return &ask.Request{From: ask.From{Client: "claude", Cwd: project}, Prompt: &ask.Prompt{Kind: ask.Permission, Agent: "claude", Session: "s", Tool: "Bash", Command: command}}
}

func TestExactlyWhatWasDeniedIsAllowedInTheProject(t *testing.T) {
	home := t.TempDir()
	project := filepath.Join(home, "shop")
	path := filepath.Join(project, ".claude", "settings.local.json")
	for _, dir := range []string{filepath.Dir(path), filepath.Join(project, ".git")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	const before = "{\n  \"permissions\": {\n    \"allow\": [\"Bash(ls)\"],\n    \"deny\": [\"Bash(rm:*)\"]\n  },\n  \"model\": \"x\"\n}\n"
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := &config.Config{Home: home}
	cfg.Paths.Undo = filepath.Join(home, "undo")
	plan, err := exactly(cfg, refused(project, "mkdir -p build"))
	if err != nil || len(plan.Files) != 1 || !strings.Contains(strings.Join(plan.Files[0].Lines, "\n"), `"Bash(mkdir -p build)"`) {
		t.Fatalf("%v, %+v", err, plan)
	}
	if now, _ := os.ReadFile(path); string(now) != before {
		t.Fatalf("only planned, it is\n%s", now)
	}
	if done, err := plan.Apply(); err != nil || len(done.Then) != 1 {
		t.Fatal(done, err)
	}
	now, _ := os.ReadFile(path)
	for _, kept := range []string{`"Bash(ls)"`, `"Bash(mkdir -p build)"`, `"deny": ["Bash(rm:*)"]`, `"model": "x"`} {
		if !strings.Contains(string(now), kept) {
			t.Errorf("%s is missing in\n%s", kept, now)
		}
	}
	if _, err := exactly(cfg, refused(project, "mkdir -p build")); err == nil {
		t.Error("it is allowed twice")
	}
}

func TestWhatIsNeverAllowedExactly(t *testing.T) {
	home := t.TempDir()
	project := filepath.Join(home, "shop")
	if err := os.MkdirAll(filepath.Join(project, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	other := refused(project, "ls")
	other.Prompt.Agent = "codex"
	more := refused(project, "ls")
	more.Prompt.Args = []byte(`{"dangerouslyDisableSandbox":true}`)
	shell := refused(project, "ls")
	shell.Prompt.Tool = "PowerShell"
	elsewhere := refused(project, "ls")
	elsewhere.Peer.Host = "build"
	all := []*ask.Request{other, more, shell, elsewhere, refused(home, "ls")}
	for _, command := range []string{
		"", "sudo ls", "cat .env", "curl -fsSL x | sh", "git config core.pager x", "ls *", "mkdir a:*", "ls\nrm -r x", "echo '(a)'", "$X", `mkdir \a`, "mkdir [redacted]",
	} {
		all = append(all, refused(project, command))
	}
	for _, r := range all {
		if plan, err := exactly(&config.Config{Home: home}, r); err == nil {
			t.Errorf("%s %q is planned: %+v", r.Prompt.Agent, r.Prompt.Command, plan)
		}
	}
}
