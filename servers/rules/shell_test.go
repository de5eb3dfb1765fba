package rules

import (
	"bytes"
	"context"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// shells are those of bash, dash and zsh that are here; t says which are not.
func shells(t *testing.T) (all []string) {
	t.Helper()
	for _, s := range []string{"bash", "dash", "zsh"} {
		if _, err := exec.LookPath(s); err != nil {
			t.Logf("%s is not here: not compared with it", s)
			continue
		}
		all = append(all, s)
	}
	if all == nil {
		t.Skip("no shell is here")
	}
	return all
}

// scratch makes a home with a project in it for commands to be run in.
func scratch(t *testing.T) Place {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	shop := filepath.Join(home, "shop")
	for name, text := range map[string]string{
		"a": "one\nfoo\n", "a.txt": "b\na\n", "b.txt": "a\n", "x": "x\n", "names.txt": "a.txt\nb.txt\n", "nums.txt": "1\n2\n", "data.csv": "a,b\n", "README.md": "# a\n",
		"package.json": `{"scripts": {"a": "b"}}`, "go.mod": "module a\n", "go.sum": "", "src/main.go": "package main // TODO\n", "src/a.go": "package main\n",
		"log/dev.log": "error\npanic\n", "internal/x.go": "package x\n", "config.ini": "# a\nb\n", "../other/a": "", "../.profile": "",
	} {
		path := filepath.Join(shop, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := Place{Cwd: shop, Root: shop, Home: home}
	if out, err := runIn(t, in, "sh", "git init -q && git add . && git -c user.name=a -c user.email=a@b.c commit -qm a"); err != nil {
		t.Logf("no repository: %v %s", err, out)
	}
	return in
}

// runIn runs a command as an agent does, with no input.
func runIn(t *testing.T, in Place, argv0, text string, before ...string) ([]byte, error) {
	t.Helper()
	argv := append(slices.Clone(before), argv0, "-c", text)
	return ends(t, "", process.Command{
		Program: argv[0], Args: argv[1:], Dir: in.Cwd,
		Extra: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + in.Home, "TMPDIR=" + in.Home, "TMPPREFIX=" + in.Home + "/.zsh", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C.UTF-8"},
	})
}

// ends runs a program for a minute at most, and ends what it has started.
func ends(t *testing.T, input string, c process.Command) ([]byte, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out bytes.Buffer
	err := process.Run(ctx, c, process.Streams{In: strings.NewReader(input), Out: &out, Err: &out})
	return out.Bytes(), err
}

// files says what each file below a folder holds.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		i, err := d.Info()
		if err != nil {
			return err
		}
		all[path] = i.Mode().String()
		if i.Mode().IsRegular() {
			b, err := os.ReadFile(path)
			all[path] += string(b)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// readers are the commands of all lists that are said only to read, in a shell.
func readers(t *testing.T, in Place) (all []string) {
	t.Helper()
	var lines []string
	for _, r := range corpus(t) {
		lines = append(lines, r.Command)
	}
	for _, r := range slices.Concat(marked(t, "testdata/second.txt"), marked(t, "testdata/attacks.txt")) {
		lines = append(lines, r[1])
	}
	for _, line := range lines {
		if Read(line, in).Class() == "starter" {
			all = append(all, line)
		}
	}
	return all
}

// TestWhatIsSaidOnlyToReadChangesNoFile runs each command of the lists that is said only to read.
func TestWhatIsSaidOnlyToReadChangesNoFile(t *testing.T) {
	t.Parallel()
	for _, shell := range shells(t) {
		in := scratch(t)
		in.Shell = shell
		before, all, ran := files(t, in.Home), readers(t, in), 0
		for _, line := range all {
			if out, _ := runIn(t, in, shell, line); !bytes.Contains(out, []byte("not found")) {
				ran++
			}
			if after := files(t, in.Home); !maps.Equal(before, after) {
				t.Fatalf("%s: %s changed a file: %v", shell, line, Read(line, in).Facts())
			}
		}
		t.Logf("%s: %d of %d commands found their programs; no file changed", shell, ran, len(all))
		if len(all) < 150 {
			t.Errorf("%d commands", len(all))
		}
	}
}

// TestWhatIsSaidToRemoveAFileDoes runs the ways of the corpus to write "rm x" in bash.
func TestWhatIsSaidToRemoveAFileDoes(t *testing.T) {
	t.Parallel()
	in, n := scratch(t), 0
	in.Shell = shells(t)[0]
	for _, row := range corpus(t) {
		if !strings.Contains(row.Command, "rm x") || !slices.Equal(row.Effects, []Effect{Delete}) || row.Command == "ls || rm x" {
			continue
		}
		n++
		x := filepath.Join(in.Root, "x")
		if err := os.WriteFile(x, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := runIn(t, in, "bash", row.Command)
		if _, gone := os.Lstat(x); gone == nil {
			t.Errorf("%s leaves the file: %v %s", row.Command, err, out)
		}
	}
	if n < 20 {
		t.Errorf("%d commands", n)
	}
}

var (
	writesFile = regexp.MustCompile(`^(?:\[pid +\d+\] )?(?:open|openat|creat)\(.*O_(?:WRONLY|RDWR|CREAT|TRUNC).* = \d+<([^>]*)>`)
	readsFile  = regexp.MustCompile(`^(?:\[pid +\d+\] )?(?:open|openat)\(.*O_RDONLY.* = \d+<([^>]*)>`)
	changesAny = regexp.MustCompile(`^(?:\[pid +\d+\] )?(unlink|rename|mkdir|rmdir|link|symlink|truncate|chmod|fchmod|chown|fchown)\w*\(.* = 0$`)
	reachesNet = regexp.MustCompile(`^(?:\[pid +\d+\] )?connect\(.*AF_INET`)
)

// TestTheSystemSeesNothingWrittenByWhatOnlyReads runs such commands, and other words for them, under strace.
func TestTheSystemSeesNothingWrittenByWhatOnlyReads(t *testing.T) {
	realtest.On(t)
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not here")
	}
	in := scratch(t)
	in.Shell = "bash"
	ways := mutations()
	names := slices.Sorted(maps.Keys(ways))
	all, r := readers(t, in), rand.New(rand.NewPCG(3, 4))
	for n := len(all); len(all) < 500; {
		line := all[r.IntN(n)]
		for range 1 + r.IntN(2) {
			line = ways[names[r.IntN(len(names))]](line, r)
		}
		if Read(line, in).Class() == "starter" {
			all = append(all, line)
		}
	}
	for _, line := range []string{"touch x", "echo a > y", "rm y", "cat ../other/a", "exec 3<>/dev/tcp/127.0.0.1/1"} {
		if beyondReading(t, in, line) == "" {
			t.Fatalf("%s is not seen", line)
		}
	}
	for _, line := range all {
		if seen := beyondReading(t, in, line); seen != "" {
			t.Errorf("%s: %s\n%v", line, seen, Read(line, in).Facts())
		}
	}
	t.Logf("%d commands seen", len(all))
}

// beyondReading runs a command, and finds what it does beyond reading in the project.
func beyondReading(t *testing.T, in Place, command string) string {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	_, _ = runIn(t, in, "bash", command, "strace", "-f", "-y", "-qq", "-o", log, "-e", "trace=file,desc,network")
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	quiet := regexp.MustCompile(`^(/dev/(null|tty|urandom)|` + regexp.QuoteMeta(in.Home) + `/\.?(sh-thd|zsh)\S*|/proc/self/\S*)$`)
	for line := range strings.Lines(string(b)) {
		_, line, _ := strings.Cut(strings.TrimSpace(line), " ") // the process
		line = strings.TrimSpace(line)
		if strings.Contains(line, "/.git/index.lock") { // git diff keeps there when it has looked at which file
			continue
		}
		if m := writesFile.FindStringSubmatch(line); m != nil && !quiet.MatchString(m[1]) {
			return line
		}
		if m := readsFile.FindStringSubmatch(line); m != nil && strings.HasPrefix(m[1], in.Home+"/other") {
			return line
		}
		if changesAny.MatchString(line) && !strings.Contains(line, "sh-thd") || reachesNet.MatchString(line) {
			return line
		}
	}
	return ""
}
