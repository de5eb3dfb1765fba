package rules

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// marked are the lines of a file of commands: a mark, a space and the command.
func marked(t testing.TB, path string) (all [][2]string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		mark, command, found := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if found && mark != "#" {
			all = append(all, [2]string{mark, strings.ReplaceAll(command, "␤", "\n")})
		}
	}
	return all
}

// linked is the place of the corpus, with links in it.
func linked() Place {
	in, links := shop("bash"), map[string]string{
		"/home/u/shop/out": "/etc", "/home/u/shop/deep": "src/a/b", "/home/u/shop/up": "..", "/home/u/shop/hooks": ".git/hooks",
		"/tmp/key": "/home/u/.ssh/id_rsa",
	}
	in.Link = func(p string) (string, bool) { to, ok := links[p]; return to, ok }
	return in
}

func TestNoDisguiseMakesACommandHarmless(t *testing.T) {
	t.Parallel()
	rows := marked(t, "testdata/attacks.txt")
	if len(rows) < 300 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		r := Read(row[1], linked())
		if row[0] == "-" {
			if r.Class() != "starter" {
				t.Errorf("%s only reads: %v", row[1], r.Facts())
			}
			continue
		}
		have := r.Effects()
		for effect := range strings.SplitSeq(row[0], ",") {
			if !slices.Contains(have, Effect(effect)) && !slices.Contains(have, Opaque) && (effect != "write-in" || !slices.Contains(have, WriteOut)) {
				t.Errorf("%s may %s: %v", row[1], effect, r.Facts())
			}
		}
	}
}

// TestNothingOfTheSecondListThatDoesMoreThanReadPassesAsReading reads a list that was written before the
// table of programs was read.
func TestNothingOfTheSecondListThatDoesMoreThanReadPassesAsReading(t *testing.T) {
	t.Parallel()
	rows, asked := marked(t, "testdata/second.txt"), 0
	if len(rows) < 500 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		switch r := Read(row[1], shop("bash")); {
		case row[0] == "+" && r.Class() == "starter":
			t.Errorf("%s passes as reading: %v", row[1], r.Facts())
		case row[0] == "-" && r.Class() != "starter":
			t.Logf("%s is asked for: %v", row[1], r.Facts())
			asked++
		}
	}
	if asked > 6 {
		t.Errorf("%d of %d commands that only read are asked for", asked, len(rows))
	}
}

func TestAProgramReachesEachHostThatItIsTold(t *testing.T) {
	t.Parallel()
	for command, hosts := range map[string][]string{
		"curl https://a.example/x": {"a.example"}, "curl https://a.example b.example": {"a.example", "curl"}, "curl b.example --url https://a.example": {"a.example", "curl"},
		"curl https://a.example https:///b.example/": {"a.example", "curl"}, `curl https://a.example 'https://a.example\@b.example'`: {"a.example", "curl"},
		"curl -x http://b.example https://a.example": {"a.example", "b.example"}, "curl -x b.example:80 https://a.example": {"a.example", "curl"},
		"curl --resolve a.example:443:192.0.2.1 https://a.example": {"a.example", "curl"}, "curl -sSL https://a.example": {"a.example", "curl"}, "curl --location https://a.example": {"a.example", "curl"},
		"wget https://a.example/x": {"a.example", "wget"}, "xh -F https://a.example": {"a.example", "xh"}, "git clone https://a.example/x": {"a.example", "git clone"}, "curl https://u@a.example:81": {"a.example:81"}, "curl https://a.example@b.example": {"b.example"},
		"wget https://a.example b.example": {"a.example", "wget"}, "git push origin main": {"git push"}, "git push https://b.example/x main": {"b.example", "git push"},
		"git push b.example:x main": {"b.example:x", "git push"}, "git fetch ../b": {"../b", "git fetch"}, "git pull ssh://u@b.example/x": {"b.example", "git pull"},
	} {
		var got []string
		for _, f := range Read(command, shop("bash")).Facts() {
			if f.Effect == Net {
				got = append(got, f.What)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, hosts) {
			t.Errorf("%s reaches %q, not %q", command, got, hosts)
		}
	}
}

func TestAProgramThatRunsOneOfTheProjectIsReadAsThatOne(t *testing.T) {
	t.Parallel()
	for command, want := range map[string][]Effect{
		"uv run pytest -q tests": {Code}, "uv run --frozen cat a.txt": {Code}, "uv run cat ../a": {Code, ReadOut}, "uv run tools/x.py": {Code}, "uv run rm a": {Code, Delete}, "uv run ours --x": {Code},
		"poetry run ours ../a": {Opaque, Code}, "bundle exec rspec": {Code}, "bundle exec touch a": {Code, WriteIn}, "hatch run test:pytest": {Code}, "hatch run 'pytest; rm a'": {Opaque, Code},
		"bun run db:migrate": {Code}, "bun run cp a b": {Code, WriteIn}, "uv run $x": {Opaque, Code}, "pdm run -s ls": {Code},
		"uv run x.py": {Code}, "hatch run x.py a": {Code}, "bun run .env.ts": {Code, Secret}, "uv run ours a/b=c": {Code},
	} {
		r := Read(command, shop("bash"))
		got := r.Effects()
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || len(r.Segments) != 1 {
			t.Errorf("%s has the effects %v in %d parts, not %v", command, got, len(r.Segments), want)
		}
	}
}

func TestAProgramRunsCodeOfTheProjectOnlyInIt(t *testing.T) {
	t.Parallel()
	for cwd, outside := range map[string]bool{"/home/u/shop/src": false, "/home/u/shop/out": true, "/tmp/e": true, "/home/u": true, "/home/u/shop2": true} {
		in := linked()
		in.Cwd = cwd
		r := Read("git status", in)
		if code := slices.Contains(Read("go test", in).Effects(), Opaque); code != outside || r.Outside != outside || (r.Class() != "starter") != outside {
			t.Errorf("in %s: %v, outside: %v", cwd, r.Facts(), r.Outside)
		}
	}
}

func TestGitMayTakeAFolderOfTheProjectForAnotherRepository(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"own/.git", "own/src/a", "own/bare/refs", "own/sub/.git", "own/sub/a", "none/refs"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"own/.git/HEAD", "own/bare/HEAD", "none/HEAD"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte("ref: refs/heads/a\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("bare", filepath.Join(root, "own/link")); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		cwd, project string
		planted      bool
	}{{"own", "own", false}, {"own/src/a", "own", false}, {"own/src/a", "own/src", false}, {"own/bare", "own", true}, {"own/bare/refs", "own", true}, {"own/link", "own", true}, {"own/sub/a", "own", true}, {"none", "none", true}} {
		in := At(filepath.Join(root, c.cwd), filepath.Join(root, c.project), "/home/u")
		if in.Planted != c.planted || (Read("git status", in).Class() == "starter") == c.planted {
			t.Errorf("in %s: %v", c.cwd, in.Planted)
		}
	}
}

func TestWhatIsDeletedIsTheLink(t *testing.T) {
	t.Parallel()
	in := linked()
	at := map[string]bool{}
	for _, f := range Read("rm deep", in).Facts() {
		at[f.At] = true
	}
	if !at["/home/u/shop/deep"] || !at["/home/u/shop/src/a/b"] {
		t.Errorf("%v", at)
	}
}

// TestAFileWithOtherNamesMayBeOneOutside has a hook's file get a second name in the project, as an earlier command
// may have given it.
func TestAFileWithOtherNamesMayBeOneOutside(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, dir := range []string{".git/hooks", "docs"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	hook, own := filepath.Join(root, ".git", "hooks", "a"), filepath.Join(root, "docs", "own")
	for _, path := range []string{hook, own} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(hook, filepath.Join(root, "docs", "x")); err != nil {
		t.Skip("hard links cannot be made here:", err)
	}
	in := At(root, root, "/home/u")
	for path, want := range map[string]Effect{"docs/x": WriteOut, "docs/own": WriteIn, "docs/new": WriteIn} {
		if runtime.GOOS == "windows" && path == "docs/own" {
			continue // how many names it has is not known
		}
		for name, got := range map[string]*Reading{"a command": Read("echo y > "+path, in), "an edit": Edits(in, []Edit{{Path: path}})} {
			if !slices.ContainsFunc(got.Facts(), func(f Fact) bool { return f.Effect == want }) {
				t.Errorf("%s of %s: %v, want %s", name, path, got.Facts(), want)
			}
		}
	}
}
