package logicstamp_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stampcli"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stamptest"
)

// expected is what a comparison after an edit must say.
type expected struct {
	status compare.Status
	// changes are "entryId type reason", contracts "entryId change field,field".
	changes, contracts []string
	contentOnly        []string
	uncovered          []string
	breaking           []string
	exports            []string
}

func describeResult(r *compare.Result) expected {
	out := expected{status: r.Status, contentOnly: r.ContentOnly, uncovered: r.Coverage.Uncovered}
	for _, f := range r.FolderDiffs {
		for _, c := range f.Changes {
			line := c.EntryID + " " + string(c.Type)
			if c.Details != nil && c.Details.Reason != "" {
				line += " " + c.Details.Reason
				if to := c.Details.MovedTo + c.Details.MovedFrom; to != "" {
					line += " " + to
				}
			}
			out.changes = append(out.changes, line)
		}
	}
	for _, c := range r.ContractChanges {
		line := c.EntryID + " " + string(c.Change)
		if c.Details != nil && len(c.Details.ModifiedFields) > 0 {
			line += " " + strings.Join(c.Details.ModifiedFields, ",")
			out.exports = append(out.exports, c.Details.ModifiedExports...)
		}
		out.contracts = append(out.contracts, line)
		for _, b := range c.Breaking {
			out.breaking = append(out.breaking, b.Kind+" "+b.Name)
		}
	}
	slices.Sort(out.changes)
	return out
}

type edit struct {
	name string
	area string
	do   func(t *testing.T, dir string)
	want expected
}

func replace(name, old, text string) func(*testing.T, string) {
	return func(t *testing.T, dir string) { t.Helper(); stamptest.Replace(t, dir, name, old, text) }
}

func write(name, text string) func(*testing.T, string) {
	return func(t *testing.T, dir string) { t.Helper(); stamptest.Write(t, dir, map[string]string{name: text}) }
}

func remove(name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func both(edits ...func(*testing.T, string)) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		for _, e := range edits {
			e(t, dir)
		}
	}
}

const knobProps = "interface KnobProps { size: number; locked?: boolean; tone?: 'calm' | 'loud' }"

// contentEdits change texts whose contracts stay.
func contentEdits() []edit {
	return []edit{
		{"comment", "shell", replace("src/Shell.tsx", "export function Shell", "// the outermost part\nexport function Shell"), expected{status: compare.Pass, contentOnly: []string{"src/Shell.tsx"}}},
		{"formatting", "shell", replace("src/Shell.tsx", "return <section", "return    <section"), expected{status: compare.Pass, contentOnly: []string{"src/Shell.tsx"}}},
		{"function body", "format", replace("src/util/format.ts", "n.toFixed(2)", "n.toFixed(3)"), expected{status: compare.Pass, contentOnly: []string{"src/util/format.ts"}}},
		{"line ends alone", "shell", func(t *testing.T, dir string) {
			t.Helper()
			data, err := os.ReadFile(filepath.Join(dir, "src/Shell.tsx"))
			if err != nil {
				t.Fatal(err)
			}
			stamptest.Write(t, dir, map[string]string{"src/Shell.tsx": strings.ReplaceAll(string(data), "\n", "\r\n")})
		}, expected{status: compare.Pass}},
		{"parameter type of a plain function", "format", replace("src/util/format.ts", "s: string, n: number", "s: string, n: bigint"), expected{status: compare.Pass, contentOnly: []string{"src/util/format.ts"}}},
		{"syntax error", "format", replace("src/util/format.ts", "return n.toFixed(2); }", "return n.toFixed(2; }"), expected{status: compare.Pass, contentOnly: []string{"src/util/format.ts"}}},
		{"component deeper than the depth", "shell", replace("src/parts/Cog.tsx", "teeth: number }", "teeth: number; worn?: boolean }"), expected{status: compare.Pass, uncovered: []string{"src/parts/Cog.tsx"}}},
		{"component in a cycle", "loop", replace("src/loop/Ping.tsx", "n: number", "n: number; m?: string"), expected{status: compare.Pass, uncovered: []string{"src/loop/Ping.tsx"}}},
	}
}

// contractEdits change one contract.
func contractEdits() []edit {
	root := "src/Shell.tsx "
	dep := []string{root + "hash_changed"}
	return []edit{
		{"import added", "shell", replace("src/Shell.tsx", "import { useClock", "import { money } from './util/format';\nimport { useClock"), expected{
			status:  compare.Diff,
			changes: []string{root + "uif_contract_changed"}, contracts: []string{root + "changed composition.imports"},
		}},
		{"export removed from one of two functions", "format", replace("src/util/format.ts", "export function pad", "function pad"), expected{
			status: compare.Diff, changes: []string{"src/util/format.ts props_signature_changed"},
			contracts: []string{"src/util/format.ts changed exports"}, exports: []string{"named"}, breaking: []string{"export_removed pad"},
		}},
		{"named to default export", "shell", replace("src/Shell.tsx", "export function Shell", "export default function Shell"), expected{
			status: compare.Diff, changes: []string{root + "props_signature_changed"},
			contracts: []string{root + "changed exports"}, exports: []string{"default", "named"}, breaking: []string{"export_removed Shell"},
		}},
		{"'use client' added", "shell", replace("src/Shell.tsx", "import React", "'use client';\nimport React"), expected{
			status: compare.Diff, changes: []string{root + "uif_contract_changed"}, contracts: []string{root + "changed nextjs"},
		}},
		{"prop added in a dependency", "shell", replace("src/parts/Knob.tsx", "size: number;", "size: number; hint?: string;"), expected{
			status: compare.Diff, changes: dep, contracts: []string{"src/parts/Knob.tsx changed interface.props"},
		}},
		{"prop removed in a dependency", "shell", replace("src/parts/Knob.tsx", knobProps, "interface KnobProps { size: number; tone?: 'calm' | 'loud' }"), expected{
			status: compare.Diff, changes: dep, contracts: []string{"src/parts/Knob.tsx changed interface.props"}, breaking: []string{"prop_removed locked"},
		}},
		{"prop retyped in a dependency", "shell", replace("src/parts/Knob.tsx", "size: number;", "size: string;"), expected{
			status: compare.Diff, changes: dep, contracts: []string{"src/parts/Knob.tsx changed interface.props"}, breaking: []string{"prop_type size"},
		}},
		{"prop made required in a dependency", "shell", replace("src/parts/Knob.tsx", "locked?: boolean", "locked: boolean"), expected{
			status: compare.Diff, changes: dep, contracts: []string{"src/parts/Knob.tsx changed interface.props"}, breaking: []string{"prop_required locked"},
		}},
		{"function renamed", "format", replace("src/util/format.ts", "function pad", "function fill"), expected{
			status: compare.Diff, changes: []string{"src/util/format.ts uif_contract_changed"},
			contracts: []string{"src/util/format.ts changed composition.functions,exports"}, exports: []string{"fill", "pad"},
			breaking: []string{"export_removed pad"},
		}},
		{"state added", "shell", both(
			replace("src/Shell.tsx", "import React from 'react'", "import React, { useState } from 'react'"),
			replace("src/Shell.tsx", "const now", "const [open, setOpen] = useState(false);\n  const now"),
		), expected{
			status: compare.Diff, changes: []string{root + "uif_contract_changed"},
			contracts: []string{root + "changed composition.hooks,interface.state"},
		}},
	}
}

// treeEdits change what is a root, or which files there are.
func treeEdits() []edit {
	return []edit{
		{"new file renders a former root", "shell", write("src/App.tsx", "import React from 'react';\nimport { Shell } from './Shell';\nexport function App() { return <Shell title=\"x\" onClose={() => {}} />; }\n"), expected{
			status:    compare.Diff,
			changes:   []string{"src/App.tsx bundle_added new", "src/Shell.tsx bundle_removed became_dependency"},
			contracts: []string{"src/App.tsx added", "src/parts/Knob.tsx hidden"},
		}},
		{"root no longer renders a component", "shell", both(
			replace("src/Shell.tsx", "<Tile label={String(now)} />", "{now}"),
			replace("src/Shell.tsx", "import { Tile } from './parts/Tile';\n", ""),
		), expected{
			status: compare.Diff, changes: []string{"src/Shell.tsx uif_contract_changed", "src/parts/Tile.tsx bundle_added became_root"},
			contracts: []string{"src/Shell.tsx changed composition.components,composition.imports", "src/parts/Cog.tsx revealed"},
		}},
		{"file moved", "format", func(t *testing.T, dir string) {
			t.Helper()
			if err := os.MkdirAll(filepath.Join(dir, "src/lib"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(dir, "src/util/format.ts"), filepath.Join(dir, "src/lib/format.ts")); err != nil {
				t.Fatal(err)
			}
		}, expected{
			status:    compare.Diff,
			changes:   []string{"src/lib/format.ts bundle_added moved src/util/format.ts", "src/util/format.ts bundle_removed moved src/lib/format.ts"},
			contracts: []string{"src/util/format.ts moved"},
		}},
		{"file deleted", "clock", remove("src/util/clock.ts"), expected{
			status: compare.Diff, changes: []string{"src/util/clock.ts bundle_removed deleted"},
			contracts: []string{"src/util/clock.ts removed"}, breaking: []string{"contract_removed clock"},
		}},
		{"x.tsx beside x.ts", "format", write("src/util/format.tsx", "import React from 'react';\nexport function Money({ n }: { n: number }) { return <b>{n}</b>; }\n"), expected{
			status: compare.Diff, changes: []string{"src/util/format.tsx bundle_added new"}, contracts: []string{"src/util/format.tsx added"},
		}},
	}
}

// areas are the parts of the project that no edit of another part reaches.
func areas() map[string][]string {
	return map[string][]string{
		"shell": {"src/Shell.tsx", "src/App.tsx", "src/parts/"}, "format": {"src/util/format", "src/lib/"},
		"clock": {"src/util/clock.ts"}, "loop": {"src/loop/"},
	}
}

// TestEveryKindOfEdit makes edits of different areas together: the command takes
// more than a second each time. Two projects take turns.
func TestEveryKindOfEdit(t *testing.T) {
	t.Parallel()
	cli := stamptest.CLI(t, stampcli.Wanted)
	var rounds [][]edit
	next := map[string]int{}
	for _, e := range slices.Concat(contentEdits(), contractEdits(), treeEdits()) {
		for next[e.area] >= len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[next[e.area]] = append(rounds[next[e.area]], e)
		next[e.area]++
	}
	const lanes = 2
	for lane := range lanes {
		t.Run(fmt.Sprint("project ", lane), func(t *testing.T) {
			t.Parallel()
			var mine [][]edit
			for i := lane; i < len(rounds); i += lanes {
				mine = append(mine, rounds[i])
			}
			checkRounds(t, cli, mine)
		})
	}
}

// checkRounds makes the edits of each round in a project that is brought back
// after it.
func checkRounds(t *testing.T, cli string, rounds [][]edit) {
	t.Helper()
	project := stamptest.Shop(t)
	git(t, project, "init", "-q", "-b", "main")
	git(t, project, "add", "-A")
	git(t, project, "commit", "-qm", "first")
	s := newService(t, cli, project)
	snap, err := s.Refresh(t.Context(), logicstamp.Call{}, logicstamp.RefreshArgs{})
	if err != nil {
		t.Fatal(err)
	}
	for _, round := range rounds {
		for _, e := range round {
			e.do(t, project)
		}
		r, err := s.Compare(t.Context(), logicstamp.Call{}, logicstamp.CompareArgs{Baseline: "snapshot:" + snap.SnapshotID})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status == compare.Failed {
			t.Fatal(r.Error)
		}
		status := compare.Pass
		for _, e := range round {
			t.Run(e.name, func(t *testing.T) { checkExpected(t, describeWithin(r, areas()[e.area]), e.want) })
			if e.want.status == compare.Diff {
				status = compare.Diff
			}
		}
		if r.Status != status || status == compare.Pass && r.Summary.TokenDelta != (compare.TokenDelta{}) {
			t.Errorf("round of %s: %s with a token change %+v", round[0].name, r.Status, r.Summary.TokenDelta)
		}
		git(t, project, "checkout", "-q", ".")
		git(t, project, "clean", "-fdq")
	}
}

// describeWithin is what a result says of some files, as if there were no
// others.
func describeWithin(r *compare.Result, starts []string) expected {
	inside := func(p string) bool {
		return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(p, start) })
	}
	only := &compare.Result{Status: compare.Pass, Coverage: &compare.Coverage{}}
	for _, f := range r.FolderDiffs {
		f.Changes = slices.DeleteFunc(slices.Clone(f.Changes), func(c compare.ComponentChange) bool { return !inside(c.EntryID) })
		if len(f.Changes) > 0 {
			only.FolderDiffs, only.Status = append(only.FolderDiffs, f), compare.Diff
		}
	}
	for _, c := range r.ContractChanges {
		if inside(c.EntryID) {
			only.ContractChanges = append(only.ContractChanges, c)
		}
	}
	filter := func(list []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(p string) bool { return !inside(p) })
	}
	only.ContentOnly, only.Coverage.Uncovered = filter(r.ContentOnly), filter(r.Coverage.Uncovered)
	return describeResult(only)
}

func checkExpected(t *testing.T, got, want expected) {
	t.Helper()
	if got.status != want.status {
		t.Errorf("status = %s, want %s", got.status, want.status)
	}
	for _, list := range []struct {
		name      string
		got, want []string
	}{
		{"changes", got.changes, want.changes},
		{"contracts", got.contracts, want.contracts},
		{"content only", got.contentOnly, want.contentOnly},
		{"uncovered", got.uncovered, want.uncovered},
		{"breaking", got.breaking, want.breaking},
		{"exports", got.exports, want.exports},
	} {
		if !slices.Equal(list.got, list.want) {
			t.Errorf("%s = %q\nwant %q", list.name, list.got, list.want)
		}
	}
}
