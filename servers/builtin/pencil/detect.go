package pencil

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// Found is the program that a search chose.
type Found struct {
	Program string // path
	Source  string // where it was found: "pencil.command", "installed app", "~/.cursor/mcp.json"
	App     string // which app it is to talk to
}

// candidate is a program that may be there, and the app that goes with it.
type candidate struct {
	path, source, app string
}

// platform is the system to search on.
type platform struct {
	os, arch string // as Go names them
}

// fileNames are the names the program goes by, best first. A program for
// another processor is taken where the system translates it.
func (p platform) fileNames() []string {
	archs := map[string]string{"amd64": "x64", "arm64": "arm64"}
	list := []string{archs[p.arch]}
	if p.arch == "arm64" && p.os != "linux" {
		list = append(list, "x64")
	}
	var out []string
	for _, a := range list {
		if p.os == "windows" {
			out = append(out, "mcp-server-windows-"+a+".exe", "mcp-server-win32-"+a+".exe")
		} else {
			out = append(out, "mcp-server-"+p.os+"-"+a)
		}
	}
	return out
}

// search is one search for the program.
type search struct {
	o        Options
	p        platform
	searched []upstream.Candidate
}

// find searches for the program. Its error is a sentence for the user.
func find(o Options) (Found, []upstream.Candidate, error) {
	s := &search{o: o, p: platform{runtime.GOOS, runtime.GOARCH}}
	f, err := s.run()
	return f, s.searched, err
}

func (s *search) run() (Found, error) {
	if s.o.Command != "" {
		return s.configured()
	}
	for _, places := range []func() []candidate{
		s.mounted, s.installed, s.clients, s.editors, s.commandLine, s.seedPlaces,
	} {
		for _, c := range places() {
			if f, ok := s.try(c); ok {
				return f, nil
			}
		}
	}
	return Found{}, fmt.Errorf("Pencil not found (%s searched). Install it from pen.dev or set pencil.command.", humanize.Count(len(s.searched), "place")) //nolint:staticcheck // a sentence for the user
}

// configured takes what the user named, and nothing else.
func (s *search) configured() (Found, error) {
	path := s.o.Command
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(s.o.Home, rest)
	}
	if !strings.ContainsAny(path, `/\`) {
		if p := s.onPath(path); p != "" {
			path = p
		}
	}
	reason := unusable(path)
	s.searched = append(s.searched, upstream.Candidate{Path: s.o.short(path), Source: "pencil.command", Reason: reason})
	if reason != "" {
		return Found{}, fmt.Errorf("pencil.command does not work: %s: %s", s.o.short(path), reason)
	}
	return s.found(candidate{path: path, source: "pencil.command"}), nil
}

func (s *search) try(c candidate) (Found, bool) {
	reason := unusable(c.path)
	s.searched = append(s.searched, upstream.Candidate{Path: s.o.short(c.path), Source: c.source, Reason: reason})
	return s.found(c), reason == ""
}

func (s *search) found(c candidate) Found {
	f := Found{Program: c.path, Source: c.source, App: c.app}
	if s.o.App != "" {
		f.App = s.o.App
	}
	f.App = cmp.Or(f.App, "desktop")
	return f
}

// unusable says why a file cannot be the program, "" when it can. It is looked
// at, never run.
func unusable(path string) string {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "not there"
	case err != nil:
		return "not readable"
	case !info.Mode().IsRegular():
		return "not a file"
	case runtime.GOOS != "windows" && info.Mode()&0o111 == 0:
		return "not executable"
	}
	f, err := file.OpenPlain(path, true)
	if err != nil {
		return "not readable"
	}
	f.Close()
	return ""
}

// in makes a candidate of each name the program may have in dir.
func (s *search) in(dir, source, app string) []candidate {
	var out []candidate
	for _, name := range s.p.fileNames() {
		out = append(out, candidate{filepath.Join(dir, name), source, app})
	}
	return out
}

// at is an absolute path on the system searched.
func (s *search) at(path string) string {
	if s.o.sysroot != "" {
		return filepath.Join(s.o.sysroot, path)
	}
	return filepath.FromSlash(path)
}

func (s *search) home(path ...string) string {
	return filepath.Join(append([]string{s.o.Home}, path...)...)
}

// mounted finds a running AppImage, whose folder is another one each time.
func (s *search) mounted() []candidate {
	if s.p.os != "linux" {
		return nil
	}
	var out []candidate
	links, err := filepath.Glob(s.at("/proc/[0-9]*/exe"))
	if err != nil {
		return nil
	}
	var seen []string
	for _, l := range links {
		exe, err := os.Readlink(l)
		if err != nil {
			continue
		}
		mount := mountOf(exe)
		if mount == "" || slices.Contains(seen, mount) {
			continue
		}
		seen = append(seen, mount)
		out = append(out, s.in(filepath.Join(mount, "resources/app.asar.unpacked/out"), "running AppImage", "")...)
	}
	return out
}

// mountOf is the part of a path up to the folder where an AppImage of the app
// is mounted.
func mountOf(exe string) string {
	parts := strings.Split(exe, "/")
	for i, p := range parts {
		if strings.HasPrefix(p, ".mount_Pen") && i < len(parts)-1 {
			return strings.Join(parts[:i+1], "/")
		}
	}
	return ""
}

// installed finds the desktop app, under its new name before the old one.
func (s *search) installed() []candidate {
	var roots []string
	switch s.p.os {
	case "darwin":
		for _, app := range []string{"Pen", "Pencil"} {
			roots = append(roots, s.at("/Applications/"+app+".app/Contents/Resources"),
				s.home("Applications", app+".app", "Contents", "Resources"))
		}
	case "windows":
		for _, app := range []string{"Pen", "Pencil"} {
			if d := s.o.variable("LOCALAPPDATA"); d != "" {
				roots = append(roots, filepath.Join(d, "Programs", app, "resources"))
			}
			if d := s.programFiles(); d != "" {
				roots = append(roots, filepath.Join(d, app, "resources"))
			}
		}
		for _, d := range uninstallFolders() {
			roots = append(roots, filepath.Join(d, "resources"))
		}
	case "linux":
		for _, app := range []string{"Pen", "Pencil"} {
			low := strings.ToLower(app)
			roots = append(roots, s.at("/opt/"+app+"/resources"), s.at("/opt/"+low+"/resources"),
				s.at("/usr/lib/"+low+"/resources"), s.at("/usr/lib/"+app+"/resources"), s.home(".local/share", app, "resources"))
		}
		for _, d := range []string{s.home(), s.home("Applications"), s.home(".local/bin"), s.at("/opt")} {
			roots = append(roots, filepath.Join(d, "squashfs-root", "resources"))
		}
	}
	var out []candidate
	for _, r := range roots {
		out = append(out, s.in(filepath.Join(r, "app.asar.unpacked", "out"), "installed app", "")...)
	}
	return out
}

func (s *search) programFiles() string {
	if d := s.o.variable("ProgramFiles"); d != "" {
		return d
	}
	return s.o.variable("PROGRAMFILES")
}

// editors finds the copies that editors have: their own folder, then their
// extensions, the highest version first.
func (s *search) editors() []candidate {
	var out []candidate
	if dirs, err := filepath.Glob(s.home(".pencil/mcp/*/out")); err == nil {
		for _, d := range dirs {
			editor := filepath.Base(filepath.Dir(d))
			out = append(out, s.in(d, "copy for "+editor, editor)...)
		}
	}
	for _, editor := range []string{
		"vscode", "vscode-insiders", "vscode-oss", "vscode-server", "cursor", "cursor-server", "windsurf", "antigravity", "kiro", "trae",
	} {
		dirs, err := filepath.Glob(s.home("."+editor, "extensions", "highagency.pencildev-*", "out"))
		if err != nil {
			continue
		}
		slices.SortStableFunc(dirs, func(a, b string) int { return compareVersions(extensionVersion(b), extensionVersion(a)) })
		app := strings.TrimSuffix(editor, "-server")
		if strings.HasPrefix(editor, "vscode") {
			app = "visual_studio_code"
		}
		for _, d := range dirs {
			out = append(out, s.in(d, "extension of "+editor, app)...)
		}
	}
	return out
}

func extensionVersion(out string) string {
	_, v, _ := strings.Cut(filepath.Base(filepath.Dir(out)), "pencildev-")
	return v
}

// compareVersions compares the numbers of two versions, so that 0.6.10 comes
// behind 0.6.9; what follows the numbers does not count.
func compareVersions(a, b string) int {
	return slices.Compare(versionNumbers(a), versionNumbers(b))
}

func versionNumbers(v string) []int {
	v, _, _ = strings.Cut(v, "-")
	var out []int
	for _, p := range strings.Split(v, ".") {
		n, err := strconv.Atoi(p)
		if err != nil {
			break
		}
		out = append(out, n)
	}
	return out
}

// commandLine finds the program inside the command line package.
func (s *search) commandLine() []candidate {
	var out []candidate
	for _, name := range []string{"pen", "pencil"} {
		path := s.onPath(name)
		if path == "" {
			continue
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		if dir := filepath.Dir(real); filepath.Base(real) == "index.mjs" && filepath.Base(dir) == "dist" {
			out = append(out, s.in(filepath.Join(dir, "out"), "command line package", "")...)
		}
	}
	return out
}

// onPath is the first executable of that name on the PATH, "" when there is
// none.
func (s *search) onPath(name string) string {
	for _, dir := range filepath.SplitList(s.o.variable("PATH")) {
		if path := filepath.Join(dir, name); filepath.IsAbs(dir) && unusable(path) == "" {
			return path
		}
	}
	return ""
}

// seedPlaces are short paths that early notes about the program name.
func (s *search) seedPlaces() []candidate {
	var dirs []string
	switch s.p.os {
	case "linux":
		dirs = []string{s.at("/usr/lib/pencil"), s.at("/opt/Pencil")}
	case "windows":
		for _, d := range []string{s.o.variable("LOCALAPPDATA"), s.programFiles()} {
			if d != "" {
				dirs = append(dirs, filepath.Join(d, "Pencil"))
			}
		}
	}
	var out []candidate
	for _, d := range dirs {
		out = append(out, s.in(d, "early install path", "")...)
	}
	return out
}

// Find looks for the program without starting it, and returns where it looked. The error says
// what to do.
func (p *Pencil) Find() (Found, []upstream.Candidate, error) { return find(p.opts) }
