// Package book decides by the user's own rules which commands an agent may run, may not run, or must ask for. The
// rules are in one file; what is in no rule, or not understood, is asked.
package book

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/mcpdeck/mcpdeck/servers/rules"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// Limits of a book.
const (
	MostBytes = 256 << 10
	MostRules = 2000
)

var errTooLarge = errors.New("it has more than " + humanize.Bytes(MostBytes))

// Verdict is what a rule says of what it covers.
type Verdict string

// The verdicts. The first that fits any rule counts, in this order.
const (
	Deny  Verdict = "deny"
	Ask   Verdict = "ask"
	Allow Verdict = "allow"
)

// Book is all rules of the user.
type Book struct {
	Version  int       `toml:"version"`
	Rules    []Rule    `toml:"rule"`
	Programs []Program `toml:"program,omitempty"`
}

// Rule is one rule of the user.
type Rule struct {
	ID      string    `toml:"id"`
	Say     string    `toml:"say,omitempty"` // as the user was shown it
	Verdict Verdict   `toml:"verdict"`
	Agent   []string  `toml:"agent,omitempty"`   // none: all
	Project string    `toml:"project,omitempty"` // a folder, may begin with ~/; "": everywhere
	Until   time.Time `toml:"until,omitempty"`   // zero: until it is forgotten
	Tell    string    `toml:"tell,omitempty"`    // what an agent is told of a denial
	// It is about one of these.
	Command *Command `toml:"command,omitempty"`
	Edit    *Edit    `toml:"edit,omitempty"`
	Fetch   *Fetch   `toml:"fetch,omitempty"`
	MCP     *MCP     `toml:"mcp,omitempty"`

	line int
}

// Line is where the rule is in the file.
func (r *Rule) Line() int { return r.line }

var (
	idForm   = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,15}$`)
	ruleHead = regexp.MustCompile(`(?m)^[ \t]*\[\[[ \t]*rule[ \t]*\]\]`)
	listHead = regexp.MustCompile(`(?m)^[ \t]*\[\[`)
)

// Parse reads a book. What it does not know is an error: a rule is never half understood.
func Parse(text []byte) (*Book, error) {
	if len(text) > MostBytes {
		return nil, errTooLarge
	}
	b := &Book{}
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(b); err != nil {
		return nil, fault(err)
	}
	if b.Version != 1 && (len(b.Rules)+len(b.Programs) > 0 || b.Version != 0) {
		return nil, fmt.Errorf("line 1: version = %d is not known; write version = 1", b.Version)
	}
	if len(b.Rules) > MostRules || len(b.Programs) > MostRules {
		return nil, fmt.Errorf("it has more than %d rules", MostRules)
	}
	for i := range b.Programs {
		if err := b.Programs[i].check(); err != nil {
			return nil, fmt.Errorf("program %q: %w", b.Programs[i].Name, err)
		}
	}
	heads := ruleHead.FindAllIndex(text, -1)
	seen := map[string]bool{}
	for i := range b.Rules {
		r := &b.Rules[i]
		if len(heads) == len(b.Rules) {
			r.line = 1 + bytes.Count(text[:heads[i][0]], []byte("\n"))
		}
		err := r.check()
		if err == nil && seen[r.ID] {
			err = errors.New("another rule has its id")
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: rule %q: %w", r.line, r.ID, err)
		}
		seen[r.ID] = true
	}
	return b, nil
}

// fault is what is wrong with a text, and in which line.
func fault(err error) error {
	if strict := (*toml.StrictMissingError)(nil); errors.As(err, &strict) && len(strict.Errors) > 0 {
		row, _ := strict.Errors[0].Position()
		return fmt.Errorf("line %d: %s is not known", row, strings.Join(strict.Errors[0].Key(), "."))
	}
	if at := (*toml.DecodeError)(nil); errors.As(err, &at) {
		row, _ := at.Position()
		return fmt.Errorf("line %d: %s", row, strings.TrimPrefix(at.Error(), "toml: "))
	}
	return err
}

// check says what is wrong with a rule.
func (r *Rule) check() error {
	known := func(a string) bool { return named(a) != "" }
	switch {
	case !idForm.MatchString(r.ID):
		return errors.New("write an id of small letters, digits and dashes, at most 16")
	case r.Verdict != Deny && r.Verdict != Ask && r.Verdict != Allow:
		return fmt.Errorf("verdict = %q is none of deny, ask and allow", r.Verdict)
	case r.subjects() != 1:
		return errors.New("say what it is about with one of command, edit, fetch and mcp")
	case r.Project != "" && !path.IsAbs(r.Project) && !strings.HasPrefix(r.Project, "~/"):
		return errors.New("write the project as an absolute path, or one that begins with ~/")
	case slices.ContainsFunc(r.Agent, func(a string) bool { return !known(a) }):
		return fmt.Errorf("agent = %q has one that is not known", r.Agent)
	case r.Tell != "" && r.Verdict != Deny:
		return errors.New("only a deny has something to tell")
	case strings.ContainsFunc(r.Say+r.Tell, func(c rune) bool { return c < ' ' }):
		return errors.New("say and tell are one line each")
	case r.Verdict == Allow && len(r.Agent) == 0:
		return errors.New("an allow names the agents that it is for")
	case r.Edit != nil:
		return r.Edit.check(r.Verdict)
	case r.Fetch != nil:
		return r.Fetch.check()
	case r.MCP != nil:
		return r.MCP.check(r.Verdict)
	}
	return r.Command.check(r)
}

// subjects is how many kinds of things it is about.
func (r *Rule) subjects() (n int) {
	for _, has := range []bool{r.Command != nil, r.Edit != nil, r.Fetch != nil, r.MCP != nil} {
		if has {
			n++
		}
	}
	return n
}

// With returns the text of a book with one more rule; all else stays as it is.
func With(text []byte, r Rule) ([]byte, error) {
	one, err := toml.Marshal(Book{Version: 1, Rules: []Rule{r}})
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return one, nil
	}
	one = one[bytes.Index(one, []byte("[[rule]]")):]
	return slices.Concat(bytes.TrimRight(text, "\n"), []byte("\n\n"), one), nil
}

// Without returns the text of a book without a rule; all else stays as it is.
func Without(text []byte, id string) ([]byte, error) {
	b, err := Parse(text)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(b.Rules, func(r Rule) bool { return r.ID == id })
	heads := ruleHead.FindAllIndex(text, -1)
	switch {
	case i < 0:
		return nil, fmt.Errorf("no rule has the id %q", id)
	case len(heads) != len(b.Rules):
		return nil, errors.New("it is written in a way that only its user can edit")
	}
	end := len(text)
	if next := listHead.FindIndex(text[heads[i][1]:]); next != nil {
		end = heads[i][1] + next[0]
	}
	out := slices.Concat(text[:heads[i][0]], text[end:])
	if left, err := Parse(out); err != nil || len(left.Rules) != len(b.Rules)-1 || len(left.Programs) != len(b.Programs) {
		return nil, errors.New("it is written in a way that only its user can edit")
	}
	return out, nil
}

// Words says what a rule does. They are made of the rule, never the other way round.
func (r *Rule) Words() string {
	var s strings.Builder
	s.WriteString(map[Verdict]string{Deny: "Deny ", Ask: "Ask for ", Allow: "Allow "}[r.Verdict])
	switch {
	case r.Edit != nil:
		s.WriteString(r.Edit.words())
	case r.Fetch != nil:
		s.WriteString(r.Fetch.words(r.Verdict))
	case r.MCP != nil:
		s.WriteString(r.MCP.words())
	default:
		s.WriteString(r.Command.words(r.Project))
	}
	if r.Project != "" && (r.Command == nil || len(r.Command.Only) == 0) {
		s.WriteString(" in " + r.Project)
	}
	if len(r.Agent) > 0 {
		var names []string
		for _, a := range r.Agent {
			name := named(a)
			if c, _ := clients.Find(a); c.Allowed != "" && r.Verdict == Allow && r.Command != nil {
				name += " (" + c.Allowed + ")"
			}
			names = append(names, name)
		}
		s.WriteString(" for " + strings.ReplaceAll(listed(names), " or ", " and "))
	}
	if !r.Until.IsZero() {
		s.WriteString(" until " + r.Until.Format(time.DateOnly))
	}
	if r.Command != nil {
		s.WriteString(r.Command.does())
	}
	return s.String()
}

// named is what an agent's program is called; "" if none has the ID.
func named(id string) string {
	if c, ok := clients.Find(id); ok && c.ID == id {
		return c.Title
	}
	return ""
}

func listed(all []string) string {
	if n := len(all); n > 1 {
		return strings.Join(all[:n-1], ", ") + " or " + all[n-1]
	}
	return all[0]
}

// ByHand reports whether the words that the user was shown are not those of the rule.
func (r *Rule) ByHand() bool { return r.Say != "" && r.Say != r.Words() }

// OnlyReads is the rule that allows agents what only reads inside the project.
func OnlyReads(id string, agents ...string) Rule {
	r := Rule{ID: id, Verdict: Allow, Agent: agents, Command: &Command{Only: []rules.Effect{rules.Reads}}}
	r.Say = r.Words()
	return r
}
