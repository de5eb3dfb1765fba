package router

import (
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend"
)

func TestWhatIsSaidOfAnUnknownTool(t *testing.T) {
	h := started(t, Options{Servers: []backend.Server{
		&module{name: "ask", tools: []string{"ask", "ask_wait"}},
		&module{name: "pixelsrc", tools: []string{"pixelsrc_render", "pixelsrc_format", "pixelsrc_lint", "pixelsrc_line"}},
		&module{name: "clippy", tools: []string{"haunt_desktop", "play_system_sound"}},
		&module{name: "idle"},
		&module{name: "pencil", stub: "pencil_status"},
	}})
	tests := []struct {
		name, servers, tool, want string
	}{
		{"a slip", "", "pixelsrc_rendr", `unknown tool "pixelsrc_rendr"; did you mean "pixelsrc_render"?`},
		{"another case, other joints", "", "Haunt-Desktop", `unknown tool "Haunt-Desktop"; did you mean "haunt_desktop"?`},
		{"without the prefix", "", "render", `unknown tool "render"; did you mean "pixelsrc_render"?`},
		{"with one too many", "", "mcp__deck__haunt_desktop", `unknown tool "mcp__deck__haunt_desktop"; did you mean "haunt_desktop"?`},
		{"a word left out", "", "play_sound", `unknown tool "play_sound"; did you mean "play_system_sound"?`},
		{"of a server that is known", "", "pixelsrc_sculpture", `unknown tool "pixelsrc_sculpture"; the tools of pixelsrc are pixelsrc_render, pixelsrc_format, pixelsrc_lint, pixelsrc_line`},
		{"nothing like it", "", "wget", `unknown tool "wget"; call tools/list to see the tools of ask, pixelsrc, clippy`},
		{"of a server that was not asked for", "ask", "haunt_desktop", `unknown tool "haunt_desktop" on this connection: it belongs to clippy, which this connection does not include; connect to clippy too, or to all servers`},
		{"short names are not guessed", "", "asm", `unknown tool "asm"; call tools/list to see the tools of ask, pixelsrc, clippy`},
		{"two are as near", "", "pixelsrc_linx", `unknown tool "pixelsrc_linx"; the tools of pixelsrc are pixelsrc_render, pixelsrc_format, pixelsrc_lint, pixelsrc_line`},
		{"what a terminal obeys", "", "x\x1b[2Jy", `unknown tool "xy"; call tools/list to see the tools of ask, pixelsrc, clippy`},
		{"where a server alone has one", "pencil", "pencil_state", `unknown tool "pencil_state"; did you mean "pencil_status"?`},
		{"nothing like the one there is", "pencil", "wget", `unknown tool "wget"; call tools/list to see the tools of pencil`},
		{"where there is none", "idle", "wget", `unknown tool "wget"; there are no tools now`},
		{"no name", "", "", `unknown tool ""; call tools/list to see the tools of ask, pixelsrc, clippy`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var spec ViewSpec
			if tt.servers != "" {
				spec.Servers = []string{tt.servers}
			}
			v, err := h.View(spec)
			if err != nil {
				t.Fatal(err)
			}
			if got := v.unknown(tt.tool); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
