package approvals_test

import (
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
)

func TestCellsSayWhatWasRunAndWhatWasNot(t *testing.T) {
	papers := approvals.Cells{State: approvals.Contract(""), Prompt: approvals.Contract("seen"), Answer: approvals.Impossible("in its terminal")}
	run := papers
	run.Answer = approvals.Measured("TestReal", "shared")
	for _, tt := range []struct{ got, want string }{
		{papers.State.String(), "untested"},
		{papers.Prompt.String(), "untested, seen"},
		{papers.Answer.String(), "no: in its terminal"},
		{papers.Usage.String(), "no"},
		{run.Answer.String(), "shared"},
		{papers.Shown(), "state, permissions"},
		{papers.Answered(), "nothing"},
		{run.Answered(), "permissions"},
	} {
		if tt.got != tt.want {
			t.Errorf("it says %q, want %q", tt.got, tt.want)
		}
	}
	if !papers.Untested() || run.Untested() {
		t.Errorf("untested: %v, %v", papers.Untested(), run.Untested())
	}
}
