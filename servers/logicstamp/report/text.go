package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp/compare"
)

// BaselineName is a baseline in words: "git:main @b6d03df", "snapshot
// snap_1764033034172".
func BaselineName(r *compare.Result) string {
	i := r.BaselineInfo
	switch {
	case i == nil:
		return r.Baseline
	case i.Commit != "":
		return fmt.Sprintf("git:%s @%s", i.Ref, i.Commit[:min(7, len(i.Commit))])
	case i.SnapshotID != "":
		return "snapshot " + i.SnapshotID
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
		out = append(out, "STALE")
	}
	if r.Coverage != nil && len(r.Coverage.Uncovered) > 0 {
		out = append(out, fmt.Sprintf("NOT COVERED %d", len(r.Coverage.Uncovered)))
	}
	if n := len(r.Signatures); n > 0 {
		out = append(out, fmt.Sprintf("SIGNATURES %d", n))
	}
	return out
}

// Plain writes a comparison as text. Equal comparisons give equal text: no
// times are in it.
func Plain(w io.Writer, r *compare.Result) error {
	var b strings.Builder
	line := func(indent int, format string, args ...any) {
		b.WriteString(strings.Repeat("  ", indent) + strings.TrimRight(Clean(fmt.Sprintf(format, args...)), " ") + "\n")
	}
	badges := append([]string{strings.ToUpper(string(r.Status))}, Badges(r)...)
	line(0, "%s  vs %s", strings.Join(badges, "  "), BaselineName(r))
	if r.Status == compare.Failed {
		line(0, "%s: %s", r.ErrorCode, r.Error)
		_, err := io.WriteString(w, b.String())
		return err
	}
	folders, contracts := Totals(r)
	s := r.Summary
	line(0, "folders %s   contracts %s   breaking %d, warnings %d", folders, contracts, s.Breaking.Errors, s.Breaking.Warnings)
	line(0, "tokens %s gpt, %s claude   content only %d", Signed(s.TokenDelta.GPT4oMini), Signed(s.TokenDelta.Claude), s.ContentOnly)
	ordered := ByWeight(r.ContractChanges)
	if s.Breaking.Errors > 0 {
		heading(&b, "breaking")
		for _, c := range ordered {
			for _, x := range c.Breaking {
				if x.Severity == compare.Error {
					line(1, "%c %s: %s", Breaking, Place(c.EntryID, x), x.Message)
				}
			}
			if Errors(c) > 0 {
				list, more := importers(c)
				for _, i := range list {
					line(2, "imported by %s", ImporterText(i))
				}
				if more > 0 {
					line(2, "imported by %d more", more)
				}
			}
		}
	}
	if s.Breaking.Warnings > 0 {
		heading(&b, "may break")
		eachWarning(ordered, func(place, message string) { line(1, "%c %s: %s", Warning, place, message) })
	}
	for _, f := range r.FolderDiffs {
		b.WriteString("\n")
		line(0, "%c %s", SignOfFolder(f), f.Path)
		for _, c := range f.Changes {
			line(1, "%c %s  %s%s", SignOf(c), c.EntryID, Signed(c.TokenDelta), through(c, r))
		}
	}
	if len(ordered) > 0 {
		heading(&b, "contracts")
	}
	for _, c := range ordered {
		line(1, "%c %s%s", SignOfContract(c), c.EntryID, contractNote(c))
		for _, f := range Fields(c) {
			for _, l := range f.Lines {
				line(2, "%s  %s", f.Name, l)
			}
		}
	}
	if len(r.Signatures) > 0 {
		heading(&b, "signatures that no contract holds")
		for _, x := range r.Signatures {
			line(1, "%c %s:%d  %s → %s", Changed, x.EntryID, x.Line, x.Before, x.After)
		}
	}
	tail(line, "content only", Same, r.ContentOnly, s.ContentOnly)
	if r.Coverage != nil {
		tail(line, "not covered", Unseen, r.Coverage.Uncovered, len(r.Coverage.Uncovered))
	}
	if len(r.Warnings) > 0 {
		heading(&b, "warnings")
		for _, x := range r.Warnings {
			line(1, "%c %s: %s", Warning, x.Code, x.Message)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// eachWarning calls f for what may break.
func eachWarning(changes []compare.ContractChange, f func(place, message string)) {
	for _, c := range changes {
		for _, x := range c.Breaking {
			if x.Severity != compare.Error {
				f(Place(c.EntryID, x), x.Message)
			}
		}
	}
}

func heading(b *strings.Builder, title string) { b.WriteString("\n" + title + "\n") }

func tail(line func(int, string, ...any), title string, sign Sign, list []string, total int) {
	if total == 0 {
		return
	}
	line(0, "")
	line(0, "%s (%d)", title, total)
	for _, p := range list {
		line(1, "%c %s", sign, p)
	}
}

// Place is where a change is: its file, and its line in the present source.
func Place(entry string, b compare.Breaking) string {
	if b.Line > 0 {
		return fmt.Sprintf("%s:%d", entry, b.Line)
	}
	return entry
}

// importers are the first of those who import a component, and how many more
// there are.
func importers(c compare.ContractChange) (list []compare.Importer, more int) {
	const most = 12
	list = c.Importers[:min(len(c.Importers), most)]
	return list, max(len(c.Importers), c.ImportersTotal) - len(list)
}

// ImporterText is one who imports what breaks: "src/App.tsx:3 (a, b)".
func ImporterText(i compare.Importer) string {
	out := fmt.Sprintf("%s:%d", i.EntryID, i.Line)
	if len(i.Lost) > 0 {
		out += " (" + strings.Join(i.Lost, ", ") + ")"
	}
	if i.PassesOn {
		out += " exports it on"
	}
	return out
}

// through names the dependencies that changed a root.
func through(c compare.ComponentChange, r *compare.Result) string {
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
		return "  " + Reason(c.Details, ChangeOf(r, c.EntryID), depthOf(r))
	}
	if c.Type == compare.HashChanged && len(c.Details.ModifiedFields) > 0 {
		return "  " + strings.Join(c.Details.ModifiedFields, ", ")
	}
	return ""
}

// ChangeOf finds a contract's change; the zero value when it did not change.
func ChangeOf(r *compare.Result, id string) compare.ContractChange {
	for _, c := range r.ContractChanges {
		if c.EntryID == id {
			return c
		}
	}
	return compare.ContractChange{}
}

// depthOf is the depth of the current side, 0 when unknown.
func depthOf(r *compare.Result) int {
	if r.CurrentInfo == nil || r.CurrentInfo.Options == nil {
		return 0
	}
	return r.CurrentInfo.Options.Depth
}

func contractNote(c compare.ContractChange) string {
	if c.Details != nil && c.Details.MovedTo != "" {
		return "  to " + c.Details.MovedTo
	}
	switch c.Change {
	case compare.Hidden, compare.Revealed:
		return "  " + string(c.Change)
	}
	return ""
}

// Markdown writes a comparison with one collapsible block per folder.
func Markdown(w io.Writer, r *compare.Result) error {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	badges := append([]string{strings.ToUpper(string(r.Status))}, Badges(r)...)
	line("## LogicStamp: %s", strings.Join(badges, " · "))
	line("")
	line("Compared with %s.", code(BaselineName(r)))
	if r.Status == compare.Failed {
		line("\n**%s**: %s", r.ErrorCode, escape(r.Error))
		_, err := io.WriteString(w, b.String())
		return err
	}
	folders, contracts := Totals(r)
	s := r.Summary
	line("\n| folders | contracts | breaking | warnings | tokens (gpt / claude) |\n|---|---|---|---|---|")
	line("| %s | %s | %d | %d | %s / %s |", folders, contracts, s.Breaking.Errors, s.Breaking.Warnings, Signed(s.TokenDelta.GPT4oMini), Signed(s.TokenDelta.Claude))
	ordered := ByWeight(r.ContractChanges)
	if s.Breaking.Errors > 0 {
		line("\n### Breaking\n")
		for _, c := range ordered {
			for _, x := range c.Breaking {
				if x.Severity == compare.Error {
					line("- %c %s: %s", Breaking, code(Place(c.EntryID, x)), escape(x.Message))
				}
			}
			if Errors(c) > 0 {
				list, more := importers(c)
				for _, i := range list {
					line("  - imported by %s", escape(ImporterText(i)))
				}
				if more > 0 {
					line("  - imported by %d more", more)
				}
			}
		}
	}
	if s.Breaking.Warnings > 0 {
		line("\n### May break\n")
		eachWarning(ordered, func(place, message string) { line("- %c %s: %s", Warning, code(place), escape(message)) })
	}
	for _, f := range r.FolderDiffs {
		line("\n<details><summary>%c %s (%d)</summary>\n", SignOfFolder(f), escape(f.Path), len(f.Changes))
		for _, c := range f.Changes {
			line("- %c %s %s%s", SignOf(c), code(c.EntryID), Signed(c.TokenDelta), escape(through(c, r)))
		}
		line("\n</details>")
	}
	if len(ordered) > 0 {
		line("\n### Contracts\n")
	}
	for _, c := range ordered {
		line("- %c %s%s", SignOfContract(c), code(c.EntryID), escape(contractNote(c)))
		for _, f := range Fields(c) {
			for _, l := range f.Lines {
				line("  - %s: %s", f.Name, code(l.String()))
			}
		}
	}
	if len(r.Signatures) > 0 {
		line("\n### Signatures that no contract holds\n")
		for _, x := range r.Signatures {
			line("- %c %s: %s → %s", Changed, code(fmt.Sprintf("%s:%d", x.EntryID, x.Line)), code(x.Before), code(x.After))
		}
	}
	if s.ContentOnly > 0 {
		line("\n%d files changed without changing a contract.", s.ContentOnly)
	}
	if r.Coverage != nil && len(r.Coverage.Uncovered) > 0 {
		line("\n### Not covered\n")
		for _, p := range r.Coverage.Uncovered {
			line("- %c %s", Unseen, code(p))
		}
	}
	for _, x := range r.Warnings {
		line("\n> %c %s: %s", Warning, x.Code, escape(x.Message))
	}
	_, err := io.WriteString(w, b.String())
	return err
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
