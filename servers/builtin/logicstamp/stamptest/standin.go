package stamptest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/standin"
)

// StandIn is how a stand-in for the stamp command behaves, so that a test needs
// neither node nor a network.
type StandIn struct {
	Version string
	Exit    int
	Stdout  string
	Stderr  string
	Sleep   time.Duration
	// SleepDeep makes it sleep only when it goes deeper than the default.
	SleepDeep bool
	// Touch is a source that it changes while it runs.
	Touch string
	// TouchLate is one that it changes after it has read everything.
	TouchLate string
	// Swap is a source that it finds replaced by a link to SwapFor, and with
	// SwapBack there again when it ends.
	Swap, SwapFor string
	SwapBack      bool
	// CodeFrom is a file whose text it takes for the code of Swap, which it then
	// leaves alone.
	CodeFrom string
	// Until is a file that it waits for when it has begun.
	Until string
	// UntilDeep makes it wait only when it goes deeper than the default.
	UntilDeep bool
	// Half leaves the folder files out.
	Half bool
}

// Behave sets how the stand-in of a folder behaves.
func Behave(t testing.TB, dir string, b StandIn) {
	t.Helper()
	b.Version = cmp.Or(b.Version, standin.Version)
	if WriteJSON(filepath.Join(dir, "behaviour"), b) != 0 {
		t.Fatal("cannot write the behaviour")
	}
}

// Play is one run of the stand-in. dir holds its behaviour, if it is told any,
// and gets a file for each run.
func Play(dir string, args []string) int {
	b := StandIn{Version: standin.Version}
	data, err := os.ReadFile(filepath.Join(dir, "behaviour"))
	if err == nil {
		err = json.Unmarshal(data, &b)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintln(os.Stderr, err)
		return 99
	}
	if len(args) == 1 && args[0] == "hold" {
		return hold(dir)
	}
	if slices.Equal(args, []string{"--version"}) {
		fmt.Println("\nVersion: " + b.Version)
		if !strings.Contains(b.Version, ".") {
			return b.Exit
		}
		return 0
	}
	wd, _ := os.Getwd()
	line, _ := json.Marshal(map[string]any{"args": args, "dir": wd, "env": os.Environ()})
	name := fmt.Sprintf("call-%020d", time.Now().UnixNano())
	// A test may look while this writes, so that it appears whole.
	half := filepath.Join(dir, "half-"+name)
	if os.MkdirAll(dir, 0o755) != nil || os.WriteFile(half, line, 0o600) != nil || os.Rename(half, filepath.Join(dir, name)) != nil {
		return 99
	}
	if !b.SleepDeep || slices.Contains(args, "64") {
		time.Sleep(b.Sleep)
	}
	for b.Until != "" && (!b.UntilDeep || slices.Contains(args, "64")) {
		if _, err := os.Stat(b.Until); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	touch(b.Touch, name)
	fmt.Print(b.Stdout)
	fmt.Fprint(os.Stderr, b.Stderr)
	if b.Exit != 0 {
		return b.Exit
	}
	out := args[slices.Index(args, "--out")+1]
	if slices.Contains(args, "--compare-modes") {
		if b.Half {
			return 0
		}
		return WriteJSON(filepath.Join(out, "context_compare_modes.json"), map[string]any{
			"type": "LogicStampCompareModes", "schemaVersion": "0.1", "elapsed": 9, "files": map[string]int{"total": 3, "ts": 1, "tsx": 2},
			"comparison": map[string]any{"sourceTokensGPT4": 100, "modeEstimates": map[string]any{"header": map[string]int{"gpt4": 280, "claude": 290}, "full": map[string]int{"gpt4": 380}}},
		})
	}
	depth, err := strconv.Atoi(args[slices.Index(args, "--depth")+1])
	if err != nil {
		return 97
	}
	if b.Swap != "" && b.CodeFrom == "" && (os.Rename(b.Swap, b.Swap+"~") != nil || os.Symlink(b.SwapFor, b.Swap) != nil) {
		return 96
	}
	exit := writeContext(wd, out, depth, args[slices.Index(args, "--include-code")+1], b)
	if b.SwapBack && os.Rename(b.Swap+"~", b.Swap) != nil {
		return 95
	}
	touch(b.TouchLate, name)
	return exit
}

// hold says that a watch mode runs here and lags, until the file release is in
// dir.
func hold(dir string) int {
	wd, _ := os.Getwd()
	exit := WriteJSON(filepath.Join(wd, ".logicstamp", "context_watch-status.json"), map[string]any{
		"active": true, "projectRoot": wd, "pid": os.Getpid(), "startedAt": time.Now(),
	})
	for exit == 0 {
		if _, err := os.Stat(filepath.Join(dir, "release")); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	return exit
}

func touch(file, text string) {
	if f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0); err == nil {
		_, _ = f.WriteString("// " + text + "\n")
		f.Close()
	}
}

// writeContext makes a root of every source: a line "// props: a b" gives it
// props, "// uses: path" an edge to another file, which then is no root. It goes
// as deep as it is told, and one level is one edge.
func writeContext(project, out string, depth int, mode string, b StandIn) int {
	c := standin.NewContext(b.Version, depth)
	c.Half, c.Meta = b.Half, map[string]any{"missing": []any{map[string]string{"name": "left-pad"}}}
	list, err := sources(project)
	if err != nil {
		return 94
	}
	for _, rel := range list {
		text, err := os.ReadFile(filepath.Join(project, rel))
		if err != nil || !manifest.IsSource(rel, false) {
			continue
		}
		props := map[string]string{}
		var uses []string
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, "// props:"); ok {
				for _, name := range strings.Fields(rest) {
					props[name] = "string"
				}
			}
			if rest, ok := strings.CutPrefix(line, "// uses:"); ok {
				uses = append(uses, strings.TrimSpace(rest))
			}
		}
		node := c.Add(rel, path.Base(rel), fmt.Sprint("uif:", props), text, props, uses...)
		if b.CodeFrom != "" && filepath.Join(project, rel) == b.Swap {
			if text, err = os.ReadFile(b.CodeFrom); err != nil {
				return 93
			}
		}
		if header := regexp.MustCompile(`/\*\*[\s\S]*?@uif[\s\S]*?\*/`).Find(text); mode != "none" && header != nil {
			node["codeHeader"] = string(header)
		}
		if mode == "full" {
			node["code"] = string(text)
		}
	}
	return code(c.Write(out))
}

// sources are the paths that it reads as sources, when it has read what else it needs: all
// as they come, whatever is there.
func sources(project string) ([]string, error) {
	list, err := manifest.Take(context.Background(), project, manifest.Options{})
	if err != nil {
		return nil, err
	}
	for _, name := range []string{".stampignore", ".logicstamp/config.json", "package.json", manifest.SecurityReport} {
		_, _ = os.ReadFile(filepath.Join(project, name)) // it may be missing
	}
	paths := list.Special
	for _, f := range list.Files {
		paths = append(paths, f.Path)
	}
	// Links to files are followed wherever they lead, those to folders are not.
	for _, l := range list.Outside {
		paths = append(paths, l.Path)
	}
	return paths, nil
}

// WriteJSON writes a value and gives an exit code.
func WriteJSON(name string, v any) int { return code(standin.JSON(name, v)) }

// code is the exit code after writing.
func code(err error) int {
	if err != nil {
		return 98
	}
	return 0
}
