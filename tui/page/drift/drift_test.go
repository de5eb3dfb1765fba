package drift_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/drift"
)

type results func(now time.Time) []*compare.Result

func one(f func(time.Time) *compare.Result) results {
	return func(now time.Time) []*compare.Result { return []*compare.Result{f(now)} }
}

func show(t *testing.T, size frame.Size, ascii bool, r results, test func(s *frame.Screen, d *fake.Drift)) {
	t.Helper()
	var d *fake.Drift
	colors := colorprofile.TrueColor
	if ascii {
		colors = colorprofile.NoTTY
	}
	frame.Run(t, size, colors, func() tea.Model {
		d = fake.NewDrift(time.Now(), r(time.Now())...)
		return tui.New(tui.Options{
			Deck: fake.NewDeck(time.Now()), Background: "dark", Theme: theme.Options{ASCII: ascii}, Keys: map[string][]string{
				"drift.force": {"F"}, "drift.baseline": {"B"}, "drift.pin": {"W"}, "drift.older": {"<"}, "drift.newer": {">"}, "drift.export": {"E"},
			},
			Pages: []tui.Page{drift.New(drift.Options{Source: d, Project: "/home/ann/shop"})},
		})
	}, func(s *frame.Screen) { test(s, d) })
}

func missing(now time.Time) *compare.Result {
	return fake.DriftError(now, problem.CLINotFound, "the stamp command was not found (neither stamp nor logicstamp-context is on PATH). Next: install it with `npm install -g logicstamp-context` (Node 20 or newer)")
}

func TestScreens(t *testing.T) {
	all := func(now time.Time) []*compare.Result {
		return []*compare.Result{fake.DriftPass(now), fake.DriftStale(now), missing(now), fake.DriftResult(now)}
	}
	many := one(func(now time.Time) *compare.Result { return fake.DriftMany(now, 5000) })
	tests := []struct {
		name    string
		size    frame.Size
		results results
		keys    []string
		ascii   bool
	}{
		{"110x34-diff", frame.Size{W: 110, H: 34}, all, nil, false},
		{"110x34-affected", frame.Size{W: 110, H: 34}, all, []string{"end", "up"}, false},
		{"110x34-contracts", frame.Size{W: 110, H: 34}, all, []string{"v"}, false},
		{"110x34-details", frame.Size{W: 110, H: 34}, all, []string{"d"}, false},
		{"110x34-pass", frame.Size{W: 110, H: 34}, one(fake.DriftPass), nil, false},
		{"110x34-error", frame.Size{W: 110, H: 34}, one(missing), nil, false},
		{"110x34-many", frame.Size{W: 110, H: 34}, many, []string{"l"}, false},
		{"110x34-baseline", frame.Size{W: 110, H: 34}, all, []string{"B"}, false},
		{"110x34-none", frame.Size{W: 110, H: 34}, func(time.Time) []*compare.Result { return nil }, nil, false},
		{"110x34-new", frame.Size{W: 110, H: 34}, all, []string{"l", "l"}, false},
		{"200x60-diff", frame.Size{W: 200, H: 60}, all, nil, false},
		{"80x24-diff", frame.Size{W: 80, H: 24}, all, nil, false},
		{"80x24-filter", frame.Size{W: 80, H: 24}, all, []string{"/", "l", "o", "c", "k", "e", "d", "enter"}, false},
		{"60x40-diff", frame.Size{W: 60, H: 40}, all, nil, false},
		{"60x40-pass", frame.Size{W: 60, H: 40}, one(fake.DriftPass), nil, false},
		{"40x12-diff", frame.Size{W: 40, H: 12}, all, nil, false},
		{"40x12-detail", frame.Size{W: 40, H: 12}, all, []string{"enter"}, false},
		{"40x12-error", frame.Size{W: 40, H: 12}, one(missing), nil, false},
		{"40x12-stale", frame.Size{W: 40, H: 12}, one(fake.DriftStale), nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			show(t, tt.size, tt.ascii, tt.results, func(s *frame.Screen, _ *fake.Drift) {
				s.Quick(tt.keys...)
				s.Golden(tt.name)
			})
		})
	}
}

func TestComparingShowsItsTimeAndCanBeStopped(t *testing.T) {
	show(t, frame.Size{W: 120, H: 34}, false, one(fake.DriftPass), func(s *frame.Screen, d *fake.Drift) {
		d.Delay, d.Next = 10*time.Second, fake.DriftResult(time.Now())
		s.Keys("r")
		s.Wait(3 * time.Second)
		s.Has("comparing with snapshot …3034172", "3 s")
		s.Keys("x")
		s.Has("stopped", "no drift")
		s.Lacks("comparing with")
		s.Keys("F")
		s.Wait(11 * time.Second)
		s.Has("✗1 !1")
		if want := []string{"compare snapshot:snap_1764033034172 false", "compare snapshot:snap_1764033034172 true"}; !slices.Equal(d.Asked, want) {
			t.Errorf("asked %q", d.Asked)
		}
		s.Keys("<")
		s.Has("no drift", "1 result ago")
		s.Keys(">")
		s.Has("✗1 !1")
	})
}

// A project with a snapshot is compared when it is looked at, once.
func TestThePageComparesByItself(t *testing.T) {
	none := func(time.Time) []*compare.Result { return nil }
	show(t, frame.Size{W: 120, H: 34}, false, none, func(s *frame.Screen, d *fake.Drift) {
		s.Wait(time.Second)
		if len(d.Asked) > 0 {
			t.Errorf("without a baseline it asked %q", d.Asked)
		}
		d.Next = fake.DriftResult(time.Now())
		d.Change(func(p *logicstamp.ProjectState) { p.Snapshots = fake.DriftSnapshots(time.Now()) })
		s.Wait(time.Second)
		s.Has("✗1 !1")
		d.Change(func(p *logicstamp.ProjectState) { p.Results = nil })
		s.Wait(time.Second)
		if want := []string{"compare snapshot false"}; !slices.Equal(d.Asked, want) {
			t.Errorf("asked %q", d.Asked)
		}
	})
}

func TestANewRequiredPropIsNew(t *testing.T) {
	result := func(time.Time) *compare.Result {
		r := fake.DriftResult(time.Now())
		r.ContractChanges = []compare.ContractChange{{
			EntryID: "src/Knob.tsx", Name: "Knob", Change: compare.Changed, Details: &compare.Details{ModifiedFields: []string{"interface.props"}, AddedProps: []string{"size"}},
			Breaking: []compare.Breaking{
				{Severity: compare.Error, Kind: "prop_required", Name: "size", Message: "new required prop: size"},
				{Severity: compare.Error, Kind: "prop_required", Name: "tone", Message: "prop became required: tone"},
			},
		}}
		return r
	}
	show(t, frame.Size{W: 120, H: 34}, false, one(result), func(s *frame.Screen, _ *fake.Drift) { s.Has("+size", "~tone") })
}

func TestANewResultKeepsTheSelection(t *testing.T) {
	show(t, frame.Size{W: 120, H: 34}, false, one(fake.DriftResult), func(s *frame.Screen, d *fake.Drift) {
		s.Has("Used by 2")
		next := fake.DriftResult(time.Now())
		next.FolderDiffs = next.FolderDiffs[:1]
		d.Add(next)
		s.Wait(time.Second)
		s.Has("Used by 2")
	})
}

func TestTheKeysReachTheService(t *testing.T) {
	show(t, frame.Size{W: 120, H: 34}, false, one(fake.DriftPass), func(s *frame.Screen, d *fake.Drift) {
		s.Keys("f")
		s.Has("monitor on")
		s.Keys("W", "y", "y")
		s.Has("snapshot made")
		d.Next = fake.DriftResult(time.Now())
		s.Keys("B", "v", "1", ".", "2", "enter")
		s.Wait(time.Second)
		s.Has("✗1 !1")
		s.Keys("B")
		s.Type("HEAD~3")
		s.Keys("esc", "E", "1")
		s.Has("copied the result as Markdown")
		want := []string{"monitor snapshot:snap_1764033034172 true", "pin snap_1764033034172 false", "snapshot", "compare git:v1.2.0 false"}
		if !slices.Equal(d.Asked, want) {
			t.Errorf("asked %q", d.Asked)
		}
	})
}

// A revision that is not in the list can be typed as git says it, a folder
// as its path.
func TestABaselineCanBeTyped(t *testing.T) {
	for text, row := range map[string]struct {
		keys []string
		want string
	}{
		"HEAD~3":   {[]string{"enter"}, "compare git:HEAD~3 false"},
		"git:v9":   {[]string{"enter"}, "compare git:v9 false"},
		"./old":    {[]string{"enter"}, "compare ./old false"},
		"old":      {[]string{"down", "enter"}, "compare old false"},
		"feat/one": {[]string{"enter"}, "compare git:feat/one false"},
	} {
		show(t, frame.Size{W: 80, H: 24}, false, one(fake.DriftPass), func(s *frame.Screen, d *fake.Drift) {
			s.Keys("B")
			s.Type(text)
			s.Keys(row.keys...)
			if !slices.Equal(d.Asked, []string{row.want}) {
				t.Errorf("%s: asked %q, want %q", text, d.Asked, row.want)
			}
		})
	}
}

// Where there is nothing to compare with, the page says how to change that.
func TestWithoutABaselineASnapshotIsOffered(t *testing.T) {
	noRepo := func(now time.Time) *compare.Result {
		return fake.DriftError(now, problem.GitNoRepo, "/home/ann/shop lies in no git repository. Next: compare with a snapshot")
	}
	show(t, frame.Size{W: 80, H: 24}, false, one(noRepo), func(s *frame.Screen, d *fake.Drift) {
		s.Has("make this the baseline")
		d.Next = fake.DriftPass(time.Now())
		s.Keys("y", "y")
		s.Wait(time.Second)
		s.Keys("r")
		s.Wait(time.Second)
		s.Has("no drift")
		if want := []string{"snapshot", "compare snapshot false"}; !slices.Equal(d.Asked, want) {
			t.Errorf("asked %q", d.Asked)
		}
	})
}

// A snapshot that cannot be made for want of the command says what to do.
func TestASnapshotWithoutTheCommandSaysHowToGetIt(t *testing.T) {
	show(t, frame.Size{W: 40, H: 12}, false, one(fake.DriftPass), func(s *frame.Screen, d *fake.Drift) {
		d.Err = problem.New(problem.CLINotFound, "install it", "the stamp command was not found (neither stamp nor logicstamp-context is on PATH)")
		s.Keys("y", "y")
		s.Has("stamp command not found; use :install")
	})
}

// What the toast says after a snapshot holds, whatever the result on screen was
// compared with.
func TestANewSnapshotIsTheNextBaseline(t *testing.T) {
	show(t, frame.Size{W: 120, H: 34}, false, one(fake.DriftResult), func(s *frame.Screen, d *fake.Drift) {
		s.Has("since main (b6d03df)")
		d.Next = fake.DriftPass(time.Now())
		s.Keys("y", "y")
		s.Wait(time.Second)
		s.Has("press r to compare")
		s.Lacks("comparing")
		s.Keys("r")
		s.Wait(time.Second)
		if want := []string{"snapshot", "compare snapshot false"}; !slices.Equal(d.Asked, want) {
			t.Errorf("asked %q", d.Asked)
		}
	})
}

// The header names the baseline at every width, and a root leads to what
// breaks it first.
func TestTheHeaderNamesTheBaselineAtEveryWidth(t *testing.T) {
	for w := 40; w <= 130; w++ {
		show(t, frame.Size{W: w, H: 24}, false, one(fake.DriftPass), func(s *frame.Screen, _ *fake.Drift) {
			s.Has("since your snapshot, 2 h ago", "no drift")
		})
	}
}

func TestTheCursorGoesToTheFirstChangeAfterNone(t *testing.T) {
	show(t, frame.Size{W: 120, H: 34}, false, one(fake.DriftPass), func(s *frame.Screen, d *fake.Drift) {
		s.Has("▌○ 2 edited inside")
		s.Do(func() { d.Add(fake.DriftResult(time.Now())) })
		s.Wait(time.Second)
		s.Has("✗1 !1")
		s.Has("▌✗ Knob")
	})
}

func TestInstallingIsAskedForFirst(t *testing.T) {
	show(t, frame.Size{W: 80, H: 24}, false, one(missing), func(s *frame.Screen, d *fake.Drift) {
		d.Next = fake.DriftPass(time.Now())
		s.Has("cli not found", "install it into mcpdeck's own folder")
		s.Keys("enter", "esc")
		if len(d.Asked) > 0 {
			t.Fatalf("installed without a yes: %q", d.Asked)
		}
		d.InstallErr = problem.New(problem.CLIFailed, "", "npm found no network")
		s.Keys("enter", "y")
		s.Wait(time.Minute)
		s.Has("npm found no network") // also for who looks later
		d.InstallErr = nil
		s.Keys("enter", "y")
		s.Wait(time.Second)
		s.Has("no drift")
		if want := []string{"install", "install", "compare git:main false"}; !slices.Equal(d.Asked, want) {
			t.Errorf("asked %q", d.Asked)
		}
	})
}

func TestTheFilterKnowsWhatBreaksAndNamesOfFiles(t *testing.T) {
	show(t, frame.Size{W: 120, H: 34}, false, one(fake.DriftResult), func(s *frame.Screen, _ *fake.Drift) {
		s.Keys("/")
		s.Type("breaking")
		s.Has("1 of 7", "✗ Knob")
		s.Lacks("useClock")
		s.Keys("esc", "/")
		s.Type("shell.tsx")
		s.Has("1 of 7", "○ 1 affected: Shell", "src/Shell.tsx  through src/parts/Knob.tsx")
		s.Keys("esc")
		s.Has("useClock")
	})
}

// What broke, where and who is hit is on the first frame, at every width that has
// room for the details: its name, what of it changed, its line, who imports it.
func TestTheFirstFrameTellsWhatBrokeWhereAndWhoIsHit(t *testing.T) {
	for _, size := range []frame.Size{{W: 80, H: 24}, {W: 110, H: 34}, {W: 200, H: 60}} {
		show(t, size, false, one(fake.DriftResult), func(s *frame.Screen, _ *fake.Drift) {
			s.Has("✗ Knob", "−locked", "src/parts/Knob.tsx   5", "✗ prop removed", "−  locked?: boolean; // at rest", "+  size: number | string", "Used by 2", "src/parts/Tile.tsx:2", "src/parts/index.ts:1")
		})
	}
	show(t, frame.Size{W: 40, H: 12}, false, one(fake.DriftResult), func(s *frame.Screen, _ *fake.Drift) {
		s.Has("✗ Knob", "−locked")
	})
}

// Of a line that is longer than the pane what broke is named instead, and a file that is another by
// now is said to be.
func TestTheSourceLinesFitAndShowWhatBroke(t *testing.T) {
	result := func(now time.Time) *compare.Result {
		r := fake.DriftResult(now)
		x := &r.ContractChanges[0]
		x.Breaking[0].Source = "export type KnobProps = { " + strings.Repeat("more: string; ", 20) + "locked?: boolean }; // the end"
		x.Breaking[1] = compare.Breaking{Severity: compare.Caution, Kind: "prop_required", Name: "size", Message: "prop became required: size", Line: 99, Source: "\texport function Knob({\n\t\tsize,\n\n\t}: KnobProps) {"}
		r.Freshness = &compare.Freshness{State: "stale", ChangedFiles: []string{x.EntryID}}
		return r
	}
	show(t, frame.Size{W: 80, H: 24}, false, one(result), func(s *frame.Screen, _ *fake.Drift) {
		s.Has("changed since the analysis", "−  locked", "+  export function Knob({", "size,", "}: KnobProps) {")
		s.Lacks("export type", "the end")
	})
}

// E4: a new component shows its members, and a key that takes long says at once
// that it works.
func TestANewComponentShowsItsMembers(t *testing.T) {
	show(t, frame.Size{W: 120, H: 34}, false, one(fake.DriftResult), func(s *frame.Screen, _ *fake.Drift) {
		s.Keys("l", "l")
		s.Has("its file is new", "functions", "+  extra", "imports", "+  ./format")
	})
}

// A removed component says what went with it, not only that it is gone.
func TestARemovedComponentShowsItsMembers(t *testing.T) {
	removed := one(func(now time.Time) *compare.Result {
		r := fake.DriftResult(now)
		for i, c := range r.ContractChanges {
			if c.EntryID == "src/util/extra.ts" {
				r.ContractChanges[i].Change, r.ContractChanges[i].Before, r.ContractChanges[i].After = compare.Removed, c.After, nil
				r.ContractChanges[i].Details = &compare.Details{Reason: "deleted"}
			}
		}
		return r
	})
	show(t, frame.Size{W: 120, H: 34}, false, removed, func(s *frame.Screen, _ *fake.Drift) {
		s.Keys("l", "l")
		s.Has("its file is gone", "functions", "−  extra", "imports", "−  ./format")
	})
}

func TestMakingASnapshotShowsAtOnce(t *testing.T) {
	show(t, frame.Size{W: 80, H: 24}, false, one(fake.DriftPass), func(s *frame.Screen, d *fake.Drift) {
		d.SnapshotDelay = time.Minute
		s.Keys("y", "y")
		s.Has("making a snapshot of shop")
		s.Wait(5 * time.Second)
		s.Has("making a snapshot", "6 s", "x stops")
		s.Keys("x")
		s.Has("stopped")
	})
}

func TestTheNextProjectIsCounted(t *testing.T) {
	show(t, frame.Size{W: 80, H: 24}, false, one(fake.DriftPass), func(s *frame.Screen, d *fake.Drift) {
		s.Do(func() { d.AddProject("/home/ann/till") })
		s.Wait(time.Second)
		s.Has("shop 1 of 2")
		s.Keys(":")
		s.Type("next project")
		s.Keys("enter")
		s.Has("till 2 of 2", "till, project 2 of 2")
	})
}

// The deeper analysis in the background is shown, and stopped with x.
func TestTheDeeperAnalysisIsShownAndStopped(t *testing.T) {
	show(t, frame.Size{W: 120, H: 34}, false, one(fake.DriftPass), func(s *frame.Screen, d *fake.Drift) {
		s.Do(func() {
			d.Change(func(p *logicstamp.ProjectState) {
				p.Deeper = &logicstamp.DeeperRun{Limit: 10 * time.Minute}
			})
		})
		s.Wait(2 * time.Second)
		s.Has("looking deeper, 10 m", "x stops")
		s.Keys("x")
		s.Has("the deeper analysis was stopped")
		s.Lacks("looking deeper")
		if want := []string{"stop deeper"}; !slices.Equal(d.Asked, want) {
			t.Errorf("asked %q", d.Asked)
		}
	})
}

func TestATextIsFoundInTheDetails(t *testing.T) {
	show(t, frame.Size{W: 120, H: 34}, false, one(fake.DriftResult), func(s *frame.Screen, _ *fake.Drift) {
		s.Keys("tab", "/")
		s.Type("size")
		s.Has("/ size", "1 of ", "enter next")
		s.Keys("enter", "enter")
		s.Has("2 of ")
		s.Keys("/", "esc")
		s.Lacks("/ size")
		before := s.Text()
		if s.Keys("l"); s.Text() == before {
			t.Error("l does not go to the next change")
		}
	})
}
