package logicstamp_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
)

// far makes a folder outside of every project, with a source and a package.json.
func far(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"far.ts": "// props: faraway\n", "package.json": "{}", "x.lock": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func (s *stage) link(target, name string) {
	s.T.Helper()
	if err := os.Symlink(target, filepath.Join(s.Project, name)); err != nil {
		s.T.Skipf("no links here: %v", err)
	}
}

// What is analysed in place is read through links: where one leads outside,
// nothing is analysed, in no way to ask for it.
func TestAnAnalysisInPlaceReadsNothingOutside(t *testing.T) {
	yes := true
	ways := map[string]func(s *stage) error{
		"refresh": func(s *stage) error {
			_, err := s.Refresh(t.Context(), logicstamp.Call{}, logicstamp.RefreshArgs{})
			return err
		},
		"forced refresh": func(s *stage) error {
			_, err := s.Refresh(t.Context(), logicstamp.Call{}, logicstamp.RefreshArgs{Force: true})
			return err
		},
		"compare": func(s *stage) error {
			return refused(s.Compare(t.Context(), logicstamp.Call{}, logicstamp.CompareArgs{}))
		},
		"forced compare": func(s *stage) error {
			return refused(s.Compare(t.Context(), logicstamp.Call{}, logicstamp.CompareArgs{ForceRegenerate: &yes}))
		},
		"compare modes": func(s *stage) error {
			_, err := s.Modes(t.Context(), logicstamp.Call{}, logicstamp.ModesArgs{})
			return err
		},
	}
	links := map[string]func(dir string) (target, name string){
		"source": func(dir string) (string, string) { return filepath.Join(dir, "far.ts"), "src/linked.ts" },
		"folder": func(dir string) (string, string) { return dir, "src/linked" },
		"input":  func(dir string) (string, string) { return filepath.Join(dir, "package.json"), "package.json" },
		"state":  func(dir string) (string, string) { return dir, ".logicstamp" },
	}
	for what, link := range links {
		for how, run := range ways {
			t.Run(what+"/"+how, func(t *testing.T) {
				t.Parallel()
				s, dir := newStage(t, standIn{}), far(t)
				s.MustRefresh(logicstamp.RefreshArgs{})
				runs := len(s.Runs())
				target, name := link(dir)
				s.link(target, name)
				if what == "folder" { // from which a source takes something
					s.Write("src/Uses.ts", "import { far } from './l\\x69nked/far';\n")
				}
				err := run(s)
				if problem.CodeOf(err) != problem.SourcesUnsafe || !strings.Contains(err.Error(), name+" → "+target) {
					t.Errorf("err = %v", err)
				}
				if n := len(s.Runs()); n != runs {
					t.Errorf("stamp ran %d times", n-runs)
				}
			})
		}
	}
}

// refused is the error that a comparison kept as its result.
func refused(r *compare.Result, err error) error {
	if err == nil && r.Status == compare.Failed {
		return problem.New(r.ErrorCode, "", "%s", r.Error)
	}
	return err
}

// A folder elsewhere that no source imports from, such as the result of a build, is left
// out, and that is said.
func TestALinkedFolderThatNobodyImportsFromIsLeftOut(t *testing.T) {
	s, dir := newStage(t, standIn{}), far(t)
	s.link(dir, "result")
	s.link(dir, "src/bazel-bin")
	s.Write("src/Other.ts", "export const kind = 'result'; // of bazel-bin\n")
	warned := func(list []problem.Warning) bool {
		return slices.ContainsFunc(list, func(w problem.Warning) bool {
			return w.Code == problem.LinksLeftOut && strings.Contains(w.Message, "result → "+dir+", src/bazel-bin → "+dir)
		})
	}
	for range 2 { // made, and used again
		if r := s.MustRefresh(logicstamp.RefreshArgs{}); !warned(r.Warnings) {
			t.Errorf("warnings = %v", r.Warnings)
		}
	}
	if r := s.MustCompare(logicstamp.CompareArgs{}); r.Status != compare.Pass || !warned(r.Warnings) {
		t.Errorf("%s, warnings = %v", r.Status, r.Warnings)
	}
	s.holdsNothingOfFar()
	s.Write("src/Other.ts", "export * from '../result/far';\n")
	if err := refused(s.Compare(t.Context(), logicstamp.Call{}, logicstamp.CompareArgs{})); problem.CodeOf(err) != problem.SourcesUnsafe {
		t.Errorf("with an import: %v", err)
	}
}

// Links that stay inside the project, lead where everybody may read, or are none
// of stamp's business are no reason to refuse.
func TestLinksThatMayBeFollowed(t *testing.T) {
	dir := far(t)
	s := newStage(t, standIn{}, func(o *logicstamp.Options) { o.AllowedPaths = []string{dir} })
	elsewhere := far(t)
	s.link(filepath.Join(dir, "far.ts"), "src/linked.ts")
	s.link(dir, "src/linked")
	s.link("parts", "src/inner")
	s.link(elsewhere, "node_modules")
	s.link(elsewhere, ".hidden")
	s.link(filepath.Join(elsewhere, "far.ts"), "src/far.test.ts")
	s.link(filepath.Join(elsewhere, "far.ts"), "src/ignored.ts")
	s.Write(".stampignore", `{"ignore":["src/ignored.ts"]}`)
	r := s.MustRefresh(logicstamp.RefreshArgs{})
	data, err := os.ReadFile(filepath.Join(s.contextDir(r.SnapshotID), "src/context.json"))
	if err != nil || !strings.Contains(string(data), "faraway") {
		t.Errorf("the linked source is not analysed: %s %v", data, err)
	}
	if again := s.MustRefresh(logicstamp.RefreshArgs{}); !again.Incremental.Reused {
		t.Errorf("the linked source is never the same: %+v", again.Incremental)
	}
}

// A link that takes a source's place while stamp runs gets nothing into an
// answer or a snapshot.
func TestALinkSwappedInDuringARunIsRefused(t *testing.T) {
	s, dir := newStage(t, standIn{}), far(t)
	s.link("App.tsx", "src/can.tsx") // skips where there are no links
	source := filepath.Join(s.Project, "src/App.tsx")
	s.Behave(standIn{Swap: source, SwapFor: filepath.Join(dir, "far.ts")})
	if _, err := s.Refresh(t.Context(), logicstamp.Call{}, logicstamp.RefreshArgs{}); problem.CodeOf(err) != problem.SourcesUnsafe {
		t.Errorf("err = %v", err)
	}
	if len(s.Runs()) != 1 {
		t.Errorf("%d runs", len(s.Runs()))
	}
	s.holdsNothingOfFar()
}

// Nor does one that is gone again when the run has ended: what was read is the
// text of no source.
func TestALinkThatIsThereDuringARunOnlyIsRefused(t *testing.T) {
	s, dir := newStage(t, standIn{}), far(t)
	s.link("App.tsx", "src/can.tsx") // skips where there are no links
	s.Behave(standIn{Swap: filepath.Join(s.Project, "src/App.tsx"), SwapFor: filepath.Join(dir, "far.ts"), SwapBack: true})
	_, err := s.Refresh(t.Context(), logicstamp.Call{}, logicstamp.RefreshArgs{})
	if problem.CodeOf(err) != problem.SourcesUnsafe || !strings.Contains(err.Error(), "src/App.tsx") {
		t.Errorf("err = %v", err)
	}
	s.holdsNothingOfFar()
}

// The command reads a source for its contract and its hash, and then again for
// its code: that, too, is the text of a source or refused.
func TestCodeThatIsNotTheSourcesIsRefused(t *testing.T) {
	for mode, text := range map[string]string{"full": "export const faraway = 1;\n", "header": "/** @uif faraway */\n// props: title dense\n// uses: src/parts/Knob.tsx\n"} {
		t.Run(mode, func(t *testing.T) {
			s := newStage(t, standIn{})
			other := filepath.Join(t.TempDir(), "far.ts")
			if err := os.WriteFile(other, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			args := logicstamp.RefreshArgs{AnalysisArgs: logicstamp.AnalysisArgs{Mode: &mode}, Force: true}
			s.Write("src/parts/Knob.tsx", "/**\n * @uif Contract\n */\n\n// props: size\n")
			s.MustRefresh(args)
			s.Behave(standIn{Swap: filepath.Join(s.Project, "src/App.tsx"), CodeFrom: other})
			_, err := s.Refresh(t.Context(), logicstamp.Call{}, args)
			if problem.CodeOf(err) != problem.SourcesUnsafe || !strings.Contains(err.Error(), "src/App.tsx") {
				t.Errorf("err = %v", err)
			}
			s.holdsNothingOfFar()
		})
	}
}

// holdsNothingOfFar looks for the text of what is far in everything that the service keeps.
func (s *stage) holdsNothingOfFar() {
	s.T.Helper()
	const text = "faraway"
	err := filepath.WalkDir(s.Options.Dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		if err == nil && strings.Contains(string(data), text) {
			err = errors.New(p + " holds " + text)
		}
		return err
	})
	if err != nil {
		s.T.Error(err)
	}
}

// Cleaning and the words of a watch stay inside the project.
func TestWhatStampLeavesIsNotFollowedOutside(t *testing.T) {
	s, dir := newStage(t, standIn{}), far(t)
	if err := os.WriteFile(filepath.Join(dir, "context_watch-mode-logs.json"), []byte(`{"secret":"faraway"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s.link(dir, ".logicstamp")
	_, err := s.Refresh(t.Context(), logicstamp.Call{}, logicstamp.RefreshArgs{CleanCache: true})
	if problem.CodeOf(err) != problem.SourcesUnsafe {
		t.Errorf("err = %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "x.lock")); err != nil {
		t.Errorf("a file outside was removed: %v", err)
	}
	out, err := s.WatchStatus(t.Context(), logicstamp.Call{}, logicstamp.WatchArgs{Project: s.Project, IncludeRecentLogs: true})
	if err != nil || out.RecentLogs != nil {
		t.Errorf("%+v, %v", out, err)
	}
}

// What lies outside is refused in the same words whether or not it exists.
func TestPathsOutsideSayNothingOfWhatExists(t *testing.T) {
	s, dir := newStage(t, standIn{}), far(t)
	s.MustRefresh(logicstamp.RefreshArgs{})
	s.link(dir, "out")
	s.link(filepath.Join(dir, "none"), "dangling")
	s.link(filepath.Join(dir, "far.ts"), "leading")
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]string{
		{filepath.Join(dir, "folder"), filepath.Join(dir, "none")},
		{filepath.Join(dir, "far.ts"), filepath.Join(dir, "none")},
		{filepath.Join(dir, "folder"), filepath.Join(dir, "none", "deeper")},
		{filepath.Join(s.Project, "out", "folder"), filepath.Join(s.Project, "out", "none")},
		{filepath.Join(s.Project, "leading"), filepath.Join(s.Project, "dangling")},
		{"../" + filepath.Base(s.Project) + "/out/folder", "../" + filepath.Base(s.Project) + "/out/none"},
	} {
		for how, ask := range map[string]func(path string) error{
			"project": func(path string) error {
				_, err := s.Refresh(t.Context(), logicstamp.Call{Root: s.Project}, logicstamp.RefreshArgs{Project: path})
				return err
			},
			"baseline": func(path string) error {
				return refused(s.Compare(t.Context(), logicstamp.Call{Root: s.Project}, logicstamp.CompareArgs{Baseline: path}))
			},
		} {
			var said [2]string
			for i, path := range pair {
				err := ask(path)
				if problem.CodeOf(err) != problem.ProjectNotAllowed {
					t.Errorf("%s %s: %v", how, path, err)
					continue
				}
				full := path
				if !filepath.IsAbs(full) {
					full = filepath.Join(s.Project, full)
				}
				said[i] = strings.NewReplacer(path, "PATH", full, "PATH").Replace(err.Error())
			}
			if said[0] != said[1] {
				t.Errorf("%s: %s\nand %s", how, said[0], said[1])
			}
		}
	}
	if _, err := s.Refresh(t.Context(), logicstamp.Call{Root: s.Project}, logicstamp.RefreshArgs{Project: filepath.Join(s.Project, "none")}); problem.CodeOf(err) != problem.ProjectNotFound {
		t.Errorf("inside: %v", err)
	}
}
