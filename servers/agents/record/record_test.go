package record

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

func TestCommandsThatMayWrite(t *testing.T) {
	for command, want := range map[string]bool{
		"ls -l": false, "cd api && go test ./... 2>&1 | tail -20": false, "git status; git diff": false, "grep -r x . > /dev/null": false, "sed -n '1,20p' a.txt": false,
		"make": true, "echo x > a.txt": true, "cat a | tee b": true, "rm -rf build": true, "sed -i s/a/b/ f": true, "git commit -m x": true,
		"ls $(touch x)": true, "ls\ntouch x": true, "find . -delete": true, "find . -name x": false, "go test -update ./...": true, "go build ./...": true,
		"": false, "ls `touch x`": true, "ls & touch x": true, "cat <<'EOF' > f\nx\nEOF": true,
	} {
		if got := mayWrite(command); got != want {
			t.Errorf("%q: %v", command, got)
		}
	}
}

func TestRecordIsBoundedAndHasNoSecrets(t *testing.T) {
	var b Builder
	long := strings.Repeat("ä", 5000)
	b.Take(&Event{When: noon, Prompt: "log in with password=hunter2hunter2 now", Said: long}, Words|Edits)
	for i := range 300 {
		id := fmt.Sprint(i)
		b.Take(&Event{When: noon, Calls: []Call{{ID: id, Tool: "Edit", Subject: "/src/shop/" + id}}}, Words|Edits)
		b.Take(&Event{When: noon, Results: []Result{{Call: id, Files: []snapshot.ChangedFile{{Path: "/src/shop/" + id, Added: 1}}}}}, Words|Edits)
	}
	b.Take(&Event{Calls: []Call{{ID: "login", Tool: "Bash", Subject: "curl -H 'Authorization: Bearer abcdefghijklmnopqrstuvwxyz'"}}}, Words|Edits)
	r := b.Record("/src/shop")
	if len(r.Said) > mostText+len("…") || !utf8.ValidString(r.Said) || !strings.HasSuffix(r.Said, "…") {
		t.Errorf("said %d bytes", len(r.Said))
	}
	if strings.Contains(r.Prompt, "hunter2") || !strings.Contains(r.Prompt, "log in with") {
		t.Errorf("prompt %q", r.Prompt)
	}
	if len(r.Steps) != mostSteps || strings.Contains(r.Steps[mostSteps-1].Subject, "abcdefgh") || r.Steps[0].Subject != "261" {
		t.Errorf("%d steps, from %q to %q", len(r.Steps), r.Steps[0].Subject, r.Steps[len(r.Steps)-1].Subject)
	}
	if c := r.Changed; len(c.Files) != mostFiles || c.Added != 300 || c.Files[0].Path != "0" {
		t.Errorf("%d files, %d lines, first %v", len(c.Files), c.Added, c.Files[0])
	}
}

func TestTheDiffOfAFileHasItsLastHunksAndNoSecrets(t *testing.T) {
	var b Builder
	edit := func(path, diff string) {
		b.Take(&Event{Results: []Result{{Files: []snapshot.ChangedFile{Diff(path, diff)}}}}, Words|Edits)
	}
	edit("/p/a", "@@ -1 +1 @@\n-x\n+y\n")
	b.Take(&Event{Results: []Result{{Failed: true, Files: []snapshot.ChangedFile{Diff("/p/a", "@@ -1 +1 @@\n+failed\n")}}}}, Words|Edits)
	if got := b.Record("/p").Changed.Files[0].Diff; got != "@@ -1 +1 @@\n-x\n+y\n" {
		t.Errorf("got %q", got)
	}
	edit("/p/a", "@@ -9 +9 @@\n+-----BEGIN RSA PRIVATE KEY-----\n+c2VjcmV0\n")
	if got := b.Record("/p").Changed.Files[0].Diff; !strings.Contains(got, "+y\n@@ -9") || strings.Contains(got, "c2VjcmV0") {
		t.Errorf("got %q", got)
	}
	for i := range 2 * mostDiffs {
		edit(fmt.Sprint("/p/", i), "@@ -1 +1 @@\n+"+strings.Repeat("long\n+", mostDiff))
	}
	n := 0
	for _, f := range b.Record("/p").Changed.Files {
		n += len(f.Diff)
	}
	if n == 0 || n > mostDiffs*(mostDiff+len("…")) {
		t.Errorf("%d bytes of diffs", n)
	}
	saved, err := json.Marshal(b.Changed())
	if err != nil || strings.Contains(string(saved), "long") {
		t.Errorf("saved %s, %v", saved, err)
	}
}

func TestRecordDoesNotChangeOnceItWasRead(t *testing.T) {
	var b Builder
	if b.Record("") != nil {
		t.Error("a record of nothing")
	}
	b.Take(&Event{Prompt: "one", Calls: []Call{{ID: "a", Tool: "Edit"}}}, Words|Edits)
	first := b.Record("/p")
	if b.Record("/p") != first {
		t.Error("another record although nothing has changed")
	}
	b.Take(&Event{Results: []Result{{Call: "a", Files: []snapshot.ChangedFile{{Path: "/p/f", Added: 1}}}}}, Words|Edits)
	second := b.Record("/p")
	b.Take(&Event{Results: []Result{{Call: "b", Files: []snapshot.ChangedFile{{Path: "/p/f", Added: 1}}}}}, Words|Edits)
	if first == second || len(first.Changed.Files) != 0 || !first.Steps[0].Running || second.Changed.Files[0].Added != 1 || b.Record("/p").Changed.Files[0].Added != 2 {
		t.Errorf("%+v, then %+v", first, second)
	}
}

func TestStepsEndAsTheRecordSays(t *testing.T) {
	for _, tt := range []struct {
		name   string
		result Result
		want   string
		files  string
	}{
		{"edited", Result{Files: []snapshot.ChangedFile{{Path: "f", Added: 2, Removed: 1}}}, "+2 −1 failed=false", "+2 −1 partial=false"},
		{"failed", Result{Failed: true, Outcome: "exit 1"}, "exit 1 failed=true", " partial=true"},
		{"failed, without a word", Result{Failed: true, Files: []snapshot.ChangedFile{{Path: "f", Added: 2}}}, " failed=true", " partial=true"},
		{"denied", Result{Denied: true, Outcome: "no"}, "denied failed=true", " partial=false"},
		{"several lines", Result{Outcome: "one\ntwo"}, "one failed=false", " partial=true"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b Builder
			b.Take(&Event{When: noon, Calls: []Call{{ID: "a", Tool: "Bash", Writes: tt.name != "edited"}}}, Words|Edits)
			tt.result.Call = "a"
			b.Take(&Event{When: noon.Add(2 * time.Second), Results: []Result{tt.result}}, Words|Edits)
			b.Take(&Event{When: noon.Add(3 * time.Second), Results: []Result{tt.result}}, Words|Edits)
			r := b.Record("")
			s := r.Steps[0]
			if got := fmt.Sprintf("%s failed=%v", s.Outcome, s.Failed); got != tt.want || s.Running || s.Took != 2*time.Second {
				t.Errorf("step %+v", s)
			}
			if got := fmt.Sprintf("%s partial=%v", Lines(r.Changed.Files), r.Changed.Partial); got != tt.files {
				t.Errorf("changed %q, want %q", got, tt.files)
			}
		})
	}
}

func TestNothingRunsOnInASessionAtRest(t *testing.T) {
	var b Builder
	b.Take(&Event{When: noon, Prompt: "one", Calls: []Call{{ID: "a", Tool: "Bash"}}}, Words|Edits)
	if b.Rest(noon); !b.Record("").Steps[0].Running {
		t.Error("it began when the session rested")
	}
	if b.Rest(noon.Add(time.Second)); b.Record("").Steps[0].Running {
		t.Error("it runs on")
	}
	b.Take(&Event{When: noon.Add(time.Minute), Prompt: "two"}, Words)
	if r := b.Record(""); len(r.Steps) != 0 || r.Prompt != "two" || !r.Asked.Equal(noon.Add(time.Minute)) {
		t.Errorf("after another prompt: %+v", r)
	}
}

func TestDiffCountsTheLinesOfHunks(t *testing.T) {
	f := Diff("a", "--- a\n+++ a\n@@ -1,2 +1,3 @@\n x\n-y\n+++z\n+w\n@@ -9 +9 @@\n--q\n\\ No newline at end of file\n")
	if f.Added != 2 || f.Removed != 2 || !strings.HasPrefix(f.Diff, "@@ -1,2 +1,3 @@\n x\n-y\n") {
		t.Errorf("%+v", f)
	}
	if f := Whole("a", "x\ny\n", true); f.Path != "a" || f.Added != 2 || f.Removed != 0 || f.Diff != "@@ -0,0 +1,2 @@\n+x\n+y" {
		t.Errorf("%+v", f)
	}
	for text, want := range map[string]int{"": 0, "a": 1, "a\n": 1, "a\nb": 2, "\n": 1} {
		if got := Count(text); got != want {
			t.Errorf("%q has %d lines", text, got)
		}
	}
}

func TestATextThatReplacesAnotherIsComparedWithIt(t *testing.T) {
	const twelve = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n"
	for _, tt := range []struct{ name, before, after, want string }{
		{"the same", "a\n", "a\n", "+0 -0 "},
		{"one line", "a\nb\nc\n", "a\nB\nc\n", "+1 -1 @@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"two places", twelve, "0\n" + strings.TrimSuffix(twelve, "12\n"), "+1 -1 @@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -9,4 +10,3 @@\n 9\n 10\n 11\n-12\n"},
		{"the end of the last line", "a\nb", "a\nb\n", "+1 -1 @@ -1,2 +1,2 @@\n a\n-b\n+b\n"},
		{"from nothing", "", "a\n", "+1 -0 @@ -1,0 +1,1 @@\n+a\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := Compared("f", tt.before, tt.after)
			if got := fmt.Sprintf("+%d -%d %s", f.Added, f.Removed, f.Diff); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestALineThatIsChangedAgainCountsOnce(t *testing.T) {
	edit := func(before, after string) snapshot.ChangedFile { return Compared("f", before, after) }
	for _, tt := range []struct {
		name, want string
		edits      []snapshot.ChangedFile
	}{
		{"changed again", "f +2 -1", []snapshot.ChangedFile{edit("a\nb\nc\n", "a\n2\n2b\nc\n"), edit("a\n2\n2b\nc\n", "a\n2\n2c\nc\n")}},
		{"what was added is removed", "f +0 -1", []snapshot.ChangedFile{edit("a\nb\nc\n", "a\nB\nc\n"), edit("a\nB\nc\n", "a\nc\n")}},
		{"a line below", "f +2 -2", []snapshot.ChangedFile{edit("a\nb\nc\nd\n", "a\nB\nc\nd\n"), edit("a\nB\nc\nd\n", "a\nB\nc\nD\n")}},
		{"a line above", "f +3 -2", []snapshot.ChangedFile{edit("a\nb\n", "a\nB\n"), edit("a\nB\n", "0\nA\nB\n")}},
		{"a new file", "f +3 -0", []snapshot.ChangedFile{Whole("f", "x\ny\n", true), edit("x\ny\n", "x\nz\nlast\n")}},
		{"a new file that is removed", "", []snapshot.ChangedFile{Whole("f", "x\ny\n", true), Whole("f", "x\ny\n", false)}},
		{"a new file that is written anew", "f +1 -0", []snapshot.ChangedFile{Whole("f", "x\ny\n", true), Whole("f", "z\n", true)}},
		{"by how much is not known", "f +3 -2", []snapshot.ChangedFile{{Path: "f", Added: 2, Removed: 1}, edit("a\n", "b\n")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b Builder
			for i, f := range tt.edits {
				b.Take(&Event{Results: []Result{{Call: fmt.Sprint(i), Files: []snapshot.ChangedFile{f}}}}, Edits)
				kept, err := json.Marshal(b.Changed()) // as a deck does that is started again
				if err != nil {
					t.Fatal(err)
				}
				var c snapshot.Changed
				if err := json.Unmarshal(kept, &c); err != nil {
					t.Fatal(err)
				}
				b.Resume(c)
			}
			got := ""
			for _, f := range b.Changed().Files {
				got += fmt.Sprintf("%s +%d -%d", f.Path, f.Added, f.Removed)
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
