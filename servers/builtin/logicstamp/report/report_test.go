package report_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/report"
)

func sample() *compare.Result {
	return &compare.Result{
		Baseline: "git:main", Status: compare.Diff, ComparedAt: time.Now(), DurationMs: time.Now().UnixNano() % 1000,
		BaselineInfo: &compare.SideInfo{Kind: "git", Ref: "main", Commit: "b6d03df1a9c0ffee"},
		Coverage:     &compare.Coverage{Uncovered: []string{"src/Cog.tsx"}},
		Summary: compare.Summary{
			ChangedFolders: 1, UnchangedFolders: 3, TokenDelta: compare.TokenDelta{GPT4oMini: -27, Claude: -28},
			Contracts: compare.Contracts{Changed: 2}, Breaking: compare.BreakingCount{Errors: 1}, ContentOnly: 1,
		},
		FolderDiffs: []compare.FolderDiff{{Path: "src", Status: compare.FolderChanged, Changes: []compare.ComponentChange{{
			RootComponent: "Shell", EntryID: "src/Shell.tsx", Type: compare.HashChanged, TokenDelta: -11,
			Details: &compare.Details{ChangedDependencies: []compare.Dependency{{EntryID: "src/Knob.tsx"}}},
		}}}},
		ContractChanges: []compare.ContractChange{
			{EntryID: "src/Aa\x1b[31m`*_<b>.tsx", Change: compare.Changed, Details: &compare.Details{ModifiedFields: []string{"composition.imports"}, AddedImports: []string{"react"}}},
			{
				EntryID: "src/Knob.tsx", Change: compare.Changed, Details: &compare.Details{ModifiedFields: []string{"interface.props"}, RemovedProps: []string{"locked"}},
				Breaking: []compare.Breaking{{Severity: compare.Error, Kind: "prop_removed", Name: "locked", Message: "prop removed: locked"}},
			},
		},
		ContentOnly: []string{"src/Page.tsx"},
		Warnings:    []problem.Warning{{Code: problem.UncoveredChanges, Message: "1 changed file"}},
	}
}

const wantPlain = `2 contracts changed since main (b6d03df): 1 breaking, 1 not covered
tokens −27 gpt, −28 claude

breaking
  ✗ src/Knob.tsx: prop removed: locked

○ src
  ○ src/Shell.tsx  −11  through src/Knob.tsx

contracts
  ~ src/Knob.tsx
    interface.props  − locked
  ~ src/Aa·[31m` + "`" + `*_<b>.tsx
    composition.imports  + react

content only (1)
  = src/Page.tsx

not covered (1)
  ? src/Cog.tsx

warnings
  ! UNCOVERED_CHANGES: 1 changed file
`

func TestPlain(t *testing.T) {
	var b strings.Builder
	if err := report.Plain(&b, sample()); err != nil {
		t.Fatal(err)
	}
	if b.String() != wantPlain {
		t.Errorf("plain:\n%s\nwant:\n%s", b.String(), wantPlain)
	}
}

func TestMarkdownHoldsWhateverNamesThereAre(t *testing.T) {
	var one, two strings.Builder
	for _, b := range []*strings.Builder{&one, &two} {
		if err := report.Markdown(b, sample()); err != nil {
			t.Fatal(err)
		}
	}
	text := one.String()
	if text != two.String() {
		t.Error("equal results give different Markdown")
	}
	for _, want := range []string{"## LogicStamp: 2 contracts changed since `main (b6d03df)`: 1 breaking, 1 not covered", "<details><summary>○ src (1)</summary>", "``src/Aa·[31m`*_<b>.tsx``", "- ✗ `src/Knob.tsx`: prop removed: locked"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	if strings.Contains(text, "\x1b") {
		t.Error("an escape sequence came through")
	}
}

// TestWhatMayBreakIsNamed holds that a count of warnings is no riddle.
func TestWhatMayBreakIsNamed(t *testing.T) {
	r := sample()
	r.Summary.Breaking.Warnings = 1
	r.ContractChanges[1].Breaking = append(r.ContractChanges[1].Breaking,
		compare.Breaking{Severity: compare.Caution, Kind: "member_changed", Name: "Pair.b", Message: "member changed: Pair.b", Line: 2})
	var plain, markdown strings.Builder
	if err := errors.Join(report.Plain(&plain, r), report.Markdown(&markdown, r)); err != nil {
		t.Fatal(err)
	}
	if want := "\nmay break\n  ! src/Knob.tsx:2: member changed: Pair.b\n"; !strings.Contains(plain.String(), want) {
		t.Errorf("%q is missing:\n%s", want, plain.String())
	}
	if want := "\n### May break\n\n- ! `src/Knob.tsx:2`: member changed: Pair.b\n"; !strings.Contains(markdown.String(), want) {
		t.Errorf("%q is missing:\n%s", want, markdown.String())
	}
}

// Who imports what may break is named as with what breaks.
func TestImportersOfWhatMayBreakAreNamed(t *testing.T) {
	r := sample()
	r.Summary.Breaking.Warnings = 1
	r.ContractChanges = append(r.ContractChanges, compare.ContractChange{
		EntryID: "src/Pair.ts", Name: "Pair", Change: compare.Changed, Importers: []compare.Importer{{EntryID: "src/Use.tsx", Line: 3, Lost: []string{"Pair"}}},
		Breaking: []compare.Breaking{{Severity: compare.Caution, Kind: "member_changed", Name: "Pair.b", Message: "member changed: Pair.b", Line: 2}},
	})
	var plain strings.Builder
	if err := report.Plain(&plain, r); err != nil {
		t.Fatal(err)
	}
	_, may, _ := strings.Cut(plain.String(), "\nmay break\n")
	if !strings.Contains(may, "imported by src/Use.tsx:3") {
		t.Errorf("no importer:\n%s", plain.String())
	}
}

func TestAFailureIsNoPass(t *testing.T) {
	r := &compare.Result{Status: compare.Failed, Baseline: "disk", ErrorCode: problem.NoSnapshot, Error: "No snapshot found"}
	var plain, markdown strings.Builder
	_ = report.Plain(&plain, r)
	_ = report.Markdown(&markdown, r)
	if plain.String() != "not compared with disk\nNO_SNAPSHOT: No snapshot found\n" || strings.Contains(markdown.String(), "folders") {
		t.Errorf("%s\n%s", plain.String(), markdown.String())
	}
}

func TestTheFirstLineSaysWhatChangedSinceWhen(t *testing.T) {
	snapshot := &compare.SideInfo{SnapshotID: "snap_1", MadeBy: "claude-code"}
	for want, r := range map[string]compare.Result{
		"no drift since your snapshot":                         {Status: compare.Pass, BaselineInfo: &compare.SideInfo{SnapshotID: "snap_1"}},
		"no drift seen since claude's snapshot: 1 not covered": {Status: compare.Pass, BaselineInfo: snapshot, Coverage: &compare.Coverage{Uncovered: []string{"a"}}},
		"1 contract changed, 3 added, 1 moved since HEAD: 2 may break": {Status: compare.Diff, Baseline: "git:HEAD", Summary: compare.Summary{
			Contracts: compare.Contracts{Changed: 1, Added: 2, Revealed: 1, Moved: 1}, Breaking: compare.BreakingCount{Warnings: 2},
		}},
		"2 folders changed since claude's snapshot": {Status: compare.Diff, BaselineInfo: snapshot, Summary: compare.Summary{ChangedFolders: 2}},
	} {
		var b strings.Builder
		if err := report.Plain(&b, &r); err != nil {
			t.Fatal(err)
		}
		if got, _, _ := strings.Cut(b.String(), "\n"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestFieldsAreInReadingOrder(t *testing.T) {
	var names []string
	for _, f := range report.Fields(compare.ContractChange{Details: &compare.Details{
		KindBefore: "a", KindAfter: "b", AddedHooks: []string{"useA"}, RemovedImports: []string{"x"}, AddedProps: []string{"p"},
		ChangedState: []compare.TypeChange{{Name: "s", Before: "s: a", After: "s: b"}}, ExportsBefore: []byte(`"named"`), StyleAfter: []byte(`{}`),
	}}) {
		names = append(names, f.Name+" "+f.Lines[0].String())
	}
	if got, want := strings.Join(names, "\n"), "props + p\nstate ~ s: a → s: b\nexports − \"named\"\nhooks + useA\nimports − x\nkind ~ a → b\nstyle + {}"; got != want {
		t.Errorf("fields:\n%s\nwant\n%s", got, want)
	}
}
