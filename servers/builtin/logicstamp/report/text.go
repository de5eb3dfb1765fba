package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// BaselineName is a baseline in words, without its age: "main (b6d03df)", "claude's snapshot".
func BaselineName(r *compare.Result) string {
	i := r.BaselineInfo
	switch {
	case i == nil:
		return strings.TrimPrefix(r.Baseline, "git:")
	case i.Commit != "":
		return fmt.Sprintf("%s (%.7s)", i.Ref, i.Commit)
	case i.SnapshotID != "" && i.MadeBy != "":
		return clients.Name(i.MadeBy) + "'s snapshot"
	case i.SnapshotID != "":
		return "your snapshot"
	}
	return i.Path
}

// Signed is a number with its sign; zero has none.
func Signed(n int) string {
	if n < 0 {
		return fmt.Sprintf("−%d", -n)
	}
	if n == 0 {
		return "0"
	}
	return fmt.Sprintf("+%d", n)
}

// Totals are the counts of folders and contracts with their signs.
func Totals(r *compare.Result) (folders, contracts string) {
	s := r.Summary
	folders = fmt.Sprintf("+%d −%d ~%d =%d", s.AddedFolders, s.RemovedFolders, s.ChangedFolders, s.UnchangedFolders)
	c := s.Contracts
	contracts = fmt.Sprintf("+%d −%d ~%d →%d", c.Added+c.Revealed, c.Removed+c.Hidden, c.Changed, c.Moved)
	return folders, contracts
}

// Badges are the words beside the status that keep a pass from being taken for
// more than it is.
func Badges(r *compare.Result) []string {
	var out []string
	if r.Freshness != nil && r.Freshness.State == "stale" {
		out = append(out, "stale")
	}
	if r.Coverage != nil && len(r.Coverage.Uncovered) > 0 {
		out = append(out, fmt.Sprintf("%d not covered", len(r.Coverage.Uncovered)))
	}
	if n := len(r.Signatures); n > 0 {
		out = append(out, humanize.Count(n, "signature")+" changed")
	}
	return out
}

// headline says in a sentence what changed since when, what breaks first.
func headline(r *compare.Result) (what string, notes []string) {
	notes = Badges(r)
	switch {
	case r.Status == compare.Failed:
		return "not compared with", nil
	case r.Status == compare.Pass && len(notes) > 0:
		return "no drift seen since", notes
	case r.Status == compare.Pass:
		return "no drift since", nil
	}
	s := &r.Summary
	if n := s.Breaking.Warnings; n > 0 {
		notes = append([]string{fmt.Sprintf("%d may break", n)}, notes...)
	}
	if n := s.Breaking.Errors; n > 0 {
		notes = append([]string{fmt.Sprintf("%d breaking", n)}, notes...)
	}
	c := &s.Contracts
	for _, of := range []struct {
		n   int
		did string
	}{
		{c.Changed, "changed"}, {c.Added + c.Revealed, "added"}, {c.Removed + c.Hidden, "removed"}, {c.Moved, "moved"},
	} {
		switch {
		case of.n > 0 && what == "":
			what = humanize.Count(of.n, "contract") + " " + of.did
		case of.n > 0:
			what += fmt.Sprintf(", %d %s", of.n, of.did)
		}
	}
	if what == "" { // what they depend on did
		what = humanize.Count(s.ChangedFolders+s.AddedFolders+s.RemovedFolders, "folder") + " changed"
	}
	return what + " since", notes
}

// Plain writes a comparison as text. Equal comparisons give equal text: no
// times are in it.
func Plain(w io.Writer, r *compare.Result) error { return write(w, r, false) }

// Markdown writes a comparison with one collapsible block per folder.
func Markdown(w io.Writer, r *compare.Result) error { return write(w, r, true) }

// text is a report on its way, plain or Markdown.
type text struct {
	strings.Builder
	markdown bool
}

// line adds a line that says the one or the other.
func (t *text) line(plain, markdown string) {
	if t.markdown {
		t.WriteString(markdown + "\n")
	} else {
		t.WriteString(strings.TrimRight(Clean(plain), " ") + "\n")
	}
}

func (t *text) gap() { t.WriteString("\n") }

func (t *text) heading(title string) {
	t.gap()
	t.line(strings.ToLower(title), "### "+title+"\n")
}

// item adds an entry of a list: a sign, a name, and what is said of it.
func (t *text) item(sign Sign, name, plain, markdown string) {
	t.line(fmt.Sprintf("  %c %s%s", sign, name, plain), fmt.Sprintf("- %c %s%s", sign, code(name), markdown))
}

func (t *text) message(sign Sign, place, message string) {
	t.item(sign, place, ": "+message, ": "+escape(message))
}

func write(w io.Writer, r *compare.Result, markdown bool) error {
	t := &text{markdown: markdown}
	what, notes := headline(r)
	more := strings.Join(notes, ", ")
	if more != "" {
		more = ": " + more
	}
	t.line(what+" "+BaselineName(r)+more, "## LogicStamp: "+what+" "+code(BaselineName(r))+more)
	if r.Status == compare.Failed {
		t.line(fmt.Sprintf("%s: %s", r.ErrorCode, r.Error), fmt.Sprintf("\n**%s**: %s", r.ErrorCode, escape(r.Error)))
	} else {
		t.totals(r)
		ordered := ByWeight(r.ContractChanges)
		t.breaking(ordered, r.Summary.Breaking)
		t.folders(r)
		t.contracts(ordered)
		t.rest(r)
	}
	_, err := io.WriteString(w, t.String())
	return err
}

func (t *text) totals(r *compare.Result) {
	folders, contracts := Totals(r)
	s := r.Summary
	gpt, claude := Signed(s.TokenDelta.GPT4oMini), Signed(s.TokenDelta.Claude)
	t.line(fmt.Sprintf("tokens %s gpt, %s claude", gpt, claude), "\n| folders | contracts | breaking | warnings | tokens (gpt / claude) |\n|---|---|---|---|---|\n"+
		fmt.Sprintf("| %s | %s | %d | %d | %s / %s |", folders, contracts, s.Breaking.Errors, s.Breaking.Warnings, gpt, claude))
}

func (t *text) breaking(changes []compare.ContractChange, count compare.BreakingCount) {
	each := func(c compare.ContractChange, severity compare.Severity, sign Sign) {
		for _, x := range c.Breaking {
			if x.Severity == severity {
				t.message(sign, Place(c.EntryID, x), x.Message)
			}
		}
	}
	if count.Errors > 0 {
		t.heading("Breaking")
		for _, c := range changes {
			each(c, compare.Error, Breaking)
			if Errors(c) > 0 {
				t.importers(c)
			}
		}
	}
	if count.Warnings > 0 {
		t.heading("May break")
		for _, c := range changes {
			each(c, compare.Caution, Warning)
			if len(c.Breaking) > 0 && Errors(c) == 0 { // else they are named above
				t.importers(c)
			}
		}
	}
}

// importers are the first of those who import a component, and how many more
// there are.
func (t *text) importers(c compare.ContractChange) {
	const most = 12
	list := c.Importers[:min(len(c.Importers), most)]
	for _, i := range list {
		t.line("    imported by "+importerText(i), "  - imported by "+escape(importerText(i)))
	}
	if more := max(len(c.Importers), c.ImportersTotal) - len(list); more > 0 {
		t.line(fmt.Sprintf("    imported by %d more", more), fmt.Sprintf("  - imported by %d more", more))
	}
}

func (t *text) folders(r *compare.Result) {
	for _, f := range r.FolderDiffs {
		t.gap()
		t.line(fmt.Sprintf("%c %s", signOfFolder(f), f.Path),
			fmt.Sprintf("<details><summary>%c %s (%d)</summary>\n", signOfFolder(f), escape(f.Path), len(f.Changes)))
		for _, c := range f.Changes {
			t.item(signOf(c), c.EntryID, "  "+Signed(c.TokenDelta)+Cause(c, r), " "+Signed(c.TokenDelta)+escape(Cause(c, r)))
		}
		if t.markdown {
			t.WriteString("\n</details>\n")
		}
	}
}

func (t *text) contracts(changes []compare.ContractChange) {
	if len(changes) > 0 {
		t.heading("Contracts")
	}
	for _, c := range changes {
		t.item(SignOfContract(c), c.EntryID, contractNote(c), escape(contractNote(c)))
		for _, f := range Fields(c) {
			for _, l := range f.Lines {
				t.line("    "+f.Name+"  "+l.String(), "  - "+f.Name+": "+code(l.String()))
			}
		}
	}
}

// rest is what no contract shows, and the warnings.
func (t *text) rest(r *compare.Result) {
	if len(r.Signatures) > 0 {
		t.heading("Signatures not recorded in contracts")
	}
	for _, x := range r.Signatures {
		t.item(Changed, fmt.Sprintf("%s:%d", x.EntryID, x.Line), "  "+x.Before+" → "+x.After, ": "+code(x.Before)+" → "+code(x.After))
	}
	if n := r.Summary.ContentOnly; n > 0 {
		t.gap()
		t.line(fmt.Sprintf("content only (%d)", n), humanize.Count(n, "file")+" changed without changing a contract.")
		for _, p := range r.ContentOnly {
			if !t.markdown {
				t.item(Same, p, "", "")
			}
		}
	}
	if r.Coverage != nil && len(r.Coverage.Uncovered) > 0 {
		t.gap()
		t.line(fmt.Sprintf("not covered (%d)", len(r.Coverage.Uncovered)), "### Not covered\n")
		for _, p := range r.Coverage.Uncovered {
			t.item(Unseen, p, "", "")
		}
	}
	for i, x := range r.Warnings {
		if i == 0 && !t.markdown {
			t.heading("Warnings")
		}
		t.line(fmt.Sprintf("  %c %s: %s", Warning, x.Code, x.Message), fmt.Sprintf("\n> %c %s: %s", Warning, x.Code, escape(x.Message)))
	}
}

// Place is where a change is: its file, and its line in the present source.
func Place(entry string, b compare.Breaking) string {
	if b.Line > 0 {
		return fmt.Sprintf("%s:%d", entry, b.Line)
	}
	return entry
}

// importerText is one who imports what breaks: "src/App.tsx:3 (a, b)".
func importerText(i compare.Importer) string {
	out := fmt.Sprintf("%s:%d", i.EntryID, i.Line)
	if len(i.Lost) > 0 {
		out += " (" + strings.Join(i.Lost, ", ") + ")"
	}
	if i.PassesOn {
		out += " exports it on"
	}
	return out
}

// Cause names the dependencies that changed a root, behind two spaces.
func Cause(c compare.ComponentChange, r *compare.Result) string {
	if c.Details == nil {
		return ""
	}
	if len(c.Details.ChangedDependencies) > 0 {
		var names []string
		for _, d := range c.Details.ChangedDependencies {
			names = append(names, d.EntryID)
		}
		return "  through " + strings.Join(names, ", ")
	}
	if c.Details.Reason != "" {
		return "  " + Reason(c.Details, changeOf(r, c.EntryID), r.Depth())
	}
	if c.Type == compare.HashChanged && len(c.Details.ModifiedFields) > 0 {
		return "  " + strings.Join(c.Details.ModifiedFields, ", ")
	}
	return ""
}

// changeOf finds a contract's change; the zero value when it did not change.
func changeOf(r *compare.Result, id string) compare.ContractChange {
	for _, c := range r.ContractChanges {
		if c.EntryID == id {
			return c
		}
	}
	return compare.ContractChange{}
}

func contractNote(c compare.ContractChange) string {
	if c.Details != nil && c.Details.MovedTo != "" {
		return "  to " + c.Details.MovedTo
	}
	switch c.Change {
	case compare.Hidden, compare.Revealed:
		return "  " + string(c.Change)
	default:
		return ""
	}
}

// code is text as Markdown code, whatever it holds.
func code(s string) string {
	s = Clean(s)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

func escape(s string) string {
	return strings.NewReplacer("<", "&lt;", ">", "&gt;", "*", `\*`, "_", `\_`, "`", "\\`", "|", `\|`, "[", `\[`).Replace(Clean(s))
}
