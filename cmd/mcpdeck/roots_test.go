//go:build unix

package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/decktest"
)

// agentFrom connects to the deck's socket as a relay does that says it was started in
// a folder.
func agentFrom(d *driver, cwd string) *agent {
	d.t.Helper()
	c, err := net.Dial("unix", filepath.Join(d.home, ".local/state/mcpdeck/run/deck.sock"))
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { c.Close() })
	if _, err := fmt.Fprintf(c, `{"mcpdeck":1,"cwd":%q,"hints":{"PROJECT_PATH":%q}}`+"\n", cwd, cwd); err != nil {
		d.t.Fatal(err)
	}
	r := bufio.NewReader(c)
	if welcome, err := r.ReadString('\n'); err != nil || strings.Contains(welcome, "error") {
		d.t.Fatalf("the deck says %q, %v", welcome, err)
	}
	a := &agent{decktest.NewAgent(d.t, c), d.t}
	go func() {
		defer close(a.Lines)
		a.Hear(r)
	}()
	a.Handshake("from " + cwd)
	return a
}

// failed calls a tool and tells whether it refused, with all it said.
func (a *agent) failed(tool, arguments string) (bool, string) {
	a.t.Helper()
	m := a.Request("tools/call", `{"name":"`+tool+`","arguments":`+arguments+`}`)
	text := fmt.Sprint(m)
	result, _ := m["result"].(map[string]any)
	return result["isError"] == true || m["error"] != nil, text
}

// TestNoServerReadsOutsideAProject connects from folders that are no projects,
// in many spellings, and asks every server that reads files for what is there.
func TestNoServerReadsOutsideAProject(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	secret := filepath.Join(d.home, ".ssh")
	if err := os.Mkdir(secret, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(secret, "id.pxl"), []byte("SECRET"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(d.project, "keys")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/", filepath.Join(d.project, "all")); err != nil {
		t.Fatal(err)
	}
	project := d.project
	d.project = d.home // which is no project: the deck's folder must not stand in for the agents'
	d.serve("--allow-dir", "/", "--allow-dir", d.home)
	state := filepath.Join(d.home, ".local/state/mcpdeck")
	refused := []string{
		"/", "//", "/etc", "/etc/../", "/usr", d.home, d.home + "/", d.home + "/.", project + "/..", filepath.Dir(d.home), secret, project + "/keys",
		project + "/all", project + "/all/etc", project + "/all" + d.home, state, state + "/run", filepath.Dir(state), "src",
	}
	if runtime.GOOS == "linux" {
		refused = append(
			refused, "/proc", "/proc/self", "/proc/self/root", "/proc/self/root"+"/", "/proc/self/root"+d.home, "/proc/self/root"+secret,
			"/proc/self/cwd", "/proc/1/root", "/sys", "/dev",
		)
	}
	for _, dir := range refused {
		t.Run(strings.ReplaceAll(dir, "/", "|"), func(t *testing.T) {
			a := agentFrom(d, dir)
			if failed, said := a.failed("read_project_context", `{"directoryPath":"."}`); !failed || !strings.Contains(said, "has no project: ") && !strings.Contains(said, "cannot be opened") {
				t.Errorf("read_project_context: %s", said)
			}
			for _, path := range []string{"id.pxl", secret + "/id.pxl", "keys/id.pxl", project + "/keys/id.pxl", "." + secret + "/id.pxl", ".ssh/id.pxl"} {
				if failed, said := a.failed("pixelsrc_validate", fmt.Sprintf(`{"path":%q}`, path)); !failed || !strings.Contains(said, "has no project: ") && !strings.Contains(said, "no such file") {
					t.Errorf("pixelsrc_validate %s: %s", path, said)
				}
			}
			for _, path := range []string{dir, secret, d.home, "/etc", state} {
				if failed, said := a.failed("logicstamp_refresh_snapshot", fmt.Sprintf(`{"projectPath":%q}`, path)); !failed || strings.Contains(said, "CLI") {
					t.Errorf("logicstamp_refresh_snapshot %s: %s", path, said)
				}
			}
		})
	}
	for _, dir := range []string{project, "/proc/self/root" + project, project + "/../shop"} {
		if strings.HasPrefix(dir, "/proc") && runtime.GOOS != "linux" {
			continue
		}
		if failed, said := agentFrom(d, dir).failed("read_project_context", `{"directoryPath":"`+project+`"}`); failed || !strings.Contains(said, "keys") {
			t.Errorf("%s is a project: %s", dir, said)
		}
	}
	if log := d.log.String(); !strings.Contains(log, "allow_dirs: / cannot be a project") {
		t.Errorf("no word about what was allowed and may not be: %s", log)
	}
}

// TestAnAgentInARefusedFolderHasNoProject starts agents where no project can be,
// beside a deck that was started in one.
func TestAnAgentInARefusedFolderHasNoProject(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	keys := filepath.Join(d.home, ".ssh")
	if err := os.Mkdir(keys, 0o700); err != nil {
		t.Fatal(err)
	}
	const art = `{type:"sprite", name:"dot", size:[1,1], palette:{a:"#f00"}, regions:{a:{points:[[0,0]]}}}`
	for path, text := range map[string]string{
		filepath.Join(d.project, "dot.pxl"): art, filepath.Join(d.project, "button.tsx"): "export const Button = () => null",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	without := agentIn(d, keys) // no deck runs, so it serves itself
	d.serve()
	d.until("the relay has found the deck", func() bool {
		_, said := without.failed("ask", whichOne)
		return !strings.Contains(said, "no deck")
	})
	agents := map[string]struct {
		*agent
		where string
	}{
		"in ~/.ssh":                {agentIn(d, keys), keys},
		"in HOME":                  {agentIn(d, d.home), d.home},
		"in ~/.ssh, before a deck": {without, keys},
	}
	for name, a := range agents {
		t.Run(name, func(t *testing.T) {
			for tool, arguments := range map[string][]string{
				"read_project_context":        {`{"directoryPath":"."}`},
				"pixelsrc_validate":           {`{"path":"dot.pxl"}`, fmt.Sprintf(`{"path":%q}`, d.project+"/dot.pxl")},
				"pixelsrc_format":             {`{"path":"dot.pxl"}`},
				"pixelsrc_analyze":            {`{"path":"."}`, `{"path":"dot.pxl"}`},
				"pixelsrc_import":             {`{"path":"dot.png"}`},
				"logicstamp_refresh_snapshot": {`{}`, `{"projectPath":"."}`, fmt.Sprintf(`{"projectPath":%q}`, d.project)},
				"logicstamp_list_bundles":     {`{}`},
				"logicstamp_watch_status":     {`{"projectPath":"."}`},
			} {
				for _, given := range arguments {
					failed, said := a.failed(tool, given)
					if !failed || !strings.Contains(said, "this connection has no project: "+a.where+" cannot be one: ") {
						t.Errorf("%s %s: %s", tool, given, said)
					}
					if strings.Contains(said, "dot.pxl:") || strings.Contains(said, "Button") {
						t.Errorf("%s %s tells of the deck's project: %s", tool, given, said)
					}
				}
			}
			if failed, said := a.failed("pixelsrc_validate", fmt.Sprintf(`{"source":%q}`, art)); failed {
				t.Errorf("a tool that needs no project: %s", said)
			}
			if failed, said := a.failed("manage_memory", `{"action":"write","key":"k","value":"v"}`); failed { // it is the deck's, and everybody's
				t.Errorf("the memory: %s", said)
			}
		})
	}
	if failed, said := agentFrom(d, "").failed("read_project_context", `{"directoryPath":"."}`); failed || !strings.Contains(said, "dot.pxl") {
		t.Errorf("an agent that brings no folder: %s", said)
	}
}

// agentIn is a relay that runs in a folder, which shakes hands.
func agentIn(d *driver, dir string) *agent {
	d.t.Helper()
	project := d.project
	d.project = dir
	a := d.relay()
	d.project = project
	a.Handshake("in " + filepath.Base(dir))
	return a
}
