package pencil

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
)

func TestCommand(t *testing.T) {
	gone := errors.New("no deck is running")
	tests := []struct {
		name  string
		args  []string
		fails error
		asked string
		usage bool
	}{
		{"on", []string{"on"}, nil, "{on [] false}", false},
		{"off", []string{"off"}, nil, "{off [] false}", false},
		{"status", []string{"status"}, nil, "{status [] false}", false},
		{"long status", []string{"status", "-l"}, nil, "{status [] true}", false},
		{"reconnect", []string{"reconnect"}, nil, "{reconnect [] false}", false},
		{"accept all", []string{"accept"}, nil, "{accept [] false}", false},
		{"accept some", []string{"accept", "a", "b"}, nil, "{accept [a b] false}", false},
		{"no deck", []string{"on"}, gone, "{on [] false}", false},
		{"nothing", nil, nil, "", true},
		{"unknown", []string{"dance"}, nil, "", true},
		{"too much", []string{"on", "now"}, nil, "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked := ""
			cmd := Command(func(_ context.Context, r upstream.Request) (upstream.Reply, error) {
				asked = fmt.Sprint(r)
				return upstream.Reply{Text: "done"}, tt.fails
			})
			var out bytes.Buffer
			cmd.SetOut(&out)
			cmd.SetErr(&out)
			cmd.SetArgs(tt.args)
			cmd.SilenceUsage, cmd.SilenceErrors = true, true
			err := cmd.ExecuteContext(t.Context())
			if asked != tt.asked || errors.As(err, new(exit.UsageError)) != tt.usage {
				t.Errorf("asked %q, %v", asked, err)
			}
			if !tt.usage && (!errors.Is(err, tt.fails) || tt.fails == nil && out.String() != "done\n") {
				t.Errorf("%v, %q", err, out.String())
			}
		})
	}
}
