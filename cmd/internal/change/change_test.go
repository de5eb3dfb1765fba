package change

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// files are the contents of the files below a folder; "" for those that are not there.
func files(t *testing.T, dir string, names ...string) string {
	t.Helper()
	var out []string
	for _, n := range names {
		b, err := os.ReadFile(filepath.Join(dir, n))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		out = append(out, n+"="+string(b))
	}
	return strings.Join(out, " ")
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// editOf turns the file at path into text; "" takes it away.
func editOf(t *testing.T, path, text string) Edit {
	t.Helper()
	e, err := EditOf(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != "" {
		e.After = []byte(text)
	}
	return e
}

func apply(t *testing.T, j Journal, edits ...Edit) Entry {
	t.Helper()
	e, err := j.Apply("test", edits, nil)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestAChangeOfSeveralFilesIsUndoneToTheByte(t *testing.T) {
	dir := t.TempDir()
	j := Journal{filepath.Join(dir, "state", "undo")}
	put(t, filepath.Join(dir, "a"), "a\r\n")
	put(t, filepath.Join(dir, "gone"), "gone")
	put(t, filepath.Join(dir, "empty"), "")
	before := files(t, dir, "a", "gone", "empty", "x/y/new")
	if err := os.Chmod(filepath.Join(dir, "gone"), 0o640); err != nil {
		t.Fatal(err)
	}
	e := apply(t, j, editOf(t, filepath.Join(dir, "a"), "b"), editOf(t, filepath.Join(dir, "gone"), ""),
		editOf(t, filepath.Join(dir, "empty"), "full"), editOf(t, filepath.Join(dir, "x", "y", "new"), "new"))
	if got := files(t, dir, "a", "gone", "empty", "x/y/new"); got != "a=b gone= empty=full x/y/new=new" {
		t.Fatalf("changed: %s", got)
	}
	info, err := os.Stat(j.path(e.ID))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the record: %v, %v", info.Mode(), err)
	}
	if e, err = j.Entry(e.ID); err != nil {
		t.Fatal(err)
	}
	u, err := j.Plan(e)
	if err != nil || !u.Exact() || len(u.Files) != 4 {
		t.Fatalf("%+v, %v", u, err)
	}
	if err := u.Apply(); err != nil {
		t.Fatal(err)
	}
	if got := files(t, dir, "a", "gone", "empty", "x/y/new"); got != before {
		t.Errorf("got %s, want %s", got, before)
	}
	if info, err := os.Stat(filepath.Join(dir, "gone")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("permissions %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(filepath.Join(dir, "empty")); err != nil || info.Size() != 0 {
		t.Errorf("the empty file: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folders are still there: %v", err)
	}
	if entries, err := j.Entries(); err != nil || len(entries) != 0 {
		t.Errorf("records: %v, %v", entries, err)
	}
}

func TestAChangeIsMadeWhollyOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	j := Journal{filepath.Join(dir, "undo")}
	put(t, filepath.Join(dir, "a"), "a")
	edits := []Edit{
		editOf(t, filepath.Join(dir, "a"), "b"), editOf(t, filepath.Join(dir, "new", "b"), "b"),
		editOf(t, filepath.Join(dir, "late"), "a file"), editOf(t, filepath.Join(dir, "late", "c"), "below it"),
	}
	if _, err := j.Apply("test", edits, nil); err == nil || strings.Contains(err.Error(), "could not be put back") {
		t.Fatalf("got %v", err)
	}
	if got := files(t, dir, "a", "new/b", "late"); got != "a=a new/b= late=" {
		t.Errorf("left: %s", got)
	}
	if entries, _ := j.Entries(); len(entries) != 0 {
		t.Errorf("recorded: %+v", entries)
	}
}

func TestWhatChangedMeanwhileIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	j, path := Journal{filepath.Join(dir, "undo")}, filepath.Join(dir, "a")
	put(t, path, "a")
	planned := editOf(t, path, "b")
	put(t, path, "c")
	if _, err := j.Apply("test", []Edit{planned}, nil); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
		t.Errorf("a change: %v", err)
	}
	e := apply(t, j, editOf(t, path, "b"))
	u, err := j.Plan(e)
	if err != nil {
		t.Fatal(err)
	}
	put(t, path, "d")
	if err := u.Apply(); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
		t.Errorf("undoing: %v", err)
	}
	if got := files(t, dir, "a"); got != "a=d" {
		t.Errorf("got %s", got)
	}
}

// One file of a change that cannot be undone keeps the others as they are.
func TestUndoIsRefusedNamingTheFile(t *testing.T) {
	dir := t.TempDir()
	j := Journal{filepath.Join(dir, "undo")}
	put(t, filepath.Join(dir, "a"), "one\n")
	put(t, filepath.Join(dir, "b"), "one\n")
	e := apply(t, j, editOf(t, filepath.Join(dir, "a"), "two\n"), editOf(t, filepath.Join(dir, "b"), "two\n"))
	put(t, filepath.Join(dir, "b"), "three\n")
	if _, err := j.Plan(e); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), filepath.Join(dir, "b")) {
		t.Errorf("got %v", err)
	}
	if got := files(t, dir, "a", "b"); got != "a=two\n b=three\n" {
		t.Errorf("got %s", got)
	}
}

func TestWhatWasHalfUndoneIsUndone(t *testing.T) {
	dir := t.TempDir()
	j := Journal{filepath.Join(dir, "undo")}
	put(t, filepath.Join(dir, "a"), "one\n")
	e := apply(t, j, editOf(t, filepath.Join(dir, "a"), "two\n"), editOf(t, filepath.Join(dir, "b"), "two\n"))
	put(t, filepath.Join(dir, "a"), "one\n") // as by a command that was killed
	u, err := j.Plan(e)
	if err != nil || len(u.Files) != 1 || !u.Exact() {
		t.Fatalf("%+v, %v", u, err)
	}
	if err := u.Apply(); err != nil {
		t.Fatal(err)
	}
	if got := files(t, dir, "a", "b"); got != "a=one\n b=" {
		t.Errorf("got %s", got)
	}
}

func TestAFileThatBecameALinkIsNotUndone(t *testing.T) {
	dir := t.TempDir()
	j, path := Journal{filepath.Join(dir, "undo")}, filepath.Join(dir, "a")
	put(t, path, "a")
	e := apply(t, j, editOf(t, path, "b"))
	if err := os.Rename(path, path+".real"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path+".real", path); err != nil {
		t.Skip("this system makes no links here: ", err)
	}
	if _, err := j.Plan(e); err == nil || !strings.Contains(err.Error(), "link") {
		t.Errorf("got %v", err)
	}
}

func TestNoLinkInAProjectLeadsAChangeElsewhere(t *testing.T) {
	dir := t.TempDir()
	root, j := filepath.Join(dir, "project"), Journal{filepath.Join(dir, "undo")}
	put(t, filepath.Join(root, "a", "file.json"), "{}\n")
	put(t, filepath.Join(dir, "elsewhere", "file.json"), "{}\n")
	if err := os.Symlink(filepath.Join("..", "elsewhere"), filepath.Join(root, "folder")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	if err := os.Symlink(filepath.Join("..", "elsewhere", "file.json"), filepath.Join(root, "file.json")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"folder/file.json", "file.json", "folder"} {
		if p, err := InProject(root, filepath.FromSlash(name)); err == nil || !strings.Contains(err.Error(), "is a link") {
			t.Errorf("%s: %v, %v", name, p.Path(), err)
		}
	}
	if p, err := InProject(root, filepath.Join("a", "file.json", "below")); err == nil {
		t.Errorf("below a file: %v", p.Path())
	}
	p, err := InProject(root, filepath.Join("a", "file.json"))
	if err != nil || !p.Shared() {
		t.Fatalf("shared %v, %v", p.Shared(), err)
	}
	e := apply(t, j, Edit{Place: p, Before: []byte("{}\n"), After: []byte("{\"m\":1}\n")})
	if err := os.Rename(filepath.Join(root, "a"), filepath.Join(root, "b")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("..", "elsewhere"), filepath.Join(root, "a")); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Plan(e); err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Errorf("undo where a folder has become a link: %v", err)
	}
	if p, err := OfUser(filepath.Join(root, "file.json")); err != nil || p.Path() != filepath.Join(dir, "elsewhere", "file.json") || p.Shared() {
		t.Errorf("a link of the user's leads to %s, %v", p.Path(), err)
	}
}

func TestAFileGetsOtherContentThanUndoWorksOut(t *testing.T) {
	dir := t.TempDir()
	j, path := Journal{filepath.Join(dir, "undo")}, filepath.Join(dir, "made", "file")
	e := apply(t, j, editOf(t, path, "ours"))
	p, err := OfUser(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct {
		now, after string
		exact      bool
	}{{"ours", "theirs", false}, {"theirs", "", true}} {
		after := []byte(r.after)
		if r.after == "" {
			after = nil
		}
		u := j.Instead(e, p, []byte(r.now), after)
		if u.Exact() != r.exact || u.Files[0].Gone() != r.exact {
			t.Errorf("%q: exact %v, gone %v", r.after, u.Exact(), u.Files[0].Gone())
		}
		if err := u.Apply(); err != nil {
			t.Fatal(err)
		}
		if got, want := files(t, dir, "made/file"), "made/file="+r.after; got != want {
			t.Errorf("there is %s, want %s", got, want)
		}
	}
	if all, err := j.Entries(); err != nil || len(all) != 0 {
		t.Errorf("%d changes are still recorded, %v", len(all), err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder that was made for it: %v", err)
	}
}

func TestTheOldestChangesAreForgotten(t *testing.T) {
	dir := t.TempDir()
	j := Journal{filepath.Join(dir, "undo")}
	for i := range Kept + 3 {
		apply(t, j, editOf(t, filepath.Join(dir, "a"), fmt.Sprint(i+1)))
	}
	entries, err := j.Entries()
	if err != nil || len(entries) != Kept || entries[0].ID != fmt.Sprint(Kept+3) {
		t.Errorf("%d, the newest %s: %v", len(entries), entries[0].ID, err)
	}
	if _, err := j.Entry("1"); !errors.Is(err, ErrNone) {
		t.Errorf("got %v", err)
	}
	if _, err := j.Entry("../../etc/passwd"); !errors.Is(err, ErrNone) {
		t.Errorf("got %v", err)
	}
}

func TestOneEntryUndoesWhatWasChangedTwice(t *testing.T) {
	dir := t.TempDir()
	j, path := Journal{filepath.Join(dir, "undo")}, filepath.Join(dir, "x", "a")
	first := apply(t, j, editOf(t, path, "1"))
	second, err := j.Apply("test", []Edit{editOf(t, path, "2")}, &first)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := j.Entries()
	if err != nil || len(entries) != 1 || entries[0].ID != second.ID {
		t.Fatalf("%+v, %v", entries, err)
	}
	u, err := j.Plan(entries[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Apply(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what the first made is still there: %v", err)
	}
}

func TestAChangeIsTakenOutOfWhatChangedElsewhere(t *testing.T) {
	const object = "{\n  \"a\": 1,\n  \"s\": {\n    \"x\": {}\n  }\n}\n"
	const added = "{\n  \"a\": 1,\n  \"s\": {\n    \"x\": {},\n    \"m\": {}\n  }\n}\n"
	for _, r := range []struct{ name, before, after, now, want string }{
		{"a line before it", object, added, strings.Replace(added, `"a": 1`, `"a": 2`, 1), strings.Replace(object, `"a": 1`, `"a": 2`, 1)},
		{"an entry behind it", object, added, strings.Replace(added, `"m": {}`, `"m": {},`+"\n"+`    "z": {}`, 1), strings.Replace(object, `"x": {}`, `"x": {},`+"\n"+`    "z": {}`, 1)},
		{"in one line", `{"a":1}`, `{"a":1,"m":{}}`, `{"a":1,"m":{},"z":3}`, `{"a":1,"z":3}`},
		{"in one line, before it", `{"a":1}`, `{"a":1,"m":{}}`, `{"a":2,"m":{}}`, `{"a":2}`},
		{"at the end of a TOML", "a = 1\n", "a = 1\n\n[m]\nb = 1\n", "a = 2\n\n[m]\nb = 1\n# mine\n", "a = 2\n# mine\n"},
		{"two places of ours", "1\n2\n3\n4\n5\n", "1\nx\n3\n4\n", "1\nx\n3\nnew\n4\n", "1\n2\n3\nnew\n4\n5\n"},
		{"taken out by hand", object, added, strings.Replace(object, `"a": 1`, `"a": 2`, 1), strings.Replace(object, `"a": 1`, `"a": 2`, 1)},
		{"in the same place", object, added, strings.Replace(added, `"m": {}`, `"m": {"y": 1}`, 1), ""},
		{"all of it", object, added, "{}\n", ""},
		{"what ours took away", "1\n2\n3\n", "1\n3\n", "1\nnew\n3\n", ""},
	} {
		t.Run(r.name, func(t *testing.T) {
			got, ok := revert([]byte(r.before), []byte(r.after), []byte(r.now))
			if ok != (r.want != "") || string(got) != r.want {
				t.Errorf("got %v, %q, want %q", ok, got, r.want)
			}
		})
	}
}

func TestWhatCouldNotBeReadWithoutTheChangeIsRefused(t *testing.T) {
	f := File{Name: "a.json", Before: []byte("{\n \"a\": 1\n}\n"), After: []byte("{\n \"a\": 1,\n \"m\": 2\n}\n")}
	if out, err := takeOut(f, []byte("{\n \"a\": 1,\n \"m\": 2,\n}\n")); err != nil && !errors.Is(err, ErrChanged) {
		t.Errorf("got %q, %v", out, err)
	}
	f = File{Name: "a.json", Before: []byte("[1\n]\n"), After: []byte("{\n\"m\": 2}\n")}
	if out, err := takeOut(f, []byte("{\n\"m\": 2}\n/**/\n")); !errors.Is(err, ErrChanged) {
		t.Errorf("got %q, %v", out, err)
	}
}

// TestChangesInDifferentPlacesAreTakenApart splices two changes into texts of lines
// that are all different, and takes the first out again.
func TestChangesInDifferentPlacesAreTakenApart(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	n := 0
	lines := func(count int) []string {
		out := make([]string, count)
		for i := range out {
			n++
			out[i] = fmt.Sprintf("line %d of %d\n", n, r.IntN(1000))
		}
		return out
	}
	splice := func(in []string, at, lost int, fresh []string) []string {
		return append(append(append([]string{}, in[:at]...), fresh...), in[at+lost:]...)
	}
	for range 2000 {
		before := lines(12)
		mine, other := 1+r.IntN(3), 7+r.IntN(3)
		if r.IntN(2) == 0 {
			mine, other = other, mine
		}
		my, his := lines(r.IntN(3)), lines(r.IntN(3))
		myLost, hisLost := r.IntN(3), r.IntN(3)
		after := splice(before, mine, myLost, my)
		want := splice(before, other, hisLost, his)
		shifted := other
		if other > mine {
			shifted += len(my) - myLost
		}
		now := splice(after, shifted, hisLost, his)
		text := func(ls []string) []byte { return []byte(strings.Join(ls, "")) }
		got, ok := revert(text(before), text(after), text(now))
		if !ok || string(got) != string(text(want)) {
			t.Fatalf("before\n%s\nafter\n%s\nnow\n%s\ngot %v\n%s\nwant\n%s", text(before), text(after), text(now), ok, got, text(want))
		}
	}
}

func FuzzRevert(f *testing.F) {
	f.Add([]byte("a\nb\n"), []byte("a\nc\n"), []byte("a\nc\nd"))
	f.Add([]byte(`{"a":1}`), []byte(`{"a":1,"m":{}}`), []byte(`{"a":2,"m":{}}`))
	f.Fuzz(func(t *testing.T, before, after, now []byte) {
		for _, pair := range [][2][]byte{{before, after}, {after, now}} {
			got, at := []byte(nil), 0
			for _, h := range hunks(pair[0], pair[1]) {
				got = append(append(got, pair[0][at:h.start]...), h.text...)
				at = h.end
			}
			if got = append(got, pair[0][at:]...); string(got) != string(pair[1]) {
				t.Fatalf("%q became %q, not %q", pair[0], got, pair[1])
			}
		}
		if got, ok := revert(before, after, after); !ok || string(got) != string(before) {
			t.Fatalf("unchanged since: %v, %q", ok, got)
		}
		if got, ok := revert(before, after, before); !ok || string(got) != string(before) {
			t.Fatalf("undone since: %v, %q", ok, got)
		}
		if got, ok := revert(after, after, now); !ok || string(got) != string(now) {
			t.Fatalf("nothing to undo: %v, %q", ok, got)
		}
		revert(before, after, now)
		Preview(before, after)
	})
}

func TestAPreviewShowsThePlacesAndNoSecrets(t *testing.T) {
	before := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	after := strings.NewReplacer("2", `"API_KEY": "sk-0123456789abcdef0123"`, "8\n", "").Replace(before)
	want := "  1\n- 2\n+ \"API_KEY\": \"[redacted]\"\n  3\n  4\n  ...\n  6\n  7\n- 8\n  9"
	if got := strings.Join(Preview([]byte(before), []byte(after)), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAPreviewHidesSecretsWhoseNamesStandOnOtherLines(t *testing.T) {
	const key, pin = "k3yEnd-0f9e8d7c6b5a4", "hunter2"
	for _, r := range []struct{ name, before, after string }{
		{
			"JSON whose one line becomes several", `{"customApiKeyResponses": {"approved": ["` + key + `"]}, "pins": {"passwords": ["` + pin + `"]}, "theme": "dark"}`,
			`{"customApiKeyResponses": {"approved": ["` + key + `"]}, "pins": {"passwords": ["` + pin + `"]}, "theme": "dark",` + "\n  \"mcpServers\": {}\n}",
		},
		{
			"JSON with comments", "{\n  // mine\n  \"credentials\": {\n    \"work\": [\n      \"" + key + "\", \"" + pin + "\"\n    ]\n  }\n}",
			"{\n  // mine\n  \"credentials\": {\n    \"work\": [\n      \"" + key + "\", \"" + pin + "\", \"" + key + "2\",\n    ],\n  },\n}",
		},
		{"TOML", "[credentials]\nwork = \"" + key + "\"\nhome = \"" + pin + "\"\n", "[credentials]\nwork = \"" + key + "\"\nhome = \"" + pin + "\"\n\n[mcp]\n"},
	} {
		t.Run(r.name, func(t *testing.T) {
			got := strings.Join(Preview([]byte(r.before), []byte(r.after)), "\n")
			if strings.Contains(got, key) || strings.Contains(got, pin) || !strings.Contains(got, "[redacted]") || !strings.Contains(got, "\n+ ") {
				t.Errorf("got\n%s", got)
			}
		})
	}
}
