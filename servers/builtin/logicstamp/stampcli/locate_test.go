package stampcli_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stampcli"
)

// A command that does not answer in time is not taken for another program.
func TestSlowVersionIsATimeout(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	slow := filepath.Join(t.TempDir(), "stamp")
	if err := os.WriteFile(slow, []byte("#!/bin/sh\nexec sleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := stampcli.New(stampcli.Options{Command: []string{slow}, Environment: os.Environ(), VersionTimeout: 200 * time.Millisecond})
	if _, err := r.Locate(t.Context(), ""); problem.CodeOf(err) != problem.CLITimeout {
		t.Errorf("error = %v", err)
	}
}

// The command is what was configured, else on the PATH, else installed by the deck; a project's own only where allowed.
func TestCommandIsFoundInOrder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-ins are shell scripts")
	}
	top := t.TempDir()
	program := func(name string) string {
		full := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte("#!/bin/sh\necho 'Version: 0.8.8'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return full
	}
	configured := program("configured/my-stamp")
	onPath, other := program("path/stamp"), program("alias/logicstamp-context")
	installed, own := program("deck/node_modules/.bin/stamp"), program("project/node_modules/.bin/stamp")
	all := stampcli.Options{Command: []string{configured}, InstallDir: filepath.Join(top, "deck"), AllowProject: true}
	for _, row := range []struct {
		name   string
		change func(o *stampcli.Options)
		path   string
		want   string
	}{
		{"configured", func(*stampcli.Options) {}, "path", configured},
		{"configured and missing", func(o *stampcli.Options) { o.Command = []string{filepath.Join(top, "nowhere")} }, "path", ""},
		{"on the PATH", func(o *stampcli.Options) { o.Command = nil }, "path", onPath},
		{"on the PATH by its other name", func(o *stampcli.Options) { o.Command = nil }, "alias", other},
		{"installed by the deck", func(o *stampcli.Options) { o.Command = nil }, "empty", installed},
		{"the project's own", func(o *stampcli.Options) { o.Command, o.InstallDir = nil, "" }, "empty", own},
		{"the project's own, not allowed", func(o *stampcli.Options) {
			o.Command, o.InstallDir, o.AllowProject = nil, "", false
		}, "empty", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Setenv("PATH", filepath.Join(top, row.path))
			o := all
			row.change(&o)
			p, err := stampcli.New(o).Locate(t.Context(), filepath.Join(top, "project"))
			if row.want == "" {
				if problem.CodeOf(err) != problem.CLINotFound {
					t.Errorf("found %+v, %v", p, err)
				}
				return
			}
			if err != nil || p.Args[0] != row.want {
				t.Errorf("found %q, %v; want %s", p.Args, err, row.want)
			}
		})
	}
}
