package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp/stamptest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"mcpdeck": main, "stamp": stamp})
}

// stamp stands in for the command that analyses TypeScript.
func stamp() { os.Exit(stamptest.Play(standInDir(os.Getenv("HOME")), os.Args[1:])) }

// standInDir is where the stand-in for stamp in a home keeps how it behaves and
// what it was asked.
func standInDir(home string) string { return filepath.Join(home, ".stand-in") }

// TestScripts runs the binary as a user would, each script in a home of its
// own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			// Socket paths must be short, which a test's folder is not.
			home, err := os.MkdirTemp("", "md")
			if err != nil {
				return err
			}
			e.Defer(func() { os.RemoveAll(home) })
			e.Setenv("HOME", home)
			e.Setenv("USERPROFILE", home)
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
			e.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
			return os.MkdirAll(filepath.Join(home, "Desktop"), 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"await": await},
	})
}

// await FILE waits until a file is there.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	for range 1000 {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("%s does not appear", args[0])
}
