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
				"drift.force": {"F"}, "drift.baseline": {"B"}, "drift.pin": {"W"}, "drift.return": {"backspace"},
				"drift.nextbreaking": {"}"}, "drift.previousbreaking": {"{"}, "drift.older": {"<"}, "drift.newer": {">"}, "drift.breaking": {"b"}, "drift.type": {"t"}, "drift.unchanged": {"u"}, "drift.side": {"s"}, "drift.raw": {"R"}, "drift.export": {"E"},
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
		{"120x34-diff", frame.Size{W: 120, H: 34}, all, nil, false},
		{"120x34-affected", frame.Size{W: 120, H: 34}, all, []string{"end", "up", "up", "enter", "down"}, false},
		{"120x34-side", frame.Size{W: 120, H: 34}, all, []string{"s"}, false},
		{"120x34-raw", frame.Size{W: 120, H: 34}, all, []string{"R"}, false},
		{"120x34-ascii", frame.Size{W: 120, H: 34}, all, nil, true},
		{"120x34-pass", frame.Size{W: 120, H: 34}, one(fake.DriftPass), nil, false},
		{"120x34-stale", frame.Size{W: 120, H: 34}, one(fake.DriftStale), nil, false},
		{"120x34-error", frame.Size{W: 120, H: 34}, one(missing), nil, false},
		{"120x34-many", frame.Size{W: 120, H: 34}, many, []string{"l"}, false},
		{"120x34-baseline", frame.Size{W: 120, H: 34}, all, []string{"B"}, false},
		{"120x34-none", frame.Size{W: 120, H: 34}, func(time.Time) []*compare.Result { return nil }, nil, false},
		{"120x34-new", frame.Size{W: 120, H: 34}, all, []string{"l", "l"}, false},
		{"200x60-diff", frame.Size{W: 200, H: 60}, all, nil, false},
		{"80x24-diff", frame.Size{W: 80, H: 24}, all, nil, false},
		{"80x24-uncovered", frame.Size{W: 80, H: 24}, all, []string{"l", "l", "l", "l"}, false},
		{"80x24-filter", frame.Size{W: 80, H: 24}, all, []string{"/", "l", "o", "c", "k", "e", "d", "enter"}, false},
		{"60x20-diff", frame.Size{W: 60, H: 20}, all, nil, false},
		{"60x20-pass", frame.Size{W: 60, H: 20}, one(fake.DriftPass), nil, false},
		{"40x12-diff", frame.Size{W: 40, H: 12}, all, nil, false},
		{"40x12-detail", frame.Size{W: 40, H: 12}, all, []string{"enter"}, false},
		{"40x12-error", frame.Size{W: 40, H: 12}, one(missing), nil, false},
		{"40x12-stale", frame.Size{W: 40, H: 12}, one(fake.DriftStale), nil, false},
		{"40x12-ascii", frame.Size{W: 40, H: 12}, all, nil, true},
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

func TestAJumpGoesToTheCauseAndBack(t *testing.T) {
	show(t, frame.Size{W: 120, H: 34}, false, one(fake.DriftResult), func(s *frame.Screen, _ *fake.Drift) {
		s.Has("in the bundle of src/Shell.tsx") // what breaks comes first
		s.Keys("end", "up", "up", "enter", "down")
		s.Has("something it reaches changed")
		s.Keys("enter")
		s.Has("in the bundle of src/Shell.tsx", "1 unchanged")
		s.Keys("backspace")
		s.Has("something it reaches changed")
	})
}

func TestComparingShowsItsTimeAndCanBeStopped(t *testing.T) {
	show(t, frame.Size{W: 120, H: 34}, false, one(fake.DriftPass), func(s *frame.Screen, d *fake.Drift) {
		d.Delay, d.Next = 10*time.Second, fake.DriftResult(time.Now())
		s.Keys("r")
		s.Wait(3 * time.Second)
		s.Has("comparing with snapshot …3034172", "3.0 s")
		s.Keys("x")
		s.Has("stopped", "[PASS]")
		s.Lacks("comparing with")
		s.Keys("F")
		s.Wait(11 * time.Second)
		s.Has("[DIFF]", "result 2 of 2")
		if want := []string{"compare snapshot:snap_1764033034172 false", "compare snapshot:snap_1764033034172 true"}; !slices.Equal(d.Asked, want) {
			t.Errorf("asked %q", d.Asked)
		}
		s.Keys("<")
		s.Has("[PASS]", "1 result ago")
		s.Keys(">")
		s.Has("[DIFF]")
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
		s.Has("[DIFF]")
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
		s.Has("in the bundle of src/Shell.tsx")
		next := fake.DriftResult(time.Now())
		next.FolderDiffs = next.FolderDiffs[:1]
		d.Add(next)
		s.Wait(time.Second)
		s.Has("in the bundle of src/Shell.tsx", "result 2 of 2")
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
		s.Has("[DIFF]")
		s.Keys("B")
		s.Type("HEAD~3")
		s.Keys("esc", "E", "m")
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
		s.Has("[PASS]")
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
		s.Has("vs git:main")
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
			s.Has("vs snapshot", "[PASS]")
		})
	}
}

func TestAJumpGoesToWhatBreaks(t *testing.T) {
	mixed := func(now time.Time) *compare.Result {
		r := fake.DriftResult(now)
		for i := range r.FolderDiffs {
			for j := range r.FolderDiffs[i].Changes {
				if d := r.FolderDiffs[i].Changes[j].Details; d != nil && len(d.ChangedDependencies) > 0 {
					d.ChangedDependencies = slices.Insert(d.ChangedDependencies, 0, compare.Dependency{EntryID: "src/util/useClock.ts", Type: compare.ContractChanged})
				}
			}
		}
		return r
	}
	show(t, frame.Size{W: 120, H: 34}, false, one(mixed), func(s *frame.Screen, _ *fake.Drift) {
		s.Keys("end", "up", "up", "enter", "down", "enter")
		s.Has("in the bundle of src/Shell.tsx", "prop removed: locked")
	})
}

func TestTheCursorGoesToTheFirstChangeAfterNone(t *testing.T) {
	show(t, frame.Size{W: 120, H: 34}, false, one(fake.DriftPass), func(s *frame.Screen, d *fake.Drift) {
		s.Has("▌▸ content only")
		s.Do(func() { d.Add(fake.DriftResult(time.Now())) })
		s.Wait(time.Second)
		s.Has("[DIFF]")
		s.Has("▌    ✖ Knob")
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
		s.Has("[PASS]")
		if want := []string{"install", "install", "compare git:main false"}; !slices.Equal(d.Asked, want) {
			t.Errorf("asked %q", d.Asked)
		}
	})
}

func TestFiltersAndFolds(t *testing.T) {
	show(t, frame.Size{W: 120, H: 34}, false, one(fake.DriftResult), func(s *frame.Screen, _ *fake.Drift) {
		s.Lacks("≈ Shell") // what others caused is folded
		s.Keys("b")
		s.Has("only breaking", "Knob", "≈ Shell")
		s.Lacks("useClock")
		s.Keys("esc", "t")
		s.Has("only +", "extra")
		s.Lacks("useClock")
		s.Keys("esc", "home", "space")
		s.Lacks("✖ Knob")
		s.Keys("space")
		s.Has("✖ Knob")
	})
}

func TestFoldsAreAsTheUserLeftThem(t *testing.T) {
	kept := ""
	for run, keys := range [][]string{{"home", "space", "end", "up", "space"}, {"home", "space"}, {"ctrl+l"}} {
		var page *drift.Page
		frame.Run(t, frame.Size{W: 120, H: 60}, colorprofile.TrueColor, func() tea.Model {
			page = drift.New(drift.Options{Source: fake.NewDrift(time.Now(), fake.DriftResult(time.Now())), Project: "/home/ann/shop"})
			page.LoadState(kept)
			return tui.New(tui.Options{Deck: fake.NewDeck(time.Now()), Background: "dark", Pages: []tui.Page{page}})
		}, func(s *frame.Screen) {
			look := func(folded, unfolded bool) {
				t.Helper()
				if text := s.Text(); strings.Contains(text, "✖ Knob") == folded || strings.Contains(text, "= src/Page.tsx") != unfolded {
					t.Errorf("run %d: breaking folded %v, content only unfolded %v, in\n%s", run, folded, unfolded, text)
				}
			}
			look(run == 1, run > 0)
			s.Keys(keys...)
			look(run == 0, true)
			s.Do(func() { kept = page.SaveState() })
		})
	}
}

// What broke, where and who is hit is on the first frame, at every width that has
// room for the details: its name, what of it changed, its line, who imports it.
func TestTheFirstFrameTellsWhatBrokeWhereAndWhoIsHit(t *testing.T) {
	for _, size := range []frame.Size{{W: 80, H: 24}, {W: 110, H: 34}, {W: 200, H: 60}} {
		show(t, size, false, one(fake.DriftResult), func(s *frame.Screen, _ *fake.Drift) {
			s.Has("✖ Knob", "−locked", "prop removed: locked", "was 5 │ locked?: boolean; // at rest", "4 │ size: number | string;", "imported by", "src/parts/Tile.tsx:2", "src/parts/index.ts:1")
		})
	}
	show(t, frame.Size{W: 40, H: 12}, false, one(fake.DriftResult), func(s *frame.Screen, _ *fake.Drift) {
		s.Has("✖ Knob", "−locked")
	})
}

// A line that is longer than the pane is cut so that what broke is seen, each line
// has its number, and a file that is another by now is said to be.
func TestTheSourceLinesFitAndShowWhatBroke(t *testing.T) {
	result := func(now time.Time) *compare.Result {
		r := fake.DriftResult(now)
		x := &r.ContractChanges[0]
		x.Breaking[0].Source = "export type KnobProps = { " + strings.Repeat("more: string; ", 20) + "locked?: boolean }; // the end"
		x.Breaking[1].Line, x.Breaking[1].Source = 99, "\texport function Knob({\n\t\tsize,\n\n\t}: KnobProps) {"
		r.Freshness = &compare.Freshness{State: "stale", ChangedFiles: []string{x.EntryID}}
		return r
	}
	show(t, frame.Size{W: 80, H: 24}, false, one(result), func(s *frame.Screen, _ *fake.Drift) {
		s.Has("changed since the analysis", "was 5 │", "locked?:", " 99 │ export function Knob({", "100 │     size,", "102 │ }: KnobProps) {")
		s.Lacks("export type", "the end")
	})
}

// E4: a new component shows its members, and a key that takes long says at once
// that it works.
func TestANewComponentShowsItsMembers(t *testing.T) {
	show(t, frame.Size{W: 120, H: 34}, false, one(fake.DriftResult), func(s *frame.Screen, _ *fake.Drift) {
		s.Keys("l", "l")
		s.Has("its file is new", "functions", "+ extra", "imports", "+ ./format")
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
		s.Has("its file is gone", "functions", "− extra", "imports", "− ./format")
	})
}

func TestMakingASnapshotShowsAtOnce(t *testing.T) {
	show(t, frame.Size{W: 80, H: 24}, false, one(fake.DriftPass), func(s *frame.Screen, d *fake.Drift) {
		d.SnapshotDelay = time.Minute
		s.Keys("y", "y")
		s.Has("making a snapshot of shop")
		s.Wait(5 * time.Second)
		s.Has("making a snapshot", "5.0 s", "x stops")
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
				p.Deeper = &logicstamp.DeeperRun{Since: time.Now(), Limit: 10 * time.Minute}
			})
		})
		s.Wait(2 * time.Second)
		s.Has("analysing deeper in the background", "10 m", "x stops")
		s.Keys("x")
		s.Has("the deeper analysis was stopped")
		s.Lacks("in the background, for")
		if want := []string{"stop deeper"}; !slices.Equal(d.Asked, want) {
			t.Errorf("asked %q", d.Asked)
		}
	})
}

func TestATextIsFoundInTheDetails(t *testing.T) {
	show(t, frame.Size{W: 120, H: 34}, false, one(fake.DriftResult), func(s *frame.Screen, _ *fake.Drift) {
		s.Keys("tab", "/")
		s.Type("shell")
		s.Has("/ shell", "1 of ", "enter next")
		s.Keys("enter", "enter")
		s.Has("2 of ")
		s.Keys("/", "esc")
		s.Lacks("/ shell")
		before := s.Text()
		if s.Keys("l"); s.Text() == before {
			t.Error("n does not go to the next change where nothing is searched for")
		}
	})
}
