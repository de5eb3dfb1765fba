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
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
)

// What a source gives to others and the command's contracts do not hold is
// compared, too: names of exports, "export *", enums, generics. The stand-in
// says "named" of every source, as the command does of one with one export.
func TestExportsThatNoContractNamesAreCompared(t *testing.T) {
	const file = "src/parts/helpers.ts"
	for name, row := range map[string]struct {
		before, after string
		breaking      []string
		says          []string
	}{
		"one of two removed":    {"export const a = 1;\nexport function b(n: number) {}\n", "export const a = 1;\n", []string{"export_removed b"}, []string{"export removed: b"}},
		"renamed":               {"export function b(n: number) {}\n", "export function c(n: number) {}\n", []string{"export_removed b"}, []string{"export renamed: b → c"}},
		"export * removed":      {"export const a = 1;\nexport * from './more';\n", "export const a = 1;\n", []string{"export_removed * from ./more"}, nil},
		"enum member removed":   {"export enum Color { Red, Blue }\n", "export enum Color { Red }\n", []string{"enum_member_removed Color"}, []string{"Color.Blue"}},
		"enum value changed":    {"export enum Color { Red = 1 }\n", "export enum Color { Red = 2 }\n", []string{"member_changed Color"}, nil},
		"generic added to type": {"export type Box<T> = { v: T };\n", "export type Box<T, K> = { v: T };\n", []string{"generic_changed Box"}, []string{"Box<T> → Box<T, K>"}},
		"member of a type":      {"export interface Options { a: string; b: number }\n", "export interface Options { a: string }\n", []string{"member_removed Options"}, []string{"Options.b"}},
		"union member removed":  {"export type Color = 'red' | 'blue' | \"green\";\n", "export type Color = 'red' | 'green';\n", []string{"union_member_removed Color"}, []string{"Color | 'blue'"}},
		"union member added":    {"export type Color = 'red' | 'blue';\n", "export type Color =\n  | 'red'\n  | 'blue'\n  | 'green';\n", nil, nil},
		"union of a member":     {"export interface Options { a: 'x' | 'y' }\n", "export interface Options { a: 'x' }\n", []string{"member_changed Options"}, nil},
		"default renamed":       {"export default function b(n: number) {}\n", "export default function c(n: number) {}\n", nil, nil},
		"only its layout":       {"export function b(n: number) {}\n", "export function b(\n  n: number,\n) {\n}\n", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, standIn{})
			s.Write(file, row.before)
			s.Write("src/parts/use.ts", "import { a, b, Color, Box, Options } from './helpers';\nexport const u = 1;\n")
			id := s.MustRefresh(logicstamp.RefreshArgs{}).SnapshotID
			s.Write(file, row.after)
			for _, service := range []*logicstamp.Service{s.Service, s.Open()} { // from memory and from the disk
				r, err := service.Compare(t.Context(), logicstamp.Call{}, logicstamp.CompareArgs{Baseline: "snapshot:" + id})
				if err != nil {
					t.Fatal(err)
				}
				got := describeResult(r)
				if !slices.Equal(got.breaking, row.breaking) || (r.Status == compare.Diff) != (row.breaking != nil) {
					t.Fatalf("%s, breaking %q, want %q", r.Status, got.breaking, row.breaking)
				}
				if row.breaking == nil {
					continue
				}
				x := r.ContractChanges[0]
				for _, words := range row.says {
					if !strings.Contains(x.Breaking[0].Message, words) {
						t.Errorf("%q does not say %q", x.Breaking[0].Message, words)
					}
				}
				if x.Breaking[0].Line+x.Breaking[0].LineBefore == 0 {
					t.Errorf("without a line: %+v", x.Breaking[0])
				}
				if len(x.Importers) != 1 || x.Importers[0].EntryID != "src/parts/use.ts" || x.Importers[0].Line != 1 {
					t.Errorf("importers = %+v", x.Importers)
				}
			}
		})
	}
}

// Who imports what is gone is found by way of sources that pass it on. Those that
// import only other names of the source are not hit.
func TestImportersOfARemovedExportAreFoundThroughBarrels(t *testing.T) {
	s := newStage(t, standIn{})
	s.Write("src/lib/money.ts", "export const pay = 1;\nexport const owe = 2;\n")
	s.Write("src/lib/index.ts", "export * from './money';\n")
	s.Write("src/lib/a.ts", "import { owe } from './money';\n")
	s.Write("src/Till.tsx", "// a till\nimport { pay as p } from './lib';\n")
	s.Write("src/Page.tsx", "import { owe } from '@/lib';\n")
	s.Write("src/Bill.tsx", "import { pay } from '@/lib/money';\n")
	s.MustRefresh(logicstamp.RefreshArgs{})
	s.Write("src/lib/money.ts", "export const owe = 2;\n")
	r := s.MustCompare(logicstamp.CompareArgs{})
	var got []string
	for _, i := range r.ContractChanges[0].Importers {
		got = append(got, strings.Join(append([]string{i.EntryID, i.Via}, i.Lost...), " "))
	}
	want := []string{"src/Bill.tsx  pay", "src/Till.tsx src/lib/index.ts pay", "src/lib/index.ts  *"}
	if !slices.Equal(got, want) {
		t.Errorf("importers = %q\nwant %q", got, want)
	}
}

// importers are those of all that has changed.
func importers(s *stage) (ids []string) {
	for _, c := range s.MustCompare(logicstamp.CompareArgs{}).ContractChanges {
		for _, i := range c.Importers {
			ids = append(ids, i.EntryID)
		}
	}
	return ids
}

// Who imports a component with a broken prop is found through a barrel, too; who
// takes something else from the barrel is not named.
func TestImportersOfAComponentAreThoseThatTakeIt(t *testing.T) {
	s := newStage(t, standIn{})
	s.Write("src/parts/Knob.tsx", "// props: size locked\nexport const Knob = 1;\n")
	s.Write("src/parts/index.ts", "export { Knob } from './Knob';\nexport * from './helpers';\n")
	s.Write("src/Yes.tsx", "import { Knob } from './parts';\n")
	s.Write("src/No.tsx", "import { other } from './parts';\n")
	s.MustRefresh(logicstamp.RefreshArgs{})
	s.Write("src/parts/Knob.tsx", "// props: size\nexport const Knob = 1;\n")
	if got, want := importers(s), []string{"src/Yes.tsx", "src/parts/index.ts"}; !slices.Equal(got, want) {
		t.Errorf("importers = %q, want %q", got, want)
	}
}

// A component breaks for those who take it or its props; who takes only a
// constant of its file is not hit. With the file, everything is gone.
func TestWhoTakesOnlyOtherNamesIsNoImporter(t *testing.T) {
	s := newStage(t, standIn{})
	s.Write("src/parts/Knob.tsx", "// props: size locked\nexport interface KnobProps { size: number; locked: boolean }\nexport const STEP = 2;\nexport default function Knob({}: KnobProps) {}\n")
	s.Write("src/ByDefault.tsx", "import Turn from './parts/Knob';\n")
	s.Write("src/Props.tsx", "import type { KnobProps } from './parts/Knob';\n")
	s.Write("src/Whole.tsx", "import * as all from './parts/Knob';\n")
	s.Write("src/Step.tsx", "import { STEP } from './parts/Knob';\n")
	s.Write("src/Effect.tsx", "import './parts/Knob';\n")
	s.MustRefresh(logicstamp.RefreshArgs{})
	s.Write("src/parts/Knob.tsx", "// props: size\nexport interface KnobProps { size: number }\nexport const STEP = 2;\nexport default function Knob({}: KnobProps) {}\n")
	if got, want := importers(s), []string{"src/ByDefault.tsx", "src/Props.tsx", "src/Whole.tsx"}; !slices.Equal(got, want) {
		t.Errorf("of a removed prop: importers = %q, want %q", got, want)
	}
	if err := os.Remove(filepath.Join(s.Project, "src/parts/Knob.tsx")); err != nil {
		t.Fatal(err)
	}
	if got, want := importers(s), []string{"src/ByDefault.tsx", "src/Props.tsx", "src/Step.tsx", "src/Whole.tsx", "src/Effect.tsx"}; !slices.Equal(got, want) {
		t.Errorf("of a removed file: importers = %q, want %q", got, want)
	}
}

// Names that the project's own configuration maps lead to their sources: patterns,
// exact names, a base, what is extended, another configuration of a nested folder,
// and one that only names others, as a new Vite project has.
func TestImportersAreFoundThroughPathsOfTheConfiguration(t *testing.T) {
	s := newStage(t, standIn{})
	s.Write("config/base.json", `{"compilerOptions": {"paths": {"#lib/*": ["../code/lib/*"], "money": ["../code/lib/money.ts"]}}}`)
	s.Write("tsconfig.json", "{\n  // mapped\n  \"extends\": [\"@acme/strict\", \"./config/base\"],\n  \"compilerOptions\": {\"baseUrl\": \"./code\",},\n}\n")
	s.Write("packages/ui/tsconfig.json", `{"files": [], "references": [{"path": "./tsconfig.app.json"}]}`)
	s.Write("packages/ui/tsconfig.app.json", `{"compilerOptions": {"paths": {"~ui/*": ["./src/*", "../../code/*"], "~ui/lib/*": ["./none/*"]}}}`)
	s.Write("code/lib/money.ts", "export const pay = 1;\n")
	for name, from := range map[string]string{
		"src/Pattern.tsx": "#lib/money", "src/Exact.tsx": "money", "src/Base.tsx": "lib/money", "packages/ui/src/Nested.tsx": "~ui/lib/money",
		"packages/ui/src/Up.tsx": "lib/money", "src/Elsewhere.tsx": "~ui/lib/money", "src/Package.tsx": "money/other",
	} {
		s.Write(name, "import { pay } from '"+from+"';\n")
	}
	s.Write("packages/ui/src/Second.tsx", "import { tax } from '~ui/tax';\n")
	s.Write("code/tax.ts", "export const tax = 1;\n")
	git(t, s.Project, "init", "-q", "-b", "main")
	git(t, s.Project, "add", "-A")
	git(t, s.Project, "commit", "-qm", "first")
	id := s.MustRefresh(logicstamp.RefreshArgs{}).SnapshotID
	s.Write("code/lib/money.ts", "export const owe = 2;\n")
	s.Write("code/tax.ts", "export const toll = 1;\n")
	memory, disk := s.Service, s.Open()
	for _, row := range []struct {
		service  *logicstamp.Service
		baseline string
	}{{memory, "snapshot:" + id}, {disk, "snapshot:" + id}, {memory, "git:HEAD"}, {disk, "git:HEAD"}} {
		r, err := row.service.Compare(t.Context(), logicstamp.Call{}, logicstamp.CompareArgs{Baseline: row.baseline})
		if err != nil || r.Status != compare.Diff {
			t.Fatalf("%+v, %v", r, err)
		}
		var got []string
		for _, c := range r.ContractChanges {
			for _, i := range c.Importers {
				got = append(got, i.EntryID)
			}
		}
		want := []string{"packages/ui/src/Up.tsx", "src/Base.tsx", "src/Exact.tsx", "src/Pattern.tsx", "packages/ui/src/Second.tsx"}
		if !slices.Equal(got, want) {
			t.Errorf("%s: importers = %q\nwant %q", row.baseline, got, want)
		}
	}
}

// The type of a parameter is in no contract: the pass stays, but it says so.
func TestASignatureThatNoContractHoldsIsToldBesideThePass(t *testing.T) {
	s := newStage(t, standIn{})
	s.Write("src/parts/helpers.ts", "export function pad(s: string, n: number) { return s }\n")
	s.MustRefresh(logicstamp.RefreshArgs{})
	s.Write("src/parts/helpers.ts", "export function pad(s: string, n: bigint) { return s }\n")
	r := s.MustCompare(logicstamp.CompareArgs{})
	if r.Status != compare.Pass || len(r.ContentOnly) != 1 || !hasWarning(r.Warnings, problem.SignaturesChanged) {
		t.Errorf("%s, content only %q, warnings %v", r.Status, r.ContentOnly, r.Warnings)
	}
	want := compare.Signature{EntryID: "src/parts/helpers.ts", Name: "pad", Before: "pad(s: string, n: number)", After: "pad(s: string, n: bigint)", Line: 1}
	if len(r.Signatures) != 1 || r.Signatures[0] != want {
		t.Errorf("signatures = %+v", r.Signatures)
	}
}

// An entry that breaks shows what the file has there, with its number: as it was
// analysed, so that what is gone is shown as the baseline had it, and a later edit
// shifts nothing.
func TestWhatBreaksIsShownAsTheFileHasIt(t *testing.T) {
	const file = "src/parts/Knob.tsx"
	for name, row := range map[string]struct {
		before, after string
		// asItIs compares the project's own context, which is older than the file.
		asItIs bool
		want   []string
	}{
		"a prop that is gone": {
			"// props: size locked\nexport interface KnobProps {\n  size: number;\n\tlocked?: boolean; // while it turns\n}\n", "// props: size\nexport interface KnobProps {\n  size: number;\n}\n", false,
			[]string{"was 4: \tlocked?: boolean; // while it turns"},
		},
		"a new prop, with Windows line ends": {
			"// props: size\r\nexport interface KnobProps {\r\n  size: number;\r\n}\r\n", "// props: size tone\r\nexport interface KnobProps {\r\n  tone   : string,  // calm or loud\r\n  size: number;\r\n}\r\n", false,
			[]string{"3:   tone   : string,  // calm or loud"},
		},
		"a prop of an inline type": {
			"// props: size locked\nexport function Knob({\n  size,\n  locked,\n}: {\n  size: number;\n  locked: boolean;\n}) {}\n", "// props: size\nexport function Knob({\n  size,\n}: {\n  size: number;\n}) {}\n", false,
			[]string{"was 7:   locked: boolean;"},
		},
		"an export that is gone, over several lines": {
			"// props: size\nexport const pad = (\n  s: string,\n  n = 2,\n): string =>\n  s.padStart(n);\nexport const x = 1;\n", "// props: size\nexport const x = 1;\n", false,
			[]string{"was 2: export const pad = (|  s: string,|  n = 2,|): string =>"},
		},
		"an export that is there, but not for others": {
			"// props: size\n\nexport const far = 1; export const x = 1;\n", "// props: size\nconst far = 1; export const x = 1;\n", false,
			[]string{"was 3: export const far = 1; export const x = 1;"},
		},
		"a member and type parameters": {
			"// props: size\nexport type Box<T> = {\n  v: T;\n};\n", "// props: size\n\nexport type Box<T, K> = {\n  v: T | K;\n};\n", false,
			[]string{"3: export type Box<T, K> = {", "4:   v: T | K;"},
		},
		"a file that changed after it was analysed": {
			"// props: size locked\nexport type KnobProps = {\n  locked: boolean;\n};\n", "// props: size\nexport type KnobProps = {\n};\n", true,
			[]string{"was 3:   locked: boolean;"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, standIn{})
			s.Write(file, row.before)
			id := s.MustRefresh(logicstamp.RefreshArgs{}).SnapshotID
			s.Write(file, row.after)
			args := logicstamp.CompareArgs{Baseline: "snapshot:" + id}
			if row.asItIs {
				yes, no := true, false
				s.MustRefresh(logicstamp.RefreshArgs{Publish: &yes})
				s.Write(file, "// edited again\n\n\n"+row.after)
				args.ForceRegenerate = &no
			}
			for _, service := range []*logicstamp.Service{s.Service, s.Open()} { // from memory and from the disk
				r, err := service.Compare(t.Context(), logicstamp.Call{}, args)
				if err != nil || len(r.ContractChanges) != 1 {
					t.Fatalf("%+v, %v", r, err)
				}
				var got []string
				for _, b := range r.ContractChanges[0].Breaking {
					line, was := b.Place()
					text := fmt.Sprintf("%d: %s", line, strings.ReplaceAll(b.Source, "\n", "|"))
					if was {
						text = "was " + text
					}
					got = append(got, text)
				}
				if !slices.Equal(got, row.want) {
					t.Errorf("sources = %q, want %q", got, row.want)
				}
			}
		})
	}
}

func TestAComponentThatIsGoneShowsItsDeclaration(t *testing.T) {
	s := newStage(t, standIn{})
	s.Write("src/parts/Dial.tsx", "export const STEP = 2;\n\nexport function Dial() {\n}\n")
	s.MustRefresh(logicstamp.RefreshArgs{})
	if err := os.Remove(filepath.Join(s.Project, "src/parts/Dial.tsx")); err != nil {
		t.Fatal(err)
	}
	b := s.MustCompare(logicstamp.CompareArgs{}).ContractChanges[0].Breaking[0]
	if line, was := b.Place(); line != 3 || !was || b.Source != "export function Dial() {" {
		t.Errorf("breaking = %+v", b)
	}
}
