package logicstamp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stampcli"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/store"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// stamped is a kept context of a project as it is.
type stamped struct {
	entry *store.Entry
	// context is nil when it was not read.
	context  *contract.Context
	sources  *manifest.Manifest
	warnings []problem.Warning
	leftOut  []problem.Warning
	// doubt are files of which it is not known what the run read.
	doubt []string
	// foreign are those of which it read a text that they had neither before nor
	// after.
	foreign []string
	inc     Incremental
	// nodes replaces the profile's limit on a bundle when above 0; such a run is
	// no measure for the others.
	nodes int
}

// stamp analyses a project into a new private entry. The caller holds the project's
// turn.
func (rf *refresher) stamp(ctx context.Context, call Call, project string, a contract.Analysis) (*stamped, error) {
	rf.mu.Lock()
	expected := rf.duration[project]
	rf.mu.Unlock()
	program, staging, remove, err := rf.prepare(ctx, call, project, expected)
	if err != nil {
		return nil, err
	}
	defer remove()
	out := &stamped{}
	if program.Version.Newer() {
		out.warnings = append(out.warnings, problem.Warn(problem.CLINewer, "stamp %s is newer than the versions this was measured with (%s)", program.Version, stampcli.Wanted))
	}
	for attempt := 1; ; attempt++ {
		moved, err := rf.stampOnce(ctx, call, program, project, filepath.Join(staging, "out"), a, out, expected)
		if err != nil {
			return nil, err
		}
		if len(moved) == 0 {
			break
		}
		if attempt == 2 && len(out.foreign) > 0 {
			return nil, refuseForeign(out.foreign)
		}
		if files := moved; attempt == 2 {
			out.warnings = append(out.warnings, problem.Warn(problem.SourcesMoving, "%s changed during the analysis: %s", humanize.Count(len(files), "file"), strings.Join(files[:min(len(files), 10)], ", ")))
			break
		}
	}
	call.stage("store", expected)
	out.warnings = append(out.warnings, out.leftOut...)
	out.warnings = append(out.warnings, riskWarnings(project, a)...)
	meta := store.Meta{Kind: store.Private, Project: project, Analysis: a, Tool: out.context.Tool}
	out.entry, err = rf.ws.store.Seal(filepath.Join(staging, "out"), namesOf(out.context), meta, out.sources, rf.ws.store.Latest(project, &a))
	if err != nil {
		return nil, err
	}
	out.context.Dir = out.entry.Dir
	rf.ws.contexts.put(out.entry.Dir, out.context)
	return out, nil
}

// prepare finds the command and makes a folder for what it writes, which remove
// takes away.
func (rf *refresher) prepare(ctx context.Context, call Call, project string, expected time.Duration) (program stampcli.Program, staging string, remove func(), err error) {
	call.stage("locate the stamp command", expected)
	if program, err = rf.cli.Locate(ctx, project); err == nil {
		staging, err = rf.ws.store.Staging()
	}
	return program, staging, func() { _ = os.RemoveAll(staging) }, err
}

// stampOnce runs the CLI once and tells which files changed meanwhile.
func (rf *refresher) stampOnce(ctx context.Context, call Call, program stampcli.Program, project, dir string, a contract.Analysis, out *stamped, expected time.Duration) ([]string, error) {
	if err := os.RemoveAll(dir); err != nil {
		return nil, fmt.Errorf("empty the staging folder: %w", err)
	}
	before, err := rf.ws.takeSources(ctx, project, a.IncludeStyle)
	if err != nil {
		return nil, err
	}
	done, err := rf.gate.run(ctx)
	if err != nil {
		return nil, err
	}
	call.stage("stamp", expected)
	start := time.Now()
	err = rf.cli.Context(ctx, program, project, dir, a, out.nodes)
	done()
	if err != nil {
		return nil, err
	}
	if out.nodes == 0 {
		rf.mu.Lock()
		rf.duration[project] = time.Since(start)
		rf.mu.Unlock()
	}
	call.stage("read", expected)
	out.context, err = contract.Read(dir, contract.Options{Project: project, Context: ctx})
	if err != nil {
		return nil, incompleteRun(err)
	}
	after, err := rf.ws.takeSources(ctx, project, a.IncludeStyle)
	if err != nil {
		return nil, err
	}
	out.leftOut = leftOut(after)
	out.sources, out.doubt = analysed(out.context, before, after)
	out.foreign = foreign(out.context, before, after)
	return union(after.Since(before).All(), union(out.doubt, out.foreign)), nil
}

// incompleteRun says of a context that the CLI has just written and that cannot
// be read that the run was at fault.
func incompleteRun(err error) error {
	var p *problem.Error
	if errors.As(err, &p) && p.Code != problem.ContextTooLarge {
		return problem.New(problem.CLIIncomplete, "call logicstamp_refresh_snapshot again; if it stays, run the command by hand", "stamp succeeded but its output is incomplete: %s", p.Text).Because(err)
	}
	return err
}

// namesOf are the files of a context: the index and what it names.
func namesOf(c *contract.Context) []string {
	names := []string{contract.IndexFile}
	seen := map[string]bool{}
	for _, f := range c.Folders {
		if len(f.Bundles) == 0 && f.Toon == "" || seen[f.File] {
			continue
		}
		seen[f.File] = true
		names = append(names, f.File)
	}
	return names
}

// riskWarnings says what in a context may be more than the caller expects.
func riskWarnings(project string, a contract.Analysis) []problem.Warning {
	var out []problem.Warning
	if a.Mode == "full" {
		if _, err := os.Stat(filepath.Join(project, manifest.SecurityReport)); err != nil {
			out = append(out, problem.Warn(problem.SecretsUnmasked, "mode full keeps source text and no security report says what to mask; run `stamp security scan`"))
		}
	}
	return out
}

// entryContext reads a kept context.
func (ws *workspace) entryContext(e *store.Entry, side string) (*contract.Context, error) {
	if c := ws.contexts.get(e.Dir); c != nil {
		return c, nil
	}
	c, err := contract.Read(e.Dir, contract.Options{Project: e.Project, Side: side})
	if problem.CodeOf(err) == problem.ContextMissing {
		return nil, problem.New(problem.SnapshotLost, "call logicstamp_refresh_snapshot", "the snapshot %s has lost its index", e.ID)
	}
	if err != nil {
		return nil, err
	}
	ws.contexts.put(e.Dir, c)
	return c, nil
}

// diskContext reads the project's own context; CONTEXT_MISSING without one.
func (ws *workspace) diskContext(dir, project, side string) (*contract.Context, error) {
	if c := ws.contexts.get(dir); c != nil && stampOf(dir, c.Files()) == c.Stamp {
		return c, nil
	}
	// What changes while it is read is not kept as what was there before.
	stamp := stampOf(dir, contract.Names(dir))
	c, err := contract.Read(dir, contract.Options{Project: project, Side: side})
	if err != nil {
		return nil, err
	}
	c.Stamp = stamp
	ws.contexts.put(dir, c)
	return c, nil
}

// stampOf is the size and time of a context's files, to see that it changed.
func stampOf(dir string, names []string) string {
	var b strings.Builder
	for _, name := range names {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			b.WriteString("-")
			continue
		}
		fmt.Fprintf(&b, "%v;", file.VersionOf(info))
	}
	return b.String()
}
