package rules

import (
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/rules/book"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// holdToHistory says what the rules would answer of the prompts of some days, and fails if they would allow what the
// user denied.
func holdToHistory(c *cobra.Command, s *book.Store, p config.Paths, days int) error {
	if days < 1 || days > 30 {
		return exit.Usagef("--days is from 1 to 30")
	}
	home, err := config.Home()
	if err != nil {
		return err
	}
	now, may := s.Now(), agents.Ruled()
	kept := ask.Past{Path: p.Past, On: func() bool { return now.Enabled }}
	var asked, answered, unjudged int
	var against [][]string
	answers := map[string]int{}
	since := time.Now().AddDate(0, 0, -days)
	for _, r := range kept.Or(ask.ReadHistory(p.History)) {
		end := r.End()
		if r.Ended.Before(since) || r.Refused != nil || end != ask.EndAllowed && end != ask.EndDenied && end != ask.EndElsewhere {
			continue
		}
		q, is := now.Asked(&r.Request, home)
		switch d := now.Decide(q); {
		case !is:
		case book.Cut(r.Request.Prompt):
			unjudged++
		case d.Verdict == book.Deny, d.Verdict == book.Allow && may.Has(q.Agent, q.Kind()):
			answered++
			if answers[d.Rule.ID]++; d.Verdict == book.Allow && end == ask.EndDenied && r.Rule == nil {
				against = append(against, []string{d.Rule.ID, "", "would allow what you denied: " + sanitize.Line(q.Text())})
			}
			fallthrough
		default:
			asked++
		}
	}
	var rows [][]string
	for i := range now.Listed.Rules {
		r := &now.Listed.Rules[i]
		rows = append(rows, []string{r.ID, strconv.Itoa(answers[r.ID]), sanitize.Line(r.Words())})
	}
	c.Printf("Of %s in %s your rules would answer %d.", humanize.Count(asked, "prompt"), humanize.Count(days, "day"), answered)
	if unjudged > 0 {
		c.Printf(" Not kept whole and so not judged: %d.", unjudged)
	}
	c.Println()
	if !now.Answers() {
		c.Println(now.Says())
	}
	if err := cli.PrintTable(c, slices.Concat(rows, against), nil); err != nil {
		return err
	}
	if len(against) > 0 {
		return exit.Failed
	}
	return nil
}
