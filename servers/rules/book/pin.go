package book

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/mcpdeck/mcpdeck/servers/rules"
)

var pinForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

// pinOf is what the names of scripts and targets in parts of a command stand for, with a hash of all of it; "" if there
// are none.
func pinOf(project string, parts []rules.Segment) (out rules.Stood) {
	var all []string
	for i := range parts {
		if is := parts[i].Stands(project); is.Hash != "" {
			all = append(all, is.Hash)
			out.Text += is.Text
			out.Also = append(out.Also, is.Also...)
		}
	}
	if out.Hash = strings.Join(all, ""); len(all) > 1 {
		sum := sha256.Sum256([]byte(strings.Join(all, " ")))
		out.Hash = hex.EncodeToString(sum[:16])
	}
	return out
}

// pinned reports whether parts of a command run what they did when the rule was kept. A command that writes such a file
// may change it before it runs.
func (c *Command) pinned(q *Request, parts []rules.Segment) bool {
	if c.Pin == "" {
		return true
	}
	is := pinOf(q.Project, parts)
	return is.Hash == c.Pin && !slices.ContainsFunc(q.Reading.Facts(), func(f rules.Fact) bool {
		return slices.Contains([]rules.Effect{rules.WriteIn, rules.WriteOut, rules.Delete}, f.Effect) &&
			(f.At == "" || rules.Scripts(f.At) || slices.ContainsFunc(is.Also, func(also string) bool { return below(f.At, also) }))
	})
}

// Changed is a rule that would allow what is asked, or a part of it, if that ran what it did when the rule was kept.
type Changed struct {
	Rule *Rule
	// Was and Is are what it ran then and runs now; "" if that is not known.
	Was, Is string
}

// unpinned is the rule that would allow a part if what it runs were as it was; nil if none would.
func unpinned(q *Request, s *rules.Segment, all []*Rule) *Rule {
	for _, r := range all {
		if r.Command.Pin != "" && r.Command.begunBy(q, s) {
			return r
		}
	}
	return nil
}

// since is how what parts of a command run has changed since a rule was kept.
func since(r *Rule, q *Request, parts []rules.Segment) *Changed {
	return &Changed{Rule: r, Is: pinOf(q.Project, parts).Text}
}

// mostSince is how long a difference that is shown may be, and what is compared for it, in bytes.
const mostSince, mostCompared = 8 << 10, 64 << 10

// Diff is how what a command runs has changed since a rule was kept for it; "" if that is not known, or too long to be
// read.
func (c *Changed) Diff() string {
	if c == nil || c.Was == "" || c.Is == "" || len(c.Was)+len(c.Is) > mostCompared {
		return ""
	}
	_, text, _ := strings.Cut(string(diff.Diff("when rule "+c.Rule.ID+" was kept", []byte(c.Was), "now", []byte(c.Is))), "\n")
	if len(text) > mostSince {
		return ""
	}
	return text
}

// says says what may be another, of what the rule was kept for.
func (c *Changed) says(what string) string {
	return "what " + what + " runs may be another than when rule " + c.Rule.ID + " was kept"
}

// pins has a command that is proposed keep what parts of a command stand for, if they run code.
func (c *Command) pins(q *Request, parts []rules.Segment) {
	if slices.Contains(c.May, rules.Code) {
		is := pinOf(q.Project, parts)
		c.Pin, c.stands = is.Hash, is.Text
	}
}

// renews reports whether a rule is another but for its pin, which takes its place.
func (r *Rule) renews(o *Rule) bool {
	return r.Command != nil && o.Command != nil && r.Command.Pin != "" && o.Command.Pin != "" && r.Command.Pin != o.Command.Pin && r.Words() == o.Words()
}
