//go:build linux

package codex

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/agents/agenttest"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// commandOnly is a request for a command and nothing else.
const commandOnly = `{"kind":"command","threadId":"t","turnId":"u","itemId":"c","startedAtMs":1,"environmentId":"local","reason":"r","command":"/bin/bash -lc 'cat a'","cwd":"/p","commandActions":[],
	"proposedExecpolicyAmendment":["cat","a"],"availableDecisions":["accept","cancel"]}`

func TestARuleMayAllowOnlyAPlainCommandOfCodex(t *testing.T) {
	for name, c := range map[string]struct {
		from, to string
		may      bool
		shell    string
	}{
		"as it is":                         {"", "", true, ""},
		"bash without its login files":     {"-lc", "-c", true, ""},
		"sh":                               {"bash -lc", "sh -c", true, "sh"},
		"sh with its login files":          {"bash -lc", "sh -lc", false, "sh"},
		"zsh":                              {"bash", "zsh", false, "zsh"},
		"a bash that is not the system's":  {"/bin/bash", "/p/bash", false, ""},
		"a name alone":                     {"/bin/bash", "bash", false, ""},
		"no shell":                         {"/bin/bash -lc 'cat a'", "cat a", false, ""},
		"input for a command":              {`"kind":"command"`, `"kind":"writeStdin"`, false, ""},
		"a command of the user's":          {`"kind":"command"`, `"kind":"humanCommand"`, false, ""},
		"another machine":                  {`"local"`, `"far"`, false, ""},
		"a rule of the user's has it ask":  {`"proposedExecpolicyAmendment":["cat","a"],`, "", false, ""},
		"a relative folder":                {`"/p"`, `"p"`, false, ""},
		"more permissions":                 {`"reason"`, `"additionalPermissions":{"network":{"enabled":true}},"reason"`, false, ""},
		"a connection":                     {`"reason"`, `"networkApprovalContext":{"host":"h","protocol":"https"},"reason"`, false, ""},
		"a part of a command":              {`"reason"`, `"approvalId":"x","reason"`, false, ""},
		"what is not known in the request": {`"reason"`, `"new":1,"reason"`, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := rpc.Message{ID: []byte("0"), Method: runCommand, Params: []byte(strings.Replace(commandOnly, c.from, c.to, 1))}
			asked := ""
			q := read(m, around{Folder: "/p", Runs: func(shell string, programs []string) string { asked = shell; return "" }})
			p := q.req.Prompt
			if may := p.Runs != nil; may != c.may || p.Shell != c.shell {
				t.Fatalf("a rule may %v, shell %q: %+v", may, p.Shell, p)
			}
			if c.may && (p.Runs(nil) != "" || asked == "") {
				t.Error("nobody is asked what may run")
			}
			if read(m, around{Folder: "/p"}).req.Prompt.Runs != nil {
				t.Error("a rule may allow it in a session of which not enough is known")
			}
		})
	}
}

func TestARuleMayAllowOnlyAnEditOfCodexThatIsKnownWhole(t *testing.T) {
	const edit = `{"threadId":"t","turnId":"u","itemId":"c","startedAtMs":1,"reason":null,"grantRoot":null}`
	for name, c := range map[string]struct {
		from, to string
		may      bool
	}{
		"as it is":                         {"", "", true},
		"more than these files":            {`"grantRoot":null`, `"grantRoot":"/p"`, false},
		"what is not known in the request": {`"reason"`, `"new":1,"reason"`, false},
	} {
		m := rpc.Message{ID: []byte("0"), Method: changeFiles, Params: []byte(strings.Replace(edit, c.from, c.to, 1))}
		in := around{Folder: "/p", Changes: readAnyChange, Runs: func(shell string, _ []string) string { return "shell " + shell }}
		if p := read(m, in).req.Prompt; (p.Runs != nil) != c.may || c.may && p.Runs(nil) != "shell " {
			t.Errorf("%s: a rule may %v: %+v", name, p.Runs != nil, p)
		}
		if in.Runs = nil; read(m, in).req.Prompt.Runs != nil {
			t.Errorf("%s: a rule may allow it in a session of which not enough is known", name)
		}
	}
	pid, end, err := agenttest.Process("LD_PRELOAD=x")
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	if why := (&link{pid: pid}).runs("t", "/p", "", nil); why != "its variable LD_PRELOAD may change what runs" {
		t.Errorf("of an edit is said %q", why)
	}
}

func TestARuleIsToldWhatMayRunOtherwiseInCodex(t *testing.T) {
	const kept = "f1 () \n{ \n    eval x\n}\nalias foo='bar'\ndeclare -x HOME=\"/h\"\ndeclare -x PATH=\"/usr/bin:/bin\"\n"
	for name, c := range map[string]struct {
		env   string
		kept  string
		files map[string]string
		runs  string
		why   string
	}{
		"nothing":                     {"A=1", kept, map[string]string{"codex/config.toml": "model = \"x\"\n"}, "cat read", ""},
		"no kept shell":               {"A=1", "", nil, "cat", "what its login shell sets is not known"},
		"a function":                  {"A=1", kept, nil, "f1", "f1 is an alias or a function of its shell"},
		"an alias":                    {"A=1", kept, nil, "foo", "foo is an alias or a function of its shell"},
		"a variable of the daemon's":  {"BASH_ENV=x", kept, nil, "cat", "its variable BASH_ENV may change what runs"},
		"a variable of the shell's":   {"A=1", kept + "declare -x LD_PRELOAD=\"x\"\n", nil, "cat", "its variable LD_PRELOAD may change what runs"},
		"no PATH":                     {"A=1", "declare -x HOME=\"/h\"\n", nil, "cat", "its PATH is not known"},
		"settings":                    {"A=1", kept, map[string]string{"codex/config.toml": "[profiles.x.shell_environment_policy]\nset = { A = \"1\" }\n"}, "cat", "its setting shell_environment_policy may change what runs"},
		"settings of the project's":   {"A=1", kept, map[string]string{"p/.codex/config.toml": "shell_environment_policy = { inherit = \"none\" }\n"}, "cat", "its setting shell_environment_policy may change what runs"},
		"settings that are broken":    {"A=1", kept, map[string]string{"p/.codex/config.toml": "x = \n"}, "cat", "its settings cannot be read"},
		"a program of the project's":  {"A=1", strings.Replace(kept, "/usr/bin", "P/bin:/usr/bin", 1), map[string]string{"p/bin/cat": ""}, "cat", "cat is in a folder that others may write"},
		"a program that is not there": {"A=1", kept, nil, "catt", "catt is not in its PATH"},
		"known only when it runs":     {"A=1", kept, nil, "", "a program is known only when it runs"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			files := map[string]string{}
			if c.kept != "" {
				files["codex/"+snapshots+"/t.1.sh"] = strings.ReplaceAll(c.kept, "P/", root+"/p/")
			}
			for path, text := range c.files {
				files[path] = text
			}
			for path, text := range files {
				path = filepath.Join(root, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			pid, end, err := agenttest.Process(c.env)
			if err != nil {
				t.Fatal(err)
			}
			defer end()
			l := &link{home: filepath.Join(root, "codex"), pid: pid}
			programs := strings.Fields(c.runs)
			if c.runs == "" {
				programs = []string{""}
			}
			if got := l.runs("t", filepath.Join(root, "p"), "bash", programs); got != c.why {
				t.Errorf("%q, want %q", got, c.why)
			}
		})
	}
}
