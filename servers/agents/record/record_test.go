package record

import (
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
		if got := MayWrite(command); got != want {
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
	if f != (snapshot.ChangedFile{Path: "a", Added: 2, Removed: 2}) {
		t.Errorf("%+v", f)
	}
	for text, want := range map[string]int{"": 0, "a": 1, "a\n": 1, "a\nb": 2, "\n": 1} {
		if got := Count(text); got != want {
			t.Errorf("%q has %d lines", text, got)
		}
	}
}
