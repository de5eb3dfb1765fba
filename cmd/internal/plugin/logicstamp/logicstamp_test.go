package logicstamp

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stampcli"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stamptest"
)

func run(t *testing.T, o logicstamp.Options, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := Command(func(context.Context) (*logicstamp.Service, error) { return logicstamp.New(o) })
	var out, errs bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	cmd.SetArgs(append([]string{"diff"}, args...))
	err := cmd.ExecuteContext(t.Context())
	var ended exit.Code
	switch {
	case errors.As(err, &ended):
		code = int(ended)
	case err != nil:
		t.Fatal(err)
	}
	return out.String(), errs.String(), code
}

func TestDiffTellsByItsExitCode(t *testing.T) {
	t.Parallel()
	cli := stamptest.CLI(t, stampcli.Wanted)
	project := stamptest.Shop(t)
	o := logicstamp.Options{
		Dir: t.TempDir(), ProjectPath: project,
		CLI: stampcli.Options{Command: []string{cli}, Environment: os.Environ(), VersionTimeout: 10 * time.Minute},
	}
	out, _, code := run(t, o)
	if code != 2 || !strings.Contains(out, "NO_SNAPSHOT") {
		t.Errorf("without a snapshot: %d\n%s", code, out)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "x"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = project
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	out, _, code = run(t, o)
	if code != 0 || !strings.HasPrefix(out, "no drift since HEAD (") {
		t.Errorf("unchanged: %d\n%s", code, out)
	}
	stamptest.Replace(t, project, "src/parts/Knob.tsx", " locked?: boolean;", "")
	out, errs, code := run(t, o)
	if code != 1 || !strings.Contains(out, "✗ src/parts/Knob.tsx:3: prop removed: locked") || !strings.Contains(out, "− locked?: boolean") || errs != "analysing …\n" {
		t.Errorf("changed: %d\n%s%s", code, out, errs)
	}
	again, _, _ := run(t, o)
	if again != out {
		t.Errorf("two runs differ:\n%s\n%s", out, again)
	}
	if out, _, code = run(t, o, "--markdown"); code != 1 || !strings.Contains(out, "<details><summary>○ src (1)</summary>") {
		t.Errorf("markdown: %d\n%s", code, out)
	}
	if out, _, code = run(t, o, "--json"); code != 1 || !strings.Contains(out, `"status": "diff"`) {
		t.Errorf("json: %d\n%s", code, out)
	}
	if out, _, code = run(t, o, "--baseline", "git:nowhere"); code != 2 || !strings.Contains(out, "GIT_BAD_REF") {
		t.Errorf("bad ref: %d\n%s", code, out)
	}
}
