package logicstamp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/stampcli"
)

// standIn is how the stand-in for the stamp command behaves. The test
// binary itself is the command, so that no test needs node or a network.
type standIn struct {
	Version string
	Exit    int
	Stdout  string
	Stderr  string
	Sleep   time.Duration
	// SleepDeep makes it sleep only when it goes deeper than the default.
	SleepDeep bool
	// Touch is a source that it changes while it runs.
	Touch string
	// Half leaves the folder files out.
	Half bool
}

const standInFlag = "-stand-in"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == standInFlag {
		os.Exit(playStamp(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

// standInCommand starts the stand-in that behaves as dir says. A program built
// with the race detector sleeps for a second before it ends, unless told.
func standInCommand(t testing.TB, dir string) []string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := []string{exe, standInFlag, dir}
	if env, err := exec.LookPath("env"); err == nil {
		command = append([]string{env, "GORACE=atexit_sleep_ms=0"}, command...)
	}
	return command
}

// playStamp is one run of the stand-in. dir holds its behaviour and gets a file
// for each run.
func playStamp(dir string, args []string) int {
	var b standIn
	data, err := os.ReadFile(filepath.Join(dir, "behaviour"))
	if err == nil {
		err = json.Unmarshal(data, &b)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 99
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
	if os.WriteFile(half, line, 0o600) != nil || os.Rename(half, filepath.Join(dir, name)) != nil {
		return 99
	}
	if !b.SleepDeep || slices.Contains(args, "64") {
		time.Sleep(b.Sleep)
	}
	if b.Touch != "" {
		f, err := os.OpenFile(b.Touch, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, _ = f.WriteString("// " + name + "\n")
			f.Close()
		}
	}
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
		return writeJSON(filepath.Join(out, stampcli.ModesFile), map[string]any{
			"type": "LogicStampCompareModes", "schemaVersion": "0.1", "elapsed": 9, "files": map[string]int{"total": 3, "ts": 1, "tsx": 2},
			"comparison": map[string]any{"sourceTokensGPT4": 100, "modeEstimates": map[string]any{"header": map[string]int{"gpt4": 280, "claude": 290}, "full": map[string]int{"gpt4": 380}}},
		})
	}
	depth, err := strconv.Atoi(args[slices.Index(args, "--depth")+1])
	if err != nil {
		return 97
	}
	return writeContext(wd, out, depth, b)
}

// writeContext makes a root of every source: a line "// props: a b" gives it
// props, "// uses: path" an edge to another file, which then is no root. It goes
// as deep as it is told, and one level is one edge.
func writeContext(project, out string, depth int, b standIn) int {
	used := map[string]bool{}
	nodes := map[string]map[string]any{}
	uses := map[string][]string{}
	_ = filepath.WalkDir(project, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(project, p)
		rel = filepath.ToSlash(rel)
		if !manifest.IsSource(rel, false) {
			return nil
		}
		text, _ := os.ReadFile(p)
		props := map[string]string{}
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, "// props:"); ok {
				for _, name := range strings.Fields(rest) {
					props[name] = "string"
				}
			}
			if rest, ok := strings.CutPrefix(line, "// uses:"); ok {
				to := strings.TrimSpace(rest)
				used[to] = true
				uses[rel] = append(uses[rel], to)
			}
		}
		nodes[rel] = map[string]any{"entryId": rel, "code": strings.Repeat("é\"x", strings.Count(string(text), "big")*20_000), "contract": map[string]any{
			"entryId": rel, "kind": "react:component", "composition": map[string]any{"functions": []string{path.Base(rel)}},
			"interface": map[string]any{"props": props}, "exports": "named", "semanticHash": fmt.Sprint("uif:", props), "fileHash": manifest.FileHash(text),
		}}
		return nil
	})
	folders := map[string][]any{}
	for rel, node := range nodes {
		if used[rel] {
			continue
		}
		list := []any{node}
		var edges []any
		for _, edge := range reached(rel, uses, depth) {
			list = append(list, nodes[edge[1]])
			edges = append(edges, edge)
		}
		folders[path.Dir(rel)] = append(folders[path.Dir(rel)], map[string]any{
			"type": "LogicStampBundle", "entryId": rel, "depth": depth, "createdAt": time.Now(), "bundleHash": "uifb:" + rel,
			"graph": map[string]any{"nodes": list, "edges": edges}, "meta": map[string]any{"missing": []any{map[string]string{"name": "left-pad"}}},
		})
	}
	var index []any
	for dir, bundles := range folders {
		slices.SortFunc(bundles, func(a, b any) int {
			return strings.Compare(a.(map[string]any)["entryId"].(string), b.(map[string]any)["entryId"].(string))
		})
		index = append(index, map[string]any{"path": dir, "contextFile": path.Join(dir, "context.json"), "bundles": len(bundles), "tokenEstimate": 100 * len(bundles)})
		if !b.Half {
			if code := writeJSON(filepath.Join(out, dir, "context.json"), bundles); code != 0 {
				return code
			}
		}
	}
	return writeJSON(filepath.Join(out, "context_main.json"), map[string]any{
		"type": "LogicStampIndex", "schemaVersion": "0.2", "createdAt": time.Now(), "folders": index,
		"summary": map[string]int{"totalComponents": len(nodes), "totalBundles": len(nodes) - len(used), "totalFolders": len(folders), "totalTokenEstimate": 100 * len(nodes)},
		"meta":    map[string]string{"source": "logicstamp-context@" + b.Version},
	})
}

// reached are the edges from a file, as deep as asked.
func reached(from string, uses map[string][]string, depth int) [][]string {
	var edges [][]string
	if depth > 0 {
		for _, to := range uses[from] {
			edges = append(edges, []string{from, to})
			edges = append(edges, reached(to, uses, depth-1)...)
		}
	}
	return edges
}

func writeJSON(name string, v any) int {
	data, err := json.Marshal(v)
	if err != nil || os.MkdirAll(filepath.Dir(name), 0o755) != nil || os.WriteFile(name, data, 0o644) != nil {
		return 98
	}
	return 0
}

// stage is a service over the stand-in with a project.
type stage struct {
	*logicstamp.Service
	t       *testing.T
	dir     string
	project string
	clock   *clock
	opts    logicstamp.Options
	module  *logicstamp.Module
}

// clock is a time that a test moves on.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

type stageOption func(*logicstamp.Options)

func newStage(t *testing.T, b standIn, options ...stageOption) *stage {
	t.Helper()
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	// A name that a shell would not leave alone.
	project = filepath.Join(project, "my $(touch oops); 'shop'")
	st := &stage{t: t, dir: t.TempDir(), project: project, clock: &clock{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}}
	st.write("src/App.tsx", "// props: title dense\n// uses: src/parts/Knob.tsx\n")
	st.write("src/parts/Knob.tsx", "// props: size locked\n")
	st.write("src/parts/helpers.ts", "export {}\n")
	st.behave(b)
	o := logicstamp.Options{
		Dir: t.TempDir(), ProjectPath: project, Now: st.clock.now,
		CLI: stampcli.Options{Command: standInCommand(t, st.dir), Environment: append(os.Environ(), "NODE_OPTIONS=--evil")},
	}
	for _, f := range options {
		f(&o)
	}
	st.opts = o
	st.Service = st.open()
	st.module = logicstamp.NewModule(st.Service)
	return st
}

// open makes another service over the same store, as another process would.
func (s *stage) open(options ...stageOption) *logicstamp.Service {
	s.t.Helper()
	o := s.opts
	for _, f := range options {
		f(&o)
	}
	out, err := logicstamp.New(o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(out.Close)
	return out
}

func (s *stage) behave(b standIn) {
	s.t.Helper()
	if b.Version == "" {
		b.Version = "0.8.8"
	}
	if writeJSON(filepath.Join(s.dir, "behaviour"), b) != 0 {
		s.t.Fatal("cannot write the behaviour")
	}
}

func (s *stage) write(name, text string) {
	s.t.Helper()
	full := filepath.Join(s.project, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// call is one run of the stand-in.
type call struct {
	Args []string
	Dir  string
	Env  []string
}

// calls are the analyses that were run.
func (s *stage) calls() []call {
	s.t.Helper()
	found, _ := filepath.Glob(filepath.Join(s.dir, "call-*"))
	var out []call
	for _, f := range found {
		var c call
		data, err := os.ReadFile(f)
		if err == nil {
			err = json.Unmarshal(data, &c)
		}
		if err != nil {
			s.t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

func (s *stage) refresh(args logicstamp.RefreshArgs) *logicstamp.Refreshed {
	s.t.Helper()
	r, err := s.Refresh(s.t.Context(), logicstamp.Call{}, args)
	if err != nil {
		s.t.Fatal(err)
	}
	s.clock.add(time.Second)
	return r
}
