package inbox_test

import (
	"errors"
	"testing"
	"time"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/rules/book/booktest"
	"github.com/mcpdeck/mcpdeck/servers/rules/granted"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	page "github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

// madeUp are grants of no files.
type madeUp struct {
	list  granted.List
	exact func() (tui.SetupDone, error)
}

func (m madeUp) List([]string) granted.List { return m.list }

func (m madeUp) Exact(d *questions.Denied) (tui.SetupPlan, error) {
	if m.exact == nil {
		return tui.SetupPlan{}, errors.New("only plain commands can be allowed exactly")
	}
	return tui.SetupPlan{
		Files: []tui.SetupFile{{
			Path: "~/src/api/.claude/settings.local.json", Does: []string{"allows exactly this command"},
			Lines: []string{"  \"allow\": [", "+   \"Bash(" + d.Subject + ")\"", "  ]"},
		}},
		Remarks: []string{"Nothing judges this text then."},
		Apply:   m.exact,
	}, nil
}

func someGrants() granted.List {
	return granted.List{Entries: []granted.Entry{
		{Agent: "claude", File: "/home/u/.claude/settings.json", Line: 4, Scope: granted.User, Verdict: granted.Allow, Text: "Bash(git log:*)", Says: "commands that begin with git log", Marks: []string{granted.WritesFiles}},
		{Agent: "claude", File: "/home/u/.claude/settings.json", Line: 9, Scope: granted.User, Verdict: granted.Deny, Text: "Bash(rm:*)", Says: "commands that begin with rm"},
		{Agent: "claude", File: "/home/u/src/shop/.claude/settings.json", Line: 3, Scope: granted.Project, Verdict: granted.Allow, Text: "Bash(xargs:*)", Says: "commands that begin with xargs", Marks: []string{granted.RunsAnything, granted.Repository}},
		{Agent: "codex", File: "/home/u/.codex/rules/default.rules", Line: 1, Scope: granted.User, Verdict: granted.Allow, Text: `prefix_rule(pattern=["go", "test"], decision="allow")`, Says: "commands that begin with go test", Marks: []string{granted.Unsandboxed}},
		{Agent: "opencode", File: "/etc/opencode/opencode.json", Line: 12, Scope: granted.Managed, Verdict: granted.Allow, Text: `bash: "ls *": "allow"`, Says: "commands such as ls *", Fixed: "the administrator of this machine manages it"},
	}, Skipped: []granted.Skipped{{Agent: "claude", File: "/home/u/src/api/.claude/settings.local.json", Why: "a link leads out of its folder, or nowhere"}}}
}

func TestTheFramesOfGranted(t *testing.T) {
	for name, size := range map[string]frame.Size{"110x34": {W: 110, H: 34}, "60x40": {W: 60, H: 40}, "40x12": {W: 40, H: 12}} {
		for view, v := range map[string]struct {
			list granted.List
			keys []string
		}{
			"granted":      {someGrants(), []string{"H", "v", "v", "down"}},
			"granted-none": {granted.List{}, []string{"H", "v", "v"}},
		} {
			t.Run(view+" "+name, func(t *testing.T) {
				t.Parallel()
				setup{size: size, page: page.Options{Rules: booktest.New(t, ""), Grants: madeUp{list: v.list}, Home: "/home/u"}}.run(t, func(d *driver) {
					d.Wait(5 * time.Second)
					d.press(v.keys...)
					d.Wait(time.Second)
					d.Golden(view + "-" + name)
				})
			})
		}
	}
}

func TestViewsOfTheHistoryFollowEachOther(t *testing.T) {
	setup{page: page.Options{Rules: booktest.New(t, ""), Grants: madeUp{list: someGrants()}}}.run(t, func(d *driver) {
		d.Wait(5 * time.Second)
		for _, step := range []struct{ key, title string }{{"H", "History 0"}, {"v", "Rules 0"}, {"v", "Granted 4"}, {"v", "Denied 0"}, {"v", "History 0"}} {
			d.press(step.key)
			d.Wait(time.Second)
			d.Has(step.title)
		}
	})
}
