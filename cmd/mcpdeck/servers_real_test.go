//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/userauth"
)

// takesPassphrase has the decks of this home take the passphrase as a proof.
func (d *driver) takesPassphrase() {
	d.t.Helper()
	d.configure("[ask]\ncli_answers = \"passphrase\"\n")
	dir := filepath.Join(d.home, ".local/state/mcpdeck")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := userauth.New(userauth.Options{Method: userauth.Passphrase, Path: filepath.Join(dir, "passphrase")}).SetPassphrase(passphrase); err != nil {
		d.t.Fatal(err)
	}
}

// proves runs a command as the user does who knows the passphrase.
func (d *driver) proves(args ...string) (said string, code int) {
	d.t.Helper()
	s := d.shell(args...)
	d.until("a passphrase is asked for", func() bool { return strings.Contains(s.text(), "assphrase") || s.over() })
	if !s.over() {
		s.press(passphrase + "\n")
	}
	code = s.ended()
	<-s.done
	return s.text(), code
}

// over tells whether the program has closed its terminal.
func (w *window) over() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// runs are the processes of this home by their ids, apart from mcpdeck's own.
func (d *driver) runs() map[int]string {
	d.t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		d.t.Fatal(err)
	}
	out := map[int]string{}
	for _, dir := range all {
		environ, _ := os.ReadFile(dir + "/environ") // it may have ended, or be another user's
		program, _ := os.Readlink(dir + "/exe")
		if bytes.Contains(append([]byte{0}, environ...), []byte("\x00HOME="+d.home+"\x00")) && program != d.program {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			line, _ := os.ReadFile(dir + "/cmdline")
			out[pid] = string(bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
		}
	}
	return out
}

// nothingRuns waits until no server is left.
func (d *driver) nothingRuns(when string) {
	d.t.Helper()
	d.until("nothing runs "+when, func() bool { return len(d.runs()) == 0 })
}

// addServer adds a real server without starting it.
func addServer(d *driver, s realtest.Server) {
	d.t.Helper()
	args := []string{"add", s.Name, "--yes", "--no-try"}
	for _, e := range s.Env {
		args = append(args, "--env", e)
	}
	if out, err := d.command(append(append(args, "--"), s.Command...)...).CombinedOutput(); err != nil {
		d.t.Fatalf("add %s: %v\n%s", s.Name, err, out)
	}
}

// deckDeclares is what a deck tells a server that it can do.
const deckDeclares = `{"elicitation":{"form":{},"url":{}},"roots":{"listChanged":true}}`

// ownDefinitions are a server's definitions as it lists them itself, in one form, by name.
func ownDefinitions(d *driver, s realtest.Server) map[string]string {
	d.t.Helper()
	c := exec.Command(s.Command[0], s.Command[1:]...)
	c.Dir = d.project
	c.Env = append([]string{"HOME=" + d.home, "PATH=" + d.path}, s.Env...)
	r := rawProgram(d.t, s.Modern(), c)
	defer r.end()
	r.hello(deckDeclares)
	return definitions(d.t, r.ask("tools/list", ""), s.Name+"_")
}

// definitions are those of a list, each in one form and without the prefix, by name.
func definitions(t *testing.T, list []byte, prefix string) map[string]string {
	t.Helper()
	var result struct{ Tools []json.RawMessage }
	if err := json.Unmarshal(list, &result); err != nil {
		t.Fatalf("%v: %.300s", err, list)
	}
	out := map[string]string{}
	for _, tool := range result.Tools {
		var v map[string]any
		dec := json.NewDecoder(bytes.NewReader(bytes.ReplaceAll(tool, []byte(prefix), nil)))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		if e, _ := v["execution"].(map[string]any); e["taskSupport"] == "required" {
			delete(v, "execution") // the deck makes the task, for every client
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out[fmt.Sprint(v["name"])] = string(b)
	}
	return out
}

// TestRealServersAreOfferedAsTheyAre adds servers of many makers, and compares what
// agents of both eras get over each transport with what the servers list themselves.
func TestRealServersAreOfferedAsTheyAre(t *testing.T) {
	t.Parallel()
	all := realtest.Servers(t)
	d := newDriver(t)
	d.path = filepath.Dir(all[0].Command[0]) + ":" + d.path
	d.takesPassphrase()
	for _, s := range all {
		addServer(d, s)
	}
	deck := d.serve()
	own := map[string]map[string]string{}
	for _, s := range all {
		said, code := d.proves("on", s.Name)
		if s.Tools == 0 {
			if code == 0 || !strings.Contains(said, "fetch failed") {
				t.Errorf("%s without the internet: exit %d: %s", s.Name, code, said)
			}
			continue
		}
		own[s.Name] = ownDefinitions(d, s)
		if n := len(own[s.Name]); code != 0 || n < s.Tools || !strings.Contains(said, humanize.Count(n, "tool")+" offered") {
			t.Errorf("%s, which lists %d tools: exit %d: %s", s.Name, n, code, said)
		}
		if out, err := d.command("status", s.Name, "--long").Output(); err != nil || !strings.Contains(string(out), "protocol "+s.Protocol) {
			t.Errorf("%s does not speak %s: %s", s.Name, s.Protocol, out)
		}
	}
	for _, modern := range []bool{false, true} {
		merged := map[string][]byte{}
		for way, r := range waysIn(d, modern) {
			r.hello("{}")
			merged[way] = r.ask("tools/list", "")
			r.end()
		}
		for _, s := range all {
			if own[s.Name] == nil {
				continue
			}
			for way, r := range waysIn(d, modern, s.Name) {
				r.hello("{}")
				same(t, fmt.Sprintf("%s alone over %s, modern %v", s.Name, way, modern), own[s.Name], definitions(t, r.ask("tools/list", ""), s.Name+"_"))
				r.end()
				among := definitions(t, merged[way], s.Name+"_")
				maps.DeleteFunc(among, func(name, _ string) bool { return own[s.Name][name] == "" })
				same(t, fmt.Sprintf("%s among all over %s, modern %v", s.Name, way, modern), own[s.Name], among)
			}
		}
	}
	if err := deck.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := deck.Wait(); err != nil {
		t.Errorf("the deck ended with %v", err)
	}
	if left := d.runs(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	killed(t, d)
	findsLazy(t, d, all)
}

// killed ends a deck in the hardest way while an agent uses servers of each kind: one
// that does not end with its input, one that does, and one in another language.
func killed(t *testing.T, d *driver) {
	t.Helper()
	deck := d.serve()
	a := d.relay()
	a.Handshake("claude")
	for tool, args := range map[string]string{"everything_echo": `{"message":"hi"}`, "memory_read_graph": `{}`, "time_get_current_time": `{"timezone":"UTC"}`} {
		if failed, said := a.failed(tool, args); failed {
			t.Errorf("%s says %s", tool, said)
		}
	}
	if n := len(d.runs()); n < 3 {
		t.Errorf("%d servers run", n)
	}
	d.kill(a.Cmd)
	d.kill(deck)
	d.nothingRuns("after a deck that was killed")
}

// findsLazy has all servers lazy, and looks for tools by what they do.
func findsLazy(t *testing.T, d *driver, all []realtest.Server) {
	t.Helper()
	for _, s := range all {
		file := filepath.Join(d.home, ".config/mcpdeck/servers.d", s.Name+".toml")
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append([]byte("mode = \"lazy\"\n"), b...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d.serve()
	list := func(client string) []byte {
		r := rawProgram(t, false, d.command("mcp", "notion", "brave", "sentry", "firecrawl"))
		defer r.end()
		r.name = client
		r.hello("{}")
		return r.ask("tools/list", "")
	}
	if b := list("codex-mcp-client"); len(b) > 1500 || len(definitions(t, b, "-")) != 2 {
		t.Errorf("a client that does not search lists %d bytes: %s", len(b), b)
	}
	if b := list("claude-code"); len(b) < 300_000 || bytes.Contains(b, []byte(`"find_tools"`)) {
		t.Errorf("a client that searches by itself lists %d bytes", len(b))
	}
	r := rawProgram(t, false, d.command("mcp"))
	defer r.end()
	r.hello("{}")
	for _, file := range []string{"testdata/queries.jsonl", os.Getenv("MCPDECK_TEST_QUERIES")} {
		if file == "" {
			t.Log("no other queries than the own: MCPDECK_TEST_QUERIES names a file with more")
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		queries, missed := 0, 0
		for line := range bytes.Lines(b) {
			var q struct {
				Query string
				Any   []string // SERVER.TOOL
			}
			if err := json.Unmarshal(line, &q); err != nil {
				t.Fatalf("%s: %v: %s", file, err, line)
			}
			found := string(r.ask("tools/call", `"name":"find_tools","arguments":{"query":`+strconv.Quote(q.Query)+`}`))
			queries++
			if !slices.ContainsFunc(q.Any, func(name string) bool {
				server, tool, _ := strings.Cut(name, ".")
				return strings.Contains(found, `\"name\":\"`+server+"_"+strings.TrimPrefix(tool, server+"_")+`\"`)
			}) {
				missed++
				t.Logf("%q finds none of %v, but %v", q.Query, q.Any, regexp.MustCompile(`\\"name\\":\\"([\w-]+)`).FindAllStringSubmatch(found, -1))
			}
		}
		if queries < 30 || missed*10 > queries {
			t.Errorf("%s: %d of %d queries do not find their tool", file, missed, queries)
		}
	}
}

func same(t *testing.T, what string, want, got map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s: %s\n got %.2000s\nwant %.2000s", what, name, got[name], want[name])
		}
	}
	if len(got) > len(want) {
		t.Errorf("%s: %d tools, want %d", what, len(got), len(want))
	}
}
