package drift

import (
	"cmp"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/tui"
)

// history is the results of all projects, and which of them is on screen.
type history struct {
	state  logicstamp.State
	path   string // the project shown
	chosen bool   // the user chose it, or works with it
	back   int    // results stepped back from the newest
	made   string // project of a snapshot made since the last comparison
}

// take replaces the results. Until the user chose, a project with something to see comes
// before own, the deck's own.
func (h *history) take(s logicstamp.State, own string) {
	h.state = s
	h.path = cmp.Or(h.path, own)
	if h.chosen || len(h.project().Results) > 0 {
		return
	}
	for _, one := range s.Projects {
		if h.path == "" || len(one.Results) > 0 {
			h.path = one.Path
			return
		}
	}
}

// place is which of the projects is on screen; -1 when it is none of them.
func (h *history) place() int {
	return slices.IndexFunc(h.state.Projects, func(one logicstamp.ProjectState) bool { return one.Path == h.path })
}

// project is the one on screen.
func (h *history) project() logicstamp.ProjectState {
	if i := h.place(); i >= 0 {
		return h.state.Projects[i]
	}
	return logicstamp.ProjectState{Path: h.path}
}

// at is the index of the result on screen, behind how far it is from the newest.
func (h *history) at() int     { return len(h.project().Results) - 1 - h.behind() }
func (h *history) behind() int { return min(h.back, max(len(h.project().Results)-1, 0)) }

// result is the one on screen, nil when there is none.
func (h *history) result() *compare.Result {
	if i := h.at(); i >= 0 {
		return h.project().Results[i]
	}
	return nil
}

// baseline is what to compare with next: the snapshot just made, else as in the
// result on screen, else the newest snapshot, else the last commit.
func (h *history) baseline() string {
	if h.made == h.path && h.path != "" {
		return "snapshot"
	}
	if r := h.result(); r != nil && r.Baseline != "" {
		// The snapshot on screen, whoever made it, and not the user's own.
		if i := r.BaselineInfo; i != nil && i.SnapshotID != "" {
			return "snapshot:" + i.SnapshotID
		}
		return r.Baseline
	}
	if len(h.project().Snapshots) == 0 {
		return "git:HEAD"
	}
	return "snapshot"
}

// missingCLI reports whether the result on screen failed for want of the command.
func (h *history) missingCLI() bool {
	r := h.result()
	return r != nil && r.Status == compare.Failed && r.ErrorCode == problem.CLINotFound
}

// newest are the last results of all projects.
func (h *history) newest() []*compare.Result {
	var out []*compare.Result
	for _, one := range h.state.Projects {
		if n := len(one.Results); n > 0 {
			out = append(out, one.Results[n-1])
		}
	}
	return out
}

func (h *history) whyNoProject() string {
	return tui.Because(h.path == "", "no project yet")
}

func (h *history) whyNoResult() string {
	return tui.Because(h.result() == nil, "nothing compared yet")
}

// snapshotID is the snapshot of the result's baseline, else the newest.
func (h *history) snapshotID() string {
	if r := h.result(); r != nil && r.BaselineInfo != nil && r.BaselineInfo.SnapshotID != "" {
		return r.BaselineInfo.SnapshotID
	}
	if list := h.project().Snapshots; len(list) > 0 {
		return list[0].ID
	}
	return ""
}

// pinned reports whether that snapshot is kept.
func (h *history) pinned() bool {
	return slices.ContainsFunc(h.project().Snapshots, func(s logicstamp.SnapshotInfo) bool { return s.ID == h.snapshotID() && s.Pinned })
}

func (h *history) whyNoSnapshot() string {
	return tui.Because(h.snapshotID() == "", "no snapshot; y makes one")
}
