//go:build linux

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// demoDriver is a user's home in which something may be played that starts this program
// under other names, which a test's own copy of it does not allow.
func demoDriver(t *testing.T) *driver {
	t.Helper()
	d := newDriver(t)
	d.program = programs.Program(t, "cmd/mcpdeck")
	dir, err := os.MkdirTemp("", "md") // each demo removes what killed ones have left beside it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	d.env = append(d.env, "TMPDIR="+dir)
	return d
}

// files are all files below a folder.
func files(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "\n")
}

func TestTheDemoEndsByItselfWithoutAScreenAndLeavesNothing(t *testing.T) {
	t.Parallel()
	d := demoDriver(t)
	before := files(t, d.home)
	out, err := d.command("demo", "--plain").CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	for _, want := range []string{
		"demo 1/7: claude, codex and opencode are connected", "demo 2/7: codex has your answers", "demo 3/7: opencode has drawn",
		"demo 4/7: A call of codex has failed", "demo 5/7: claude's edit breaks", "demo 6/7: All three have your decisions",
		"demo 7/7: claude got its tools",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
	order := regexp.MustCompile(`(?s)asks 2 questions.*demo 2/7: codex asks you.*codex: read_project_context failed.*demo 4/7: A call of codex has failed`)
	if !order.Match(out) {
		t.Errorf("what happens is not printed before the words about it:\n%s", out)
	}
	if after := files(t, d.home); after != before {
		t.Errorf("the user's home was changed: %s", after)
	}
	if dir := demoFolder(string(out)); dir == "" || there(dir) {
		t.Errorf("its folder %q is left, or it does not say where it is:\n%s", dir, out)
	}
}

// demoFolder is where a demo without a screen is played, as it says; "" if it does not.
func demoFolder(said string) string {
	m := regexp.MustCompile(`(?m)^socket: (.*)/\.local/`).FindStringSubmatch(said)
	if m == nil {
		return ""
	}
	return m[1]
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestTheNextDemoRemovesTheFolderOfAKilledOne(t *testing.T) {
	t.Parallel()
	d := demoDriver(t)
	var demos []*window
	var dirs []string
	for range 2 {
		dir := ""
		t.Cleanup(func() { os.RemoveAll(dir) }) // when it is killed
		w := d.terminal(d.command("demo", "--plain", "--pace", "1h"))
		d.until("a demo", func() bool { dir = demoFolder(w.text()); return dir != "" })
		demos, dirs = append(demos, w), append(dirs, dir)
	}
	d.kill(demos[0].cmd)
	if !there(dirs[0]) {
		t.Fatal("a killed demo removes its folder")
	}
	if out, err := d.command("demo", "--plain").CombinedOutput(); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	if there(dirs[0]) {
		t.Errorf("%s is left", dirs[0])
	}
	if !there(dirs[1]) {
		t.Error("the folder of a demo that runs is removed")
	}
}

// openDemo is a demo on a screen.
func openDemo(d *driver, pace string) *window {
	d.t.Helper()
	w := d.terminal(d.command("demo", "--background", "dark", "--pace", pace))
	w.wide()
	return w
}

// quits ends the program by its key.
func (w *window) quits() {
	w.t.Helper()
	w.key("q")
	if code := w.ended(); code != 0 {
		w.t.Errorf("exit code %d", code)
	}
}

func TestTheDemoPlaysItselfOnAScreen(t *testing.T) {
	t.Parallel()
	d := demoDriver(t)
	w := openDemo(d, "0s")
	w.shows(d, "That was the deck.")
	w.key("I")
	w.key("H")
	w.shows(d, "Denied: psql -c 'DROP TABLE orders_old'")
	d.until("every agent has confirmed its decision", func() bool {
		screen := w.screen()
		return strings.Count(screen, "✗ ") == 3 && !slices.ContainsFunc([]string{"sent", "not taken yet", "in its terminal", "gone"}, func(other string) bool {
			return strings.Contains(screen, other)
		})
	})
	w.quits()
}

// agrees has a test fail where what the guide says of a key is nowhere else on the screen.
func (w *window) agrees() {
	w.t.Helper()
	screen := w.screen()
	at := strings.Index(screen, "demo 2/")
	for _, m := range regexp.MustCompile(`\b(enter|u|y|n) ([a-z]+?)(ie|e)?s\b`).FindAllStringSubmatch(screen[at:], -1) {
		if rest := strings.Replace(screen, m[0], "", 1); !regexp.MustCompile(`\b` + m[1] + " " + m[2]).MatchString(rest) {
			w.t.Errorf("the guide says %q:\n%s", m[0], screen)
		}
	}
}

func TestTheUserAnswersTheDemo(t *testing.T) {
	t.Parallel()
	d := demoDriver(t)
	w := openDemo(d, "1h")
	w.shows(d, "This is the Inbox")
	w.key("\x0e") // ctrl+n
	w.shows(d, "enter opens it")
	w.agrees()
	w.keyed("1", func() bool { return strings.Contains(w.screen(), "Which database") })
	w.keyed("1", func() bool { return strings.Contains(w.screen(), "enter sends both answers") })
	w.agrees()
	w.keyed("\r", func() bool { return strings.Contains(w.screen(), "codex has your answers") })
	w.key("\x0e")
	w.shows(d, "opencode has drawn")
	w.keyed("P", func() bool { return strings.Contains(w.screen(), "Pixels 6") })
	w.quits()
}

func TestAnEmptyPageLeadsToTheDemoAndBack(t *testing.T) {
	t.Parallel()
	d := demoDriver(t)
	w := d.window()
	w.wide()
	w.shows(d, ":demo plays for a minute")
	for _, page := range []string{"A", "C", "P", "D"} {
		w.key(page)
		w.shows(d, ":demo plays an example")
	}
	w.key(":")
	w.shows(d, "type a command")
	w.key("demo")
	w.key("\r")
	w.shows(d, "demo 1/")
	w.key("q")
	w.shows(d, ":demo plays an example")
	w.quits()
}
