package tui_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
	"github.com/mcpdeck/mcpdeck/tui"
)

func TestTheScreenRunsUntilItIsEnded(t *testing.T) {
	over := errors.New("ended by hangup")
	tests := []struct {
		name string
		end  func(cancel context.CancelCauseFunc, in io.Writer)
		want error
	}{
		{"the user quits", func(_ context.CancelCauseFunc, in io.Writer) { _, _ = io.WriteString(in, "q") }, nil},
		{"ctrl+c quits", func(_ context.CancelCauseFunc, in io.Writer) { _, _ = io.WriteString(in, "\x03") }, nil},
		{"the context ends", func(cancel context.CancelCauseFunc, _ io.Writer) { cancel(over) }, over},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				r, w := io.Pipe()
				out := &tui.Written{}
				done := make(chan error, 1)
				go func() {
					done <- tui.Run(ctx, tui.Options{
						Pages: []tui.Page{&page{id: "one", title: "One"}}, Background: "dark",
						Input: r, Output: out, Environ: []string{"TERM=xterm-256color"},
						Program: []tea.ProgramOption{tea.WithWindowSize(60, 20)},
					})
				}()
				testwait.Pass(time.Second)
				tt.end(cancel, w)
				if err := <-done; !errors.Is(err, tt.want) {
					t.Errorf("ended with %v, want %v", err, tt.want)
				}
				w.Close()
				got := out.String()
				if !strings.HasPrefix(got, "\x1b[22;2t") || !strings.HasSuffix(got, "\x1b[23;2t") {
					t.Error("the title was not kept and given back")
				}
				if i := strings.LastIndex(got, "\x1b]7501;"); i < 0 || !strings.HasPrefix(got[i:], "\x1b]7501;state=clear:id=mcpdeck\a") {
					t.Error("the terminal still has the deck's status")
				}
				for _, mode := range []string{"\x1b[?1049", "\x1b[?1002", "\x1b[?2004"} {
					if strings.LastIndex(got, mode+"l") < strings.LastIndex(got, mode+"h") {
						t.Errorf("mode %q was left on", mode)
					}
				}
				testwait.Pass(time.Minute)
			})
		})
	}
}
