package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/agents"
)

// events are what go test -json prints of tests that passed, or failed with an output.
func events(t *testing.T, lines ...string) outcome {
	t.Helper()
	var text strings.Builder
	for _, line := range lines {
		f := strings.SplitN(line, "|", 4)
		if len(f) == 4 {
			text.WriteString(`{"Action":"output","Package":"m/` + f[1] + `","Test":"` + f[2] + `","Output":"    x_test.go:1: ` + f[3] + `\n"}` + "\n")
		}
		text.WriteString(`{"Action":"` + f[0] + `","Package":"m/` + f[1] + `","Test":"` + f[2] + `"}` + "\n")
	}
	return read([]byte(text.String() + "no JSON\n" + `{"Action":"fail","Package":"m"}` + "\n"))
}

func TestTheVerdictSaysOnWhoseSideItIs(t *testing.T) {
	const real, contract = "cmd/mcpdeck", "TestRealAgentsKeepTheirContracts"
	kept := "pass|" + real + "|" + contract + "/claude/2.1.331"
	for _, tt := range []struct {
		name                 string
		ours, pinned, newest []string
		want                 string
	}{
		{"nothing fails", nil, nil, []string{kept}, "Claude Code 2.1.331: as it was"},
		{"a field less", nil, nil, []string{"fail|" + real + "|" + contract + "/claude/2.1.331|CHANGED claude 2.1.331, PermissionRequest: field tool_input missing"}, "Claude Code changed: 2.1.331, PermissionRequest: field tool_input missing"},
		{"a reply is taken for nothing", nil, nil, []string{kept, "fail|" + real + "|TestTheRealClaudeIsAnsweredInTheDeck/Bash", "fail|" + real + "|TestTheRealClaudeIsAnsweredInTheDeck"}, "Claude Code changed: 2.1.331, TestTheRealClaudeIsAnsweredInTheDeck/Bash"},
		{"a new value", nil, nil, []string{kept + "|NEW claude 2.1.331, session: field waitingFor has a new value"}, "Claude Code 2.1.331: as it was\nClaude Code 2.1.331 has something new: session: field waitingFor has a new value"},
		{"it cannot be installed", nil, nil, []string{"fail|" + real + "|" + contract + "/claude|cannot fetch claude-newest-2026-11-28: no such version"}, "Claude Code: the newest is not installable"},
		{"another agent in a test of all", nil, nil, []string{kept, "fail|" + real + "|TestRealAgentsInEditorsAreAnsweredThereOrInTheDeck/kilo|cannot fetch kilo-newest: no such version", "fail|" + real + "|TestRealAgentsInEditorsAreAnsweredThereOrInTheDeck"}, "Claude Code 2.1.331: as it was"},
		{"a test of all lacks another agent", nil, nil, []string{kept, "fail|" + real + "|TestEveryRowSaysWhatItsAgentShows|cannot fetch kilo-newest: no such version"}, "Claude Code 2.1.331: as it was"},
		{"it fails before it says its version", nil, nil, []string{"fail|" + real + "|TestTheRealClaudeIsAnsweredInTheDeck"}, "Claude Code changed: TestTheRealClaudeIsAnsweredInTheDeck"},
		{"it goes on without end", nil, nil, []string{kept, "run|" + real + "|TestTheRealClaudeIsAnsweredInTheDeck/Bash", "run|" + real + "|TestTheRealClaudeIsAnsweredInTheDeck"}, "Claude Code: not tested to the end: TestTheRealClaudeIsAnsweredInTheDeck/Bash"},
		{"an adapter", []string{"fail|servers/agents/approvals/claude|TestWhatWasRecordedOfPromptsIsUnderstood"}, []string{"fail|" + real + "|TestTheRealClaudeIsAnsweredInTheDeck"}, []string{"fail|" + real + "|TestTheRealClaudeIsAnsweredInTheDeck"}, "we broke Claude Code: TestWhatWasRecordedOfPromptsIsUnderstood"},
		{"the machine", nil, []string{"fail|" + real + "|TestTheRealClaudeIsAnsweredInTheDeck"}, []string{"fail|" + real + "|TestTheRealClaudeIsAnsweredInTheDeck"}, "Claude Code: the pin or the machine: TestTheRealClaudeIsAnsweredInTheDeck"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, line := range verdicts(events(t, tt.ours...), events(t, tt.pinned...), events(t, tt.newest...)) {
				if strings.Contains(line, "Claude Code") {
					got = append(got, line)
				} else if line != "Kilo CLI: the newest is not installable" && !strings.HasSuffix(line, ": not compared") {
					t.Errorf("another agent: %s", line)
				}
			}
			if s := strings.Join(got, "\n"); s != tt.want {
				t.Errorf("it says\n%s, want\n%s", s, tt.want)
			}
		})
	}
}

func TestWhatIsOfNoAgentIsOurs(t *testing.T) {
	all := verdicts(events(t, "fail|servers/agents/sessions|TestRows"), events(t), events(t))
	if all[0] != "we broke: TestRows" || len(all) != 1+len(agents.All()) {
		t.Errorf("it says %q", all)
	}
}

func TestEveryTestOfACellIsRun(t *testing.T) {
	if all := names(); !slices.Contains(all, "^TestEveryRowSaysWhatItsAgentShows$") || !slices.Contains(all, "kilo") {
		t.Errorf("run are %q", all)
	}
	if err := test("other", nil); err == nil {
		t.Error("a job was run that there is not")
	}
}
