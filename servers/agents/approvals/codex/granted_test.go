package codex

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/rules/granted"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

const probed = `prefix_rule(pattern=["git", "log"])
prefix_rule(pattern=["go", ["test", "vet"]], decision="allow")
prefix_rule(pattern=["bash", "-lc"], decision="allow")
prefix_rule(pattern=['ls'], decision="prompt", justification="say \"why\"")
prefix_rule(pattern=["rm"], decision="forbidden")
prefix_rule(pattern=["rm", "-i"], decision="allow") # never counts
`

// TestTheRealCodexDecidesAsItsRulesAreRead asks the program about the commands of 30 probes.
func TestTheRealCodexDecidesAsItsRulesAreRead(t *testing.T) {
	codex := realtest.Agent(t, "codex")
	dir := t.TempDir()
	file := filepath.Join(dir, "x.rules")
	if err := os.WriteFile(file, []byte(probed), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := parseRules([]byte(probed))
	if err != nil || len(all) != 6 || all[0].Fixed != "" {
		t.Fatalf("%v: %+v", err, all)
	}
	probes := []string{
		"git log", "git log --output=x", "git", "git status", "git -C x log", "/usr/bin/git log", "git log -p x", "gitlog",
		"go test", "go vet ./...", "go build", "go test -exec id", "go", "go env", "/usr/local/go/bin/go test",
		"bash -lc id", "bash -c id", "bash", "bash -lc", "sh -lc id",
		"ls", "ls -l", "/bin/ls", "lsof",
		"rm x", "rm", "rm -i x", "/bin/rm -i", "rmdir x", "echo rm",
	}
	names := map[granted.Verdict]string{granted.Allow: "allow", granted.Ask: "prompt", granted.Deny: "forbidden"}
	for _, probe := range probes {
		call := granted.Call{Tool: granted.Command, Words: strings.Fields(probe)}
		want := ""
		for _, v := range []granted.Verdict{granted.Allow, granted.Ask, granted.Deny} { // the strictest counts
			for _, e := range all {
				if e.Verdict == v && e.Covers(call) {
					want = names[v]
				}
			}
		}
		c := exec.Command(codex, append([]string{"execpolicy", "check", "--resolve-host-executables", "--rules", file, "--"}, call.Words...)...)
		c.Env = []string{"HOME=" + dir, "PATH=" + filepath.Dir(realtest.Agent(t, "node")) + ":" + os.Getenv("PATH")}
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%s: %v", probe, err)
		}
		var got struct {
			Decision string `json:"decision"`
		}
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%s: %v: %s", probe, err, out)
		}
		if got.Decision != want {
			t.Errorf("%s: codex says %q, the model %q: %s", probe, got.Decision, want, out)
		}
	}
	if len(probes) != 30 {
		t.Errorf("%d probes", len(probes))
	}
}
