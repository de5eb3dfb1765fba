// Package watch reads what the CLI's own watch mode leaves in a project: its
// status, its log and the report of its strict mode. It never starts one.
package watch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
)

// Files of the watch mode below a project.
const (
	statusFile = ".logicstamp/context_watch-status.json"
	logFile    = ".logicstamp/context_watch-mode-logs.json"
	strictFile = ".logicstamp/strict_watch_violations.json"
)

// maxFile bounds what is read of any of them.
const maxFile = 8 << 20

// Status is what the status file says and what the system says about it.
type Status struct {
	// Found is false without a readable status file.
	Found bool
	// Active is true when the watch really runs; Verified is false when the
	// system would not tell.
	Active, Verified bool
	PID              int
	StartedAt        time.Time
	// OutputDir is where it writes, absolute; the project by default.
	OutputDir   string
	StrictWatch *bool
	// Raw is the status file.
	Raw json.RawMessage
	// Reason says why a status that claims to be active is not believed.
	Reason string
}

type statusJSON struct {
	Active      bool            `json:"active"`
	ProjectRoot string          `json:"projectRoot"`
	PID         json.RawMessage `json:"pid"`
	StartedAt   time.Time       `json:"startedAt"`
	OutputDir   string          `json:"outputDir"`
	StrictWatch *bool           `json:"strictWatch"`
}

// Look reads the status of a project, whose path is absolute and resolved.
func Look(project string) Status {
	raw, err := readSome(project, statusFile)
	if err != nil {
		return Status{OutputDir: project}
	}
	var in statusJSON
	if json.Unmarshal(raw, &in) != nil {
		return Status{OutputDir: project, Reason: "the status file is damaged"}
	}
	s := Status{Found: true, StartedAt: in.StartedAt, StrictWatch: in.StrictWatch, Raw: raw, OutputDir: project}
	if in.OutputDir != "" {
		s.OutputDir = in.OutputDir
		if !filepath.IsAbs(s.OutputDir) {
			s.OutputDir = filepath.Join(project, s.OutputDir)
		}
	}
	switch {
	case !in.Active:
		s.Reason = "it says that it ended"
		return s
	case json.Unmarshal(in.PID, &s.PID) != nil || s.PID <= 1:
		s.Reason = "it names no process"
		return s
	}
	root, err := filepath.EvalSymlinks(in.ProjectRoot)
	if err != nil || root != project {
		s.Reason = "it belongs to another project"
		return s
	}
	if s.Verified, s.Reason = true, fmt.Sprintf("process %d no longer runs", s.PID); pid.Alive(s.PID) {
		s.Active, s.Verified, s.Reason = identify(s.PID, s.StartedAt)
	}
	return s
}

func readSome(project, name string) ([]byte, error) {
	root, err := file.Root(project) // a link may lead out of it
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return file.Inside(root, name, maxFile)
}

// Logs gives the newest entries of the watch log, oldest first; nil when there
// are none or the log is damaged. The log is {"entries": newest first}, a list,
// one object, or one object per line.
func Logs(project string, limit int) []json.RawMessage {
	raw, err := readSome(project, logFile)
	if err != nil {
		return nil
	}
	type entry struct {
		raw json.RawMessage
		at  time.Time
	}
	var list []entry
	for _, r := range logEntries(raw) {
		var t struct {
			Timestamp time.Time `json:"timestamp"`
			Time      time.Time `json:"time"`
		}
		_ = json.Unmarshal(r, &t)
		at := t.Timestamp
		if at.IsZero() {
			at = t.Time
		}
		list = append(list, entry{r, at})
	}
	slices.SortStableFunc(list, func(a, b entry) int { return a.at.Compare(b.at) })
	if len(list) > limit {
		list = list[len(list)-limit:]
	}
	out := make([]json.RawMessage, 0, len(list))
	for _, e := range list {
		out = append(out, e.raw)
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func logEntries(raw []byte) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	var file struct {
		Entries []json.RawMessage `json:"entries"`
	}
	if json.Unmarshal(raw, &file) == nil {
		if file.Entries != nil {
			return file.Entries
		}
		return []json.RawMessage{raw}
	}
	scan := bufio.NewScanner(bytes.NewReader(raw))
	scan.Buffer(nil, maxFile)
	for scan.Scan() {
		line := bytes.TrimSpace(scan.Bytes())
		if len(line) == 0 {
			continue
		}
		if !json.Valid(line) {
			return nil
		}
		list = append(list, bytes.Clone(line))
	}
	return list
}

// Violations is the report of the strict watch; nil without one.
func Violations(project string) json.RawMessage {
	raw, err := readSome(project, strictFile)
	if err != nil || !json.Valid(raw) {
		return nil
	}
	return raw
}

// Clean removes the status file of a watch that no longer runs.
func Clean(project string) {
	root, err := file.Root(project) // a link may lead out of it
	if err != nil {
		return
	}
	defer root.Close()
	if s := Look(project); !s.Active {
		_ = root.Remove(statusFile)
	}
}
