//go:build unix

package pencil

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// realPackage is the package that carries the real program. It is proprietary:
// tests fetch it into a cache folder of the machine, and nothing of it is kept
// anywhere else.
const realPackage = "@pencil.dev/cli@0.2.9"

// realProgram is a PATH on which the real program's command line package is.
func realProgram(t *testing.T) string {
	t.Helper()
	dir := realtest.Kept(t, "pencil-0.2.9", func(ctx context.Context, dir string) error {
		pack := exec.CommandContext(ctx, "npm", "pack", "--silent", "--pack-destination", dir, realPackage)
		unpack := exec.CommandContext(ctx, "sh", "-c", "tar -xzf *.tgz && mkdir -p bin && ln -sf ../package/dist/index.mjs bin/pencil && chmod +x package/dist/index.mjs package/dist/out/mcp-server-*")
		unpack.Dir = dir
		return errors.Join(realtest.Run(pack), realtest.Run(unpack))
	})
	return filepath.Join(dir, "bin")
}

func realOptions(t *testing.T) Options {
	t.Helper()
	if archs := (platform{runtime.GOOS, runtime.GOARCH}).fileNames(); !strings.Contains(archs[0], "64") {
		t.Skipf("the real program does not exist for %s", runtime.GOARCH)
	}
	o := options(t)
	o.Command, o.Environ = "", []string{"PATH=" + realProgram(t)}
	return o
}

// The home folder is empty, so there is no app to talk to.
func TestRealProgram(t *testing.T) {
	o := realOptions(t)
	w := startWith(t, o)
	began := time.Now()
	w.switchedOn(t)
	s := w.Status()
	t.Logf("ready after %v: %s", time.Since(began), s.Text(false))
	if s.Source != "command line package" {
		t.Errorf("found by %q", s.Source)
	}
	if len(s.Tools) == 0 || len(s.Notes) != 0 || s.Instructions == "" || s.Sign().Tone != upstream.Good {
		t.Fatalf("%d tools, notes %v, sign %+v", len(s.Tools), s.Notes, s.Sign())
	}
	entries := 0
	for _, tool := range s.Tools {
		raw, err := rawjson.SplitObject(tool.Raw)
		if err != nil {
			t.Fatal(err)
		}
		shown, err := rawjson.SplitObject(tool.JSON())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range raw {
			if got := strings.ReplaceAll(catalogue.Canonical(shown.Get(m.Key)), prefix, ""); m.Key != "description" && got != catalogue.Canonical(m.Value) {
				t.Errorf("%s: its %s changed", tool.Original, m.Key)
			}
		}
		if d := strings.ReplaceAll(tool.Description, prefix, ""); d != raw.Str("description") {
			entries++
			if !strings.HasPrefix(d, raw.Str("description")[:20]) {
				t.Errorf("%s: its description changed", tool.Original)
			}
		}
	}
	if entries != 1 {
		t.Errorf("%d descriptions carry the instructions", entries)
	}

	// A read of the app's state: the tool that needs nothing but is not answered
	// without an app.
	tool := (&catalogue.Catalogue{Tools: s.Tools}).Entry(o.catalogue().Entry)
	args := `{}`
	if strings.Contains(string(tool.Input), "include_schema") {
		args = `{"include_schema":false}`
	}
	began = time.Now()
	r := w.call(t, tool.Name, args)
	took := time.Since(began)
	if !r.IsError || !strings.HasPrefix(firstText(r), absentText) || took < 2*time.Second {
		t.Errorf("after %v: %q", took, firstText(r))
	}
	s = w.until(t, "yellow", func(s Status) bool {
		return s.Sign() == (upstream.Sign{Tone: upstream.Warning, Note: "app not running"})
	})

	pid := s.PID
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	began = time.Now()
	w.until(t, "yellow after the kill", func(s Status) bool { return s.PID != pid && s.Sign().Tone == upstream.Warning })
	t.Logf("yellow after %v", time.Since(began))
	if _, err := w.Control(t.Context(), upstream.Request{Verb: "reconnect"}); err != nil {
		t.Fatal(err)
	}
	if s := w.Status(); s.Sign().Tone != upstream.Good || s.PID == 0 || s.PID == pid {
		t.Errorf("after reconnect: %+v, child %d", s.Sign(), s.PID)
	}

	// End with a call waiting, which the program would finish first.
	pid = w.Status().PID
	go w.Call(context.Background(), upstream.Call{Tool: tool.Name, Args: []byte(args)})
	w.until(t, "a call at work", func(s Status) bool { return s.Running == 1 })
	began = time.Now()
	if err := w.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("ended after %v", time.Since(began))
	if alive(pid) {
		t.Error("the child lives")
	}
}
