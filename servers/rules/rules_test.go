package rules

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// shop is the place of the corpus.
func shop(shell string) Place {
	return Place{Shell: shell, Cwd: "/home/u/shop", Root: "/home/u/shop", Home: "/home/u"}
}

// corpusRow is one row of testdata/commands.jsonl.
type corpusRow struct {
	Command  string   `json:"cmd"`
	Shell    string   `json:"shell"`
	Segments []string `json:"segments"`
	Effects  []Effect `json:"effects"`
	Class    string   `json:"rule_may_allow"`
	Why      string   `json:"why"`
}

func corpus(t testing.TB) (all []corpusRow) {
	t.Helper()
	f, err := os.Open("testdata/commands.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for s.Scan() {
		var r corpusRow
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	if err := s.Err(); err != nil || len(all) < 202 {
		t.Fatalf("%d rows: %v", len(all), err)
	}
	return all
}

func texts(r *Reading) []string {
	all := []string{}
	for _, s := range r.Segments {
		all = append(all, s.Text)
	}
	return all
}

func TestWhatIsWrittenElsewhereIsSeen(t *testing.T) {
	t.Parallel()
	for command, out := range map[string]bool{
		"rsync -a . ../o": true, "rsync -a a b": false, "rsync -a . host:o": false, "scp host:x /etc/x": true, "split a /tmp/x": true,
		"git worktree add ../other": true, "git init /srv/x": true, "git add a": false, "git clone https://x.example/a ../a": true,
	} {
		if got := slices.Contains(Read(command, shop("bash")).Effects(), WriteOut); got != out {
			t.Errorf("%s writes outside: %v", command, got)
		}
	}
}

func TestEveryCommandOfTheCorpusIsReadAsItIs(t *testing.T) {
	t.Parallel()
	for _, row := range corpus(t) {
		t.Run(row.Command, func(t *testing.T) {
			r := Read(row.Command, shop(row.Shell))
			got, want := r.Effects(), slices.Clone(row.Effects)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("effects %v, not %v (%s): %v", got, want, row.Why, r.Facts())
			}
			if c := r.Class(); c != row.Class {
				t.Errorf("class %s, not %s", c, row.Class)
			}
			if got := texts(r); !slices.Equal(got, row.Segments) {
				t.Errorf("segments %q, not %q", got, row.Segments)
			}
		})
	}
}
