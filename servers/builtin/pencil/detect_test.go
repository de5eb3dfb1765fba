package pencil

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

// computer is a made-up computer.
type computer struct {
	t *testing.T
	s *search
}

func newComputer(t *testing.T, p platform) *computer {
	t.Helper()
	root := t.TempDir()
	o := Options{sysroot: filepath.Join(root, "sys"), Home: filepath.Join(root, "home"), Root: filepath.Join(root, "project")}
	o.Environ = []string{"LOCALAPPDATA=" + filepath.Join(root, "local"), "ProgramFiles=" + filepath.Join(root, "programs"), "PATH=" + filepath.Join(root, "bin")}
	return &computer{t, &search{o: o, p: p}}
}

// path expands ~, $P (project), $S (system), $L, $F (Windows folders).
func (h *computer) path(p string) string {
	root := filepath.Dir(h.s.o.Home)
	return strings.NewReplacer("~", h.s.o.Home, "$P", h.s.o.Root, "$S", h.s.o.sysroot, "$L", filepath.Join(root, "local"),
		"$F", filepath.Join(root, "programs"), "$B", filepath.Join(root, "bin")).Replace(p)
}

func (h *computer) put(path, content string, mode os.FileMode) {
	h.t.Helper()
	path = h.path(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(h.path(content)), mode); err != nil {
		h.t.Fatal(err)
	}
}

const (
	linux64 = "mcp-server-linux-x64"
	outDir  = "/resources/app.asar.unpacked/out/"
)

// Each kind of place, under the names that the system and the
// processor allow, and the app that it stands for.
func TestPlacesOfTheProgram(t *testing.T) {
	linux, mac, win := platform{"linux", "amd64"}, platform{"darwin", "arm64"}, platform{"windows", "amd64"}
	macOut := ".app/Contents/Resources/app.asar.unpacked/out/mcp-server-darwin-arm64"
	winOut := `/resources/app.asar.unpacked/out/mcp-server-windows-x64.exe`
	tests := []struct {
		name string
		p    platform
		at   string
		app  string
	}{
		{"macOS", mac, "$S/Applications/Pen" + macOut, "desktop"},
		{"macOS, old name", mac, "$S/Applications/Pencil" + macOut, "desktop"},
		{"macOS, own folder", mac, "~/Applications/Pen" + macOut, "desktop"},
		{"macOS, other processor", mac, "$S/Applications/Pen.app/Contents/Resources/app.asar.unpacked/out/mcp-server-darwin-x64", "desktop"},
		{"Windows", win, "$L/Programs/Pen" + winOut, "desktop"},
		{"Windows, all users", win, "$F/Pencil" + winOut, "desktop"},
		{"Windows, other spelling", win, "$L/Programs/Pen/resources/app.asar.unpacked/out/mcp-server-win32-x64.exe", "desktop"},
		{"Windows, early path", win, "$L/Pencil/mcp-server-win32-x64.exe", "desktop"},
		{"Linux, /opt", linux, "$S/opt/Pen" + outDir + linux64, "desktop"},
		{"Linux, /opt small", linux, "$S/opt/pencil" + outDir + linux64, "desktop"},
		{"Linux, /usr/lib", linux, "$S/usr/lib/pen" + outDir + linux64, "desktop"},
		{"Linux, own", linux, "~/.local/share/Pencil" + outDir + linux64, "desktop"},
		{"Linux, unpacked", linux, "~/Applications/squashfs-root" + outDir + linux64, "desktop"},
		{"Linux, early path", linux, "$S/usr/lib/pencil/" + linux64, "desktop"},
		{"editor's copy", linux, "~/.pencil/mcp/cursor/out/" + linux64, "cursor"},
		{"VS Code extension", linux, "~/.vscode/extensions/highagency.pencildev-0.6.9/out/" + linux64, "visual_studio_code"},
		{"extension on a server", linux, "~/.cursor-server/extensions/highagency.pencildev-0.6.9-linux/out/" + linux64, "cursor"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newComputer(t, tt.p)
			h.put(tt.at, "", 0o700)
			f, err := h.s.run()
			if err != nil || f.Program != h.path(tt.at) || f.App != tt.app {
				t.Errorf("found %+v, %v", f, err)
			}
		})
	}
}

func TestPlacesAreSearchedInOrder(t *testing.T) {
	h := newComputer(t, platform{"linux", "amd64"})
	_, err := h.s.run()
	if err == nil || !strings.Contains(err.Error(), "places searched). Install it from pen.dev") {
		t.Fatalf("nothing is there: %v", err)
	}
	// From last to first: each new one wins.
	places := []string{
		"$S/usr/lib/pencil/" + linux64,
		"~/.vscode/extensions/highagency.pencildev-0.6.9/out/" + linux64,
		"~/.vscode/extensions/highagency.pencildev-0.6.10/out/" + linux64,
		"~/.vscode/extensions/highagency.pencildev-0.6.74/out/" + linux64,
		"~/.pencil/mcp/kiro/out/" + linux64,
		"$S/opt/Pencil" + outDir + linux64,
		"$S/opt/Pen" + outDir + linux64,
		"$S/tmp/.mount_PenX1" + outDir + linux64,
	}
	for _, p := range places {
		h.put(p, "", 0o700)
		if strings.Contains(p, ".mount_Pen") {
			h.put("$S/proc/12/comm", "pen", 0o600)
			if err := os.Symlink(h.path("$S/tmp/.mount_PenX1/pen"), h.path("$S/proc/12/exe")); err != nil {
				t.Fatal(err)
			}
		}
		if f, err := h.s.run(); err != nil || f.Program != h.path(p) {
			t.Errorf("want %s, found %+v, %v", h.path(p), f, err)
		}
	}
}

func TestCommandLinePackageIsFound(t *testing.T) {
	h := newComputer(t, platform{"linux", "amd64"})
	h.put("~/lib/cli/dist/index.mjs", "", 0o700)
	h.put("~/lib/cli/dist/out/"+linux64, "", 0o700)
	h.put("$B/x", "", 0o600)
	if err := os.Symlink(h.path("~/lib/cli/dist/index.mjs"), h.path("$B/pencil")); err != nil {
		t.Fatal(err)
	}
	f, err := h.s.run()
	if err != nil || f.Source != "command line package" || f.App != "desktop" {
		t.Errorf("found %+v, %v", f, err)
	}
}

func TestProgramIsFoundInClientConfigurations(t *testing.T) {
	entry := `{"command":"~/x/` + linux64 + `","args":["--app","cursor"]}`
	tests := []struct{ name, file, content, app string }{
		{"Claude Code", "~/.claude.json", `{"mcpServers":{"pencil":` + entry + `}}`, "cursor"},
		{"Claude Code, this project", "~/.claude.json", `{"projects":{"$P":{"mcpServers":{"pencil":` + entry + `}}}}`, "cursor"},
		{"Claude Code, another project", "~/.claude.json", `{"projects":{"/other":{"mcpServers":{"pencil":` + entry + `}}}}`, ""},
		{"project", "$P/.mcp.json", `{"mcpServers":{"pencil":` + entry + `}}`, "cursor"},
		{"Cursor", "~/.cursor/mcp.json", `{"mcpServers":{"pencil":` + entry + `}}`, "cursor"},
		{"VS Code, with comments", "$P/.vscode/mcp.json", "// mine\n{\"servers\":{\"pencil\":" + entry + ",/* no more */},}", "cursor"},
		{"Codex", "~/.codex/config.toml", "[mcp_servers.pencil]\ncommand = '~/x/" + linux64 + "'\nargs = ['-app=vscode']\n", "vscode"},
		{"OpenCode", "~/.config/opencode/opencode.json", `{"mcp":{"pencil":{"command":["~/x/` + linux64 + `","-app","x"]}}}`, "x"},
		{"Gemini CLI, this project", "$P/.gemini/settings.json", `{"mcpServers":{"pencil":` + entry + `}}`, "cursor"},
		{"no app", "~/.gemini/settings.json", `{"mcpServers":{"pencil":{"command":"~/x/` + linux64 + `"}}}`, "desktop"},
		{"the deck itself", "~/.cursor/mcp.json", `{"mcpServers":{"pencil":{"command":"/usr/bin/mcpdeck","args":["mcp","pencil"]}}}`, ""},
		{"the file is gone", "~/.cursor/mcp.json", `{"mcpServers":{"pencil":{"command":"/old/` + linux64 + `"}}}`, ""},
		{"not JSON", "~/.cursor/mcp.json", `{"mcpServers":`, ""},
		{"odd types", "~/.cursor/mcp.json", `{"mcpServers":{"pencil":{"command":7}}}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newComputer(t, platform{"linux", "amd64"})
			h.put("~/x/"+linux64, "", 0o700)
			h.put(tt.file, tt.content, 0o600)
			f, err := h.s.run()
			if (err == nil) != (tt.app != "") || tt.app != "" && (f.App != tt.app || f.Program != h.path("~/x/"+linux64)) {
				t.Errorf("found %+v, %v, searched %v", f, err, h.s.searched[:1])
			}
		})
	}
}

func TestRejectedCandidatesSayWhy(t *testing.T) {
	h := newComputer(t, platform{"linux", "amd64"})
	h.put("$S/opt/Pen"+outDir+linux64, "", 0o600)
	h.put("~/.local/share/Pen"+outDir+linux64+"/x", "", 0o600)
	h.put("~/.cursor/mcp.json", `{"mcpServers":{"pencil":{"command":"/usr/bin/mcpdeck"}}}`, 0o600)
	h.put("~/.pencil/mcp/kiro/out/"+linux64, "", 0o700)
	f, err := h.s.run()
	if err != nil || f.App != "kiro" {
		t.Fatal(f, err)
	}
	var all []string
	for _, c := range h.s.searched {
		all = append(all, c.Path+" ("+c.Source+"): "+c.Reason)
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{
		"/opt/Pen" + outDir + linux64 + " (installed app): not executable",
		"~/.local/share/Pen" + outDir + linux64 + " (installed app): not a file",
		"/usr/bin/mcpdeck (~/.cursor/mcp.json): not named as Pencil's MCP server",
		"~/.pencil/mcp/kiro/out/" + linux64 + " (copy for kiro): ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
}

func TestConfiguredCommandIsTheOnlyOne(t *testing.T) {
	h := newComputer(t, platform{"linux", "amd64"})
	h.put("$S/opt/Pen"+outDir+linux64, "", 0o700)
	h.put("~/mine", "", 0o700)
	h.put("$B/mine2", "", 0o700)
	for command, want := range map[string]string{"~/mine": h.path("~/mine"), "mine2": h.path("$B/mine2"), h.path("~/mine"): h.path("~/mine")} {
		h.s.o.Command = command
		if f, err := h.s.run(); err != nil || f.Program != want || f.App != "desktop" {
			t.Errorf("%s: %+v, %v", command, f, err)
		}
	}
	h.s.o.Command = "~/none"
	if _, err := h.s.run(); err == nil || err.Error() != "pencil.command does not work: ~/none: not there" {
		t.Errorf("got %v", err)
	}
}

func FuzzClientConfiguration(f *testing.F) {
	f.Add([]byte("{\"a\":1,// x\n\"b\":[1,2,/* y */],}"))
	f.Add([]byte(`{"mcpServers":{"pencil":{"command":["/x",7],"args":{}}}}`))
	f.Add([]byte("[mcp_servers.pencil]\ncommand = 'x'\nargs = ['a']\nn = inf"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		h := newComputer(t, platform{"linux", "amd64"})
		for file, g := range map[string]clients.Grammar{"~/a": clients.JSONC, "~/b": clients.TOML} {
			h.put(file, string(raw), 0o600)
			for _, c := range h.s.configuration(h.path(file), g, [][]string{{"mcpServers"}, {"mcp_servers"}}) {
				if !filepath.IsAbs(c.path) {
					t.Errorf("%q: %q may be started", raw, c.path)
				}
			}
		}
	})
}

func TestFindTellsWhereItLooked(t *testing.T) {
	h := newComputer(t, platform{"linux", "amd64"})
	h.put("~/bin/pencil", "#!/bin/sh", 0o700)
	h.s.o.Command = h.path("~/bin/pencil")
	if f, _, err := New(h.s.o).Find(); err != nil || f.Program != h.path("~/bin/pencil") {
		t.Errorf("got %+v, %v", f, err)
	}
	h.s.o.Command = h.path("~/bin/nothing")
	if _, _, err := New(h.s.o).Find(); err == nil || !strings.Contains(err.Error(), "~/bin/nothing") {
		t.Errorf("got %v, want the place that was searched", err)
	}
}

func TestTheSignNeedsNoColour(t *testing.T) {
	seen := map[string]bool{}
	for tone := upstream.Dim; tone <= upstream.Bad; tone++ {
		plain := Label(upstream.Sign{Tone: tone}, true)
		seen[plain], seen[Label(upstream.Sign{Tone: tone}, false)] = true, true
		if strings.IndexFunc(plain, func(r rune) bool { return r > 126 }) >= 0 {
			t.Errorf("%q is not ASCII", plain)
		}
	}
	if len(seen) != 2*int(upstream.Bad) {
		t.Errorf("some tones look the same: %v", seen)
	}
	if s := Label(upstream.Sign{}, false); s != "" {
		t.Errorf("no sign is %q", s)
	}
}

func TestTheGatewayGoesToWhomTheSettingsSay(t *testing.T) {
	for setting, want := range map[string]upstream.Audience{"always": upstream.AllClients, "never": upstream.NoClient, "": upstream.ClientsThatKeepLists, "auto": upstream.ClientsThatKeepLists} {
		if got := (Options{Gateway: setting}).gateway(); got.Audience != want || got.Tool != CallTool {
			t.Errorf("%q: got %+v, want audience %v", setting, got, want)
		}
	}
}
