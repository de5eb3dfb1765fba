//go:build linux

package opencode

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/agenttest"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

func TestARuleIsToldWhatMayRunOtherwiseInOpenCode(t *testing.T) {
	const asks = `{"permission":"bash","metadata":{"command":"cat a"},"input":{"command":"cat a","description":"d"}}`
	own := family{"opencode", "OpenCode", "OPENCODE_", "TestRealOpenCode"}
	usual := []string{"SHELL=/bin/bash", "PATH=/usr/bin:/bin"}
	for name, c := range map[string]struct {
		asks  string
		env   []string
		files map[string]string
		runs  string // the names of programs
		shell string
		dir   string // below the project
		why   string // "-": no rule allows it
	}{
		"nothing":                      {asks, usual, map[string]string{"home/.config/opencode/plugin/mcpdeck.js": string(own.plugin().Plugin().File("/x y/prompts.sock", "")), "p/plugin/a.js": ""}, "cat read", "", "", ""},
		"dash":                         {asks, []string{"SHELL=/bin/dash", "PATH=/usr/bin:/bin"}, nil, "cat", "sh", "", ""},
		"zsh":                          {asks, []string{"SHELL=/bin/zsh", "PATH=/usr/bin:/bin"}, map[string]string{"home/.zshenv": "export EDITOR=vi"}, "cat", "zsh", "", ""},
		"zsh with a start file":        {asks, []string{"SHELL=/bin/zsh", "PATH=/usr/bin:/bin"}, map[string]string{"home/.zshenv": "alias cat=rm"}, "cat", "zsh", "", ".zshenv may change what its shell runs"},
		"a shell that is not there":    {asks, []string{"SHELL=/bin/bash/zsh", "PATH=/usr/bin:/bin"}, nil, "cat", "zsh", "", "its shell is not known"},
		"fish":                         {asks, []string{"SHELL=/usr/bin/fish", "PATH=/usr/bin:/bin"}, nil, "cat", "fish", "", "its shell is not known"},
		"another bash":                 {asks, []string{"SHELL=/opt/bash", "PATH=/usr/bin:/bin"}, nil, "cat", "", "", "its shell is not known"},
		"no shell":                     {asks, []string{"PATH=/usr/bin:/bin"}, nil, "cat", ".", "", "its shell is not known"},
		"a folder":                     {strings.Replace(asks, `"description"`, `"workdir":"sub","description"`, 1), usual, nil, "cat", "", "sub", ""},
		"a call that is not known":     {`{"permission":"bash","metadata":{"command":"cat a"}}`, usual, nil, "cat", "", "", "-"},
		"a call of something else":     {strings.Replace(asks, `"input":{"command":"cat a"`, `"input":{"command":"cat b"`, 1), usual, nil, "cat", "", "", "-"},
		"more in the call":             {strings.Replace(asks, `"description"`, `"sandbox":false,"description"`, 1), usual, nil, "cat", "", "", "-"},
		"a variable":                   {asks, append(usual, "LD_PRELOAD=x"), nil, "cat", "", "", "its variable LD_PRELOAD may change what runs"},
		"settings by a variable":       {asks, append(usual, "OPENCODE_CONFIG_CONTENT={}"), nil, "cat", "", "", "its variable OPENCODE_CONFIG_CONTENT may bring plug-ins"},
		"a shell that reads .bashrc":   {asks, append(usual, "SSH_CLIENT=x"), nil, "cat", "", "", "its shell may read .bashrc"},
		"a plug-in of the user's":      {asks, usual, map[string]string{"home/.config/opencode/plugin/x.ts": ""}, "cat", "", "", "x.ts may decide as well, or change what runs"},
		"a plug-in like the deck's":    {asks, usual, map[string]string{"home/.config/opencode/plugin/mcpdeck.js": string(own.plugin().Plugin().File("", "")) + "//"}, "cat", "", "", "mcpdeck.js may decide as well, or change what runs"},
		"a plug-in of the project's":   {asks, usual, map[string]string{"p/.opencode/plugins/x.js": ""}, "cat", "", "", "x.js may decide as well, or change what runs"},
		"a tool of the project's":      {asks, usual, map[string]string{"p/.opencode/tool/bash.ts": ""}, "cat", "", "", "bash.ts may decide as well, or change what runs"},
		"settings with a plug-in":      {asks, usual, map[string]string{"p/opencode.json": `{"plugin":["x"]}`}, "cat", "", "", "its settings may bring a plug-in or another shell"},
		"settings with another shell":  {asks, usual, map[string]string{"home/.config/opencode/opencode.jsonc": `{shell: "/x"}`}, "cat", "", "", "its settings may bring a plug-in or another shell"},
		"a program of the project's":   {asks, []string{"SHELL=/bin/bash", "PATH=P/bin:/usr/bin"}, map[string]string{"p/bin/cat": ""}, "cat", "", "", "cat is in a folder that others may write"},
		"a program that is not there":  {asks, usual, nil, "catt", "", "", "catt is not in its PATH"},
		"a builtin that dash has not":  {asks, []string{"SHELL=/bin/sh", "PATH=/usr/bin:/bin"}, nil, "mapfile", "sh", "", "mapfile is not in its PATH"},
		"a folder of PATH is relative": {asks, []string{"SHELL=/bin/bash", "PATH=bin:/usr/bin"}, nil, "cat", "", "", `its PATH has the folder "bin"`},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			project := filepath.Join(root, "p")
			if _, err := os.Stat("/bin/zsh"); c.shell == "zsh" && err != nil {
				t.Skip("zsh is not here")
			}
			for path, text := range c.files {
				path = filepath.Join(root, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			env := []string{"HOME=" + filepath.Join(root, "home")}
			for _, v := range c.env {
				env = append(env, strings.Replace(v, "P/", project+"/", 1))
			}
			pid, end, err := agenttest.Process(env...)
			if err != nil {
				t.Fatal(err)
			}
			defer end()
			s := &stream{a: &Adapter{of: own}, c: &hook.Conn{PID: pid}, verified: true}
			o, err := rawjson.SplitObject([]byte(c.asks))
			if err != nil {
				t.Fatal(err)
			}
			q := &ask.Prompt{Command: "cat a", Mode: "build"}
			s.runsIn(q, o, project)
			got, dir := "-", ""
			if q.Runs != nil {
				got = q.Runs(strings.Fields(c.runs))
			}
			if c.dir != "" {
				dir = filepath.Join(project, c.dir)
			}
			if got != c.why || q.Shell != c.shell || q.Dir != dir {
				t.Errorf("%q, shell %q, in %q; want %q, %q, %q", got, q.Shell, q.Dir, c.why, c.shell, dir)
			}
		})
	}
}

func TestNoRuleAllowsWhatAnAgentOfOpenCodeAsksThatPlans(t *testing.T) {
	for mode, want := range map[string]string{"build": "", "mine": "", "plan": "its agent plan is not to do anything yet", "architect": "its agent architect is not to do anything yet", "": "which of its agents asks is not known"} {
		pid, end, err := agenttest.Process("HOME="+t.TempDir(), "SHELL=/bin/bash", "PATH=/usr/bin:/bin")
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		s := &stream{a: &Adapter{of: family{"opencode", "OpenCode", "OPENCODE_", ""}}, c: &hook.Conn{PID: pid}, verified: true}
		o, err := rawjson.SplitObject([]byte(`{"permission":"bash","metadata":{"command":"cat a"},"input":{"command":"cat a","description":"d"}}`))
		if err != nil {
			t.Fatal(err)
		}
		q := &ask.Prompt{Command: "cat a", Mode: mode}
		s.runsIn(q, o, t.TempDir())
		if q.Runs == nil {
			t.Fatal("nothing is told of what it runs")
		}
		if got := q.Runs([]string{"cat"}); got != want {
			t.Errorf("%q: %q, not %q", mode, got, want)
		}
	}
}

func TestARuleMayAllowOnlyAnEditOfOpenCodeThatIsKnownWhole(t *testing.T) {
	const asks = `{"permission":"edit","patterns":["a.md"],"metadata":{"filepath":"P/a.md","diff":"+a"}}`
	for name, c := range map[string]struct {
		from, to, settings, variable string
		why                          string // "-": no rule allows it
	}{
		"as it is":               {"", "", `{"permission": {"edit": "ask"}}`, "A=1", ""},
		"in another form, too":   {`"diff"`, `"filediff":{},"diff"`, "{}", "A=1", ""},
		"more in it":             {`"diff"`, `"files":[],"diff"`, "{}", "A=1", "-"},
		"of two files":           {`["a.md"]`, `["a.md","b.md"]`, "{}", "A=1", "-"},
		"not shown":              {`"+a"`, `""`, "{}", "A=1", "-"},
		"without an own place":   {"P/a.md", "a.md", "{}", "A=1", "-"},
		"a formatter":            {"", "", `{"formatter": true}`, "A=1", "its settings may bring a plug-in, or run something after an edit"},
		"a language server":      {"", "", `{lsp: {x: {}}}`, "A=1", "its settings may bring a plug-in, or run something after an edit"},
		"a variable":             {"", "", "{}", "LD_PRELOAD=x", "its variable LD_PRELOAD may change what runs"},
		"settings by a variable": {"", "", "{}", "OPENCODE_CONFIG=x", "its variable OPENCODE_CONFIG may bring plug-ins"},
	} {
		t.Run(name, func(t *testing.T) {
			project := t.TempDir()
			if err := os.WriteFile(filepath.Join(project, "opencode.json"), []byte(c.settings), 0o600); err != nil {
				t.Fatal(err)
			}
			pid, end, err := agenttest.Process("HOME="+t.TempDir(), c.variable)
			if err != nil {
				t.Fatal(err)
			}
			defer end()
			o, err := rawjson.SplitObject([]byte(strings.Replace(strings.Replace(asks, c.from, c.to, 1), "P/", project+"/", 1)))
			if err != nil {
				t.Fatal(err)
			}
			for _, sub := range []string{"", "explore"} {
				s := &stream{a: &Adapter{of: family{"opencode", "OpenCode", "OPENCODE_", ""}}, c: &hook.Conn{PID: pid}, verified: true}
				q := &ask.Prompt{Mode: "build", Subagent: sub}
				s.permission(q, o, project)
				got, want := "-", c.why
				if q.Runs != nil {
					got = q.Runs(nil)
				}
				if sub != "" {
					want = "-"
				}
				if got != want {
					t.Errorf("%q, want %q", got, want)
				}
			}
		})
	}
}
