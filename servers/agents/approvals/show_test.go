package approvals_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
)

func TestWhatIsNoticedAboutACommand(t *testing.T) {
	for command, want := range map[string]string{
		"go test ./...":              "",
		"rm -rf build\ngo test":      "",
		"cat ~/.ssh/id":              "outside the project",
		"cat ../x":                   "outside the project",
		"cat /p/sub/../../etc":       "outside the project",
		"cat /p/a >/dev/null":        "",
		"x 2>/dev/null >/dev/stderr": "",
		"cat /dev/null/../sda":       "outside the project",
		"cat /dev/sda":               "outside the project",
		"x >/dev/null 2>/p2":         "outside the project",
		"cat /p/a":                   "",
		"a\n":                        "",
		"ls a/../../b":               "outside the project",
		"echo a\u202eb":              "invisible characters",
		"X=/etc/passwd; cat \"$X":    "outside the project",
	} {
		if got := strings.Join(approvals.Marks(command, "/p"), ", "); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}

func TestEqualLabelsAreNumbered(t *testing.T) {
	all := []string{"a", "b", "a", "a (2)", "a"}
	approvals.Distinct(all, func(s *string) *string { return s })
	if want := []string{"a", "b", "a (2)", "a (2) (2)", "a (3)"}; !slices.Equal(all, want) {
		t.Errorf("got %q", all)
	}
}

func TestOptionsThatAnAnswerCannotTellApart(t *testing.T) {
	for name, tt := range map[string]struct {
		options []ask.Option
		want    bool
	}{
		"none": {nil, true}, "two": {[]ask.Option{{Label: "a"}, {Label: "b"}}, true}, "equal": {[]ask.Option{{Label: "a"}, {Label: "a"}}, false},
		"empty": {[]ask.Option{{}}, false},
	} {
		if got := approvals.Answerable(tt.options); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
