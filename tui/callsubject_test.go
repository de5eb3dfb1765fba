package tui_test

import (
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
)

func TestACallIsSummedUpByWhatItIsAbout(t *testing.T) {
	tests := []struct{ name, args, want string }{
		{"a file", `{"scale":4,"file":"hero.pxl"}`, "hero.pxl"},
		{"a command", `{"path":"/src","command":"go test ./..."}`, "go test ./..."},
		{"no name that is known", `{"action":"get","key":"palette","deep":{"a":1},"on":true}`, "get palette"},
		{"a list", `{"ids":["hero","nav"],"n":3}`, "hero, nav 3"},
		{"cut in a text", `{"operations":"hero=I(root,{type:\"frame…`, `hero=I(root,{type:"frame…`},
		{"cut in an escape", `{"text":"a\u00…`, `a\u00…`},
		{"cut in a name", `{"path":"a.md","con…`, "a.md"},
		{"nothing", `{}`, ""},
		{"no object", `[1,2]`, "[1,2]"},
		{"control characters", `{"path":"a\u001b[2J\nb"}`, "a b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tui.CallSubject(&snapshot.Call{Args: tt.args}); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if got := tui.CallSubject(&snapshot.Call{Server: "ask", Args: `{"questions":[{"question":"Which?"}]}`}); got != "Which?" {
		t.Errorf("an ask is about %q", got)
	}
}

func TestARunningCallShowsHowFarItIs(t *testing.T) {
	th := theme.New(theme.Options{Dark: true})
	for _, tt := range []struct {
		done, total float64
		status      snapshot.CallStatus
		want        string
	}{
		{3, 5, snapshot.Running, "━━━━──── 3 of 5"},
		{0, 5, snapshot.Running, "──────── 0 of 5"},
		{450, 1000, snapshot.Running, "━━━───── 45 %"},
		{9, 5, snapshot.Running, "━━━━━━━━ 5 of 5"},
		{2.5, 10, snapshot.Running, "━━────── 25 %"},
		{3, 0, snapshot.Running, ""},
		{3, 5, snapshot.OK, ""},
	} {
		c := snapshot.Call{Status: tt.status, Done: tt.done, Total: tt.total, Started: time.Now(), Tool: "render"}
		if got := ansi.Strip(tui.Progress(th, &c)); got != tt.want {
			t.Errorf("%v of %v: %q, want %q", tt.done, tt.total, got, tt.want)
		}
	}
}

func FuzzCallSubject(f *testing.F) {
	f.Add(`{"a":[1,{"b":"c\"]"}],"path":"x`)
	f.Fuzz(func(_ *testing.T, args string) { tui.CallSubject(&snapshot.Call{Args: args}) })
}
