package host

import (
	"testing"
)

func TestWhatIsSaidOfAnUnknownTool(t *testing.T) {
	h := started(t, Options{Modules: []Module{
		&module{name: "ask", tools: []string{"ask", "ask_wait"}},
		&module{name: "pixelsrc", tools: []string{"pixelsrc_render", "pixelsrc_format", "pixelsrc_lint", "pixelsrc_line"}},
		&module{name: "clippy", tools: []string{"haunt_desktop", "play_system_sound"}},
		&module{name: "idle"},
		&module{name: "pencil", stub: "pencil_status"},
	}})
	tests := []struct {
		name, servers, tool, want string
	}{
		{"a slip", "", "pixelsrc_rendr", `no tool is called "pixelsrc_rendr"; did you mean "pixelsrc_render"?`},
		{"another case, other joints", "", "Haunt-Desktop", `no tool is called "Haunt-Desktop"; did you mean "haunt_desktop"?`},
		{"without the prefix", "", "render", `no tool is called "render"; did you mean "pixelsrc_render"?`},
		{"with one too many", "", "mcp__deck__haunt_desktop", `no tool is called "mcp__deck__haunt_desktop"; did you mean "haunt_desktop"?`},
		{"a word left out", "", "play_sound", `no tool is called "play_sound"; did you mean "play_system_sound"?`},
		{"of a server that is known", "", "pixelsrc_sculpture", `no tool is called "pixelsrc_sculpture"; the tools of pixelsrc are pixelsrc_render, pixelsrc_format, pixelsrc_lint, pixelsrc_line`},
		{"nothing like it", "", "wget", `no tool is called "wget"; tools/list has the 8 there are, of ask, pixelsrc, clippy`},
		{"of a server that was not asked for", "ask", "haunt_desktop", `no tool is called "haunt_desktop" on this connection: it is one of the server clippy, and this connection has only ask; connect to clippy as well, or to all servers`},
		{"short names are not guessed", "", "asm", `no tool is called "asm"; tools/list has the 8 there are, of ask, pixelsrc, clippy`},
		{"two are as near", "", "pixelsrc_linx", `no tool is called "pixelsrc_linx"; the tools of pixelsrc are pixelsrc_render, pixelsrc_format, pixelsrc_lint, pixelsrc_line`},
		{"what a terminal obeys", "", "x\x1b[2Jy", `no tool is called "xy"; tools/list has the 8 there are, of ask, pixelsrc, clippy`},
		{"where a server alone has one", "pencil", "pencil_state", `no tool is called "pencil_state"; did you mean "pencil_status"?`},
		{"nothing like the one there is", "pencil", "wget", `no tool is called "wget"; tools/list has the 1 there are, of pencil`},
		{"where there is none", "idle", "wget", `no tool is called "wget"; there are none at present`},
		{"no name", "", "", `no tool is called ""; tools/list has the 8 there are, of ask, pixelsrc, clippy`},
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
