package logicstamp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/stampcli"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/watch"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// WatchArgs are the arguments of WatchStatus.
type WatchArgs struct {
	Project           string
	IncludeRecentLogs bool
	LogLimit          int
}

// WatchAnswer is the result of WatchStatus.
type WatchAnswer struct {
	ProjectPath     string             `json:"projectPath"`
	WatchModeActive bool               `json:"watchModeActive"`
	StrictWatch     *bool              `json:"strictWatch,omitempty"`
	Status          json.RawMessage    `json:"status,omitempty"`
	Verified        bool               `json:"verified"`
	Freshness       *compare.Freshness `json:"freshness,omitempty"`
	RecentLogs      []json.RawMessage  `json:"recentLogs,omitempty"`
	Violations      json.RawMessage    `json:"violations,omitempty"`
	Message         string             `json:"message"`
}

// WatchStatus returns the state of the command's own watch mode. It deletes nothing.
func (s *Service) WatchStatus(ctx context.Context, call Call, args WatchArgs) (*WatchAnswer, error) {
	if args.Project == "" {
		return nil, problem.New(problem.BadArgument, "pass the absolute path of the project", "projectPath is missing")
	}
	project, err := s.access.project(call, args.Project)
	if err != nil {
		return nil, err
	}
	w := watch.Look(project)
	out := &WatchAnswer{
		ProjectPath: project, WatchModeActive: w.Active, Verified: w.Verified, StrictWatch: w.StrictWatch,
		Violations: watch.Violations(project), Freshness: &compare.Freshness{State: missing},
	}
	if w.Found && json.Valid(w.Raw) {
		out.Status = contract.Compact(w.Raw)
	}
	if args.IncludeRecentLogs {
		out.RecentLogs = watch.Logs(project, min(max(cmp.Or(args.LogLimit, 5), 1), 100))
	}
	dir := project
	if w.Active {
		if dir, err = s.workspace.watchDir(call, project, w); err != nil {
			return nil, err
		}
	}
	if c, err := s.workspace.diskContext(dir, project, ""); err == nil {
		now, err := s.workspace.takeManifest(ctx, project, false)
		if err != nil {
			return nil, err
		}
		out.Freshness = s.workspace.diskFreshness(c, project, now)
	}
	switch {
	case w.Active:
		out.Message = fmt.Sprintf("stamp watches this project (process %d); its context is %s", w.PID, out.Freshness.State)
	case w.Found:
		out.Message = "watch mode is not active: " + w.Reason
	default:
		out.Message = "watch mode is not active; logicstamp_drift_monitor watches without it"
	}
	return out, nil
}

// LastArgs are the arguments of LastResult.
type LastArgs struct {
	// Since is RFC 3339 or a date; "" for any time.
	Since, Project string
}

// LastResult is the newest stored comparison later than a moment, of a project
// or of any; why is a reason when there is none.
func (s *Service) LastResult(call Call, args LastArgs) (result *compare.Result, why string, last time.Time, err error) {
	since, err := ParseSince(args.Since)
	if err != nil {
		return nil, "", time.Time{}, err
	}
	project := ""
	if args.Project != "" {
		if project, err = s.access.project(call, args.Project); err != nil {
			return nil, "", time.Time{}, err
		}
	}
	result = s.FindResult(call, func(r *compare.Result) bool { return project == "" || r.ProjectPath == project })
	switch {
	case result == nil:
		return nil, "nothing compared yet", time.Time{}, nil
	case !result.ComparedAt.After(since):
		return nil, "nothing has been compared since then", result.ComparedAt, nil
	}
	return result, "", result.ComparedAt, nil
}

// ParseSince reads a moment: RFC 3339, or a date, which means its midnight UTC.
func ParseSince(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, strings.TrimSpace(text)); err == nil {
			return at, nil
		}
	}
	return time.Time{}, problem.New(problem.BadArgument, "pass a time such as 2026-01-31T12:00:00Z or a date such as 2026-01-31", "since is %q, which is not a time", text)
}

// ModesArgs are the arguments of Modes.
type ModesArgs struct {
	Project    string
	CleanCache bool
}

type modesFile struct {
	Type  string `json:"type"`
	Files struct {
		Total int `json:"total"`
		TS    int `json:"ts"`
		TSX   int `json:"tsx"`
	} `json:"files"`
	Comparison struct {
		SourceGPT4   int `json:"sourceTokensGPT4"`
		SourceClaude int `json:"sourceTokensClaude"`
		Modes        map[string]struct {
			GPT4   int `json:"gpt4"`
			Claude int `json:"claude"`
		} `json:"modeEstimates"`
	} `json:"comparison"`
}

// Modes measures what each mode costs in tokens. The members of the CLI's own
// file are passed on as they are.
func (s *Service) Modes(ctx context.Context, call Call, args ModesArgs) (map[string]any, error) {
	project, ctx, end, err := s.beginIn(ctx, call, args.Project)
	if err != nil {
		return nil, err
	}
	defer end()
	out, _, err := share(ctx, &s.refresher.flights, fmt.Sprintf("modes\x00%s\x00%v", project, args.CleanCache), call, func(ctx context.Context, call Call) (map[string]any, error) {
		return s.refresher.modes(ctx, call, project, args.CleanCache)
	})
	return out, err
}

func (rf *refresher) modes(ctx context.Context, call Call, project string, cleanCache bool) (map[string]any, error) {
	leave, err := rf.gate.enter(ctx, project)
	if err != nil {
		return nil, err
	}
	defer leave()
	if cleanCache {
		rf.clean(project, true)
	}
	program, staging, remove, err := rf.prepare(ctx, call, project, 0)
	if err != nil {
		return nil, err
	}
	defer remove()
	// Its answer holds counts alone, but they are those of what it read.
	if _, err := rf.ws.takeSources(ctx, project, true); err != nil {
		return nil, err
	}
	done, err := rf.gate.run(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	call.stage("stamp in every mode", 0)
	if err := rf.cli.CompareModes(ctx, program, project, staging); err != nil {
		return nil, err
	}
	if _, err := rf.ws.takeSources(ctx, project, true); err != nil {
		return nil, err
	}
	raw, err := file.Read(filepath.Join(staging, stampcli.ModesFile), stampcli.MaxModes)
	if err != nil {
		return nil, fmt.Errorf("read what stamp measured: %w", err)
	}
	return modesAnswer(project, raw)
}

func modesAnswer(project string, raw []byte) (map[string]any, error) {
	var in modesFile
	out := map[string]any{}
	if json.Unmarshal(raw, &in) != nil || json.Unmarshal(raw, &out) != nil || in.Type != "LogicStampCompareModes" {
		return nil, problem.New(problem.CLIIncomplete, "update it with `npm install -g "+stampcli.PackageName+"@latest`", "stamp wrote a %s of an unknown shape", stampcli.ModesFile)
	}
	c := in.Comparison
	row := func(mode, than string) map[string]any {
		m := c.Modes[mode]
		whole := c.Modes["full"].GPT4
		key := "savingsVsFull"
		if than == "raw" {
			whole, key = c.SourceGPT4, "savingsPercent"
		}
		return map[string]any{"tokensGPT4o": m.GPT4, "tokensClaude": m.Claude, key: savings(whole, m.GPT4)}
	}
	out["projectPath"] = project
	out["tokenEstimation"] = map[string]any{"method": "as the CLI counts"}
	out["comparisonVsRawSource"] = map[string]any{
		"rawSource": map[string]any{"tokensGPT4o": c.SourceGPT4, "tokensClaude": c.SourceClaude, "savingsPercent": 0},
		"header":    row("header", "raw"), "headerStyle": row("headerStyle", "raw"),
	}
	out["modeBreakdown"] = map[string]any{
		"none": row("none", "full"), "header": row("header", "full"), "headerStyle": row("headerStyle", "full"), "full": row("full", "full"),
	}
	out["stats"] = map[string]any{"totalFiles": in.Files.Total, "totalTS": in.Files.TS, "totalTSX": in.Files.TSX}
	out["notes"] = []string{"full is the CLI's estimate: header plus raw source", "savings can be negative: in a small project the contracts are larger than the source"}
	return out, nil
}

func savings(whole, part int) int {
	if whole == 0 {
		return 0
	}
	return int(math.Round(float64(whole-part) / float64(whole) * 100))
}

// SnapshotInfo is one snapshot for a user to choose.
type SnapshotInfo struct {
	ID        string
	CreatedAt time.Time
	Pinned    bool
	// MadeBy is the client that asked for it, "" for the user.
	MadeBy string
}

// CLI finds the stamp command and tells its version.
func (s *Service) CLI(ctx context.Context) (path, version string, err error) {
	p, err := s.refresher.cli.Locate(ctx, "")
	if err != nil {
		return "", "", err
	}
	return p.Path, p.Version.String(), nil
}

// InstallCLI installs the stamp command into the service's own folder, after
// someone agreed.
func (s *Service) InstallCLI(ctx context.Context, progress func(line string)) (path, version string, err error) {
	p, err := s.refresher.cli.Install(ctx, progress)
	if err != nil {
		return "", "", err
	}
	if s.installed != nil {
		s.installed()
	}
	return p.Path, p.Version.String(), nil
}
