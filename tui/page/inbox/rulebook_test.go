package inbox_test

import (
	"os"
	"strings"
	"testing"
	"time"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/rules/book/booktest"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	page "github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

const shopRules = `version = 1
[[rule]]
id = "p9"
say = "my own words"
verdict = "deny"
tell = "Ask me before you push by force."
command = { words = ["git", "push"], with = ["--force", "-f", "--force-with-lease", "--mirror"] }
[[rule]]
id = "q1"
verdict = "ask"
project = "~/src/shop"
command = { words = ["make", "release"] }
`

func TestTheFramesOfRules(t *testing.T) {
	for name, size := range map[string]frame.Size{"110x34": {W: 110, H: 34}, "80x24": {W: 80, H: 24}, "40x12": {W: 40, H: 12}} {
		for view, v := range map[string]struct {
			text string
			keys []string
		}{
			"rules":        {shopRules, []string{"H", "v"}},
			"rules-none":   {"", []string{"H", "v"}},
			"rules-broken": {strings.Replace(shopRules, "{ words", "{ word", 1), []string{"H", "v"}},
			"rules-on":     {shopRules, []string{"H", "v", "y"}},
			"rules-reads":  {shopRules, []string{"H", "v", "a"}},
			"rules-forget": {shopRules, []string{"H", "v", "x"}},
		} {
			t.Run(view+" "+name, func(t *testing.T) {
				t.Parallel()
				setup{size: size, page: page.Options{Rules: booktest.New(t, v.text), RulesFor: forClaude()}}.run(t, func(d *driver) {
					d.Wait(5 * time.Second)
					d.press(v.keys...)
					d.Wait(time.Second)
					d.Golden(view + "-" + name)
				})
			})
		}
	}
}

func TestRulesAreTurnedOnAndOffByKeysOfTheScreen(t *testing.T) {
	s := booktest.New(t, shopRules)
	setup{page: page.Options{Rules: s, RulesFor: forClaude()}}.run(t, func(d *driver) {
		d.Wait(5 * time.Second)
		d.press("H", "v", "a")
		d.Wait(5 * time.Second)
		d.press("y")
		d.Wait(time.Second)
		if now := s.Now(); len(now.Listed.Rules) != 3 || now.Enabled {
			t.Fatalf("after a and y: %+v", now)
		}
		d.press("y")
		d.Wait(5 * time.Second)
		if s.Now().Enabled {
			t.Error("one key turns them on")
		}
		d.press("y")
		d.Wait(time.Second)
		if now := s.Now(); !now.Answers() {
			t.Fatalf("they are not on: %+v", now)
		}
		d.press("space")
		d.Wait(time.Second)
		d.Has("paused")
		if err := os.WriteFile(s.Path(), []byte(shopRules), 0o600); err != nil {
			t.Fatal(err)
		}
		d.press("v", "v")
		d.Wait(time.Second)
		d.Has("was changed outside")
		d.press("n")
		d.Wait(time.Second)
		if s.Now().Enabled {
			t.Error("they are not off")
		}
	})
}

func TestWhatARuleAnsweredSaysSo(t *testing.T) {
	setup{}.run(t, func(d *driver) {
		d.Wait(5 * time.Second)
		r := bash("1", "cat a | sort")
		r.Prompt.Door = questions.Shared
		c, err := d.q.OpenAnswered(r, questions.ByRule{ID: "m1", Say: "Allow"}, []questions.Result{{ID: r.Questions[0].ID, SelectedOptions: []string{r.Questions[0].Options[0].Label}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.Delivered(questions.Delivered)
		d.Wait(time.Second)
		d.Has("by rule m1")
		d.Lacks("Needs you")
	})
}
