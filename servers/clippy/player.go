package clippy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// soundRow is what to play for one sound on each kind of system; the first file
// that exists is taken.
type soundRow struct{ windows, mac, linux []string }

func soundRows() map[string]soundRow {
	return map[string]soundRow{
		"error": {
			windows: []string{"Windows Error.wav", "Windows Critical Stop.wav", "chord.wav"},
			mac:     []string{"Basso.aiff", "Sosumi.aiff"},
			linux:   []string{"dialog-error", "suspend-error"},
		},
		"warning": {
			windows: []string{"Windows Notify.wav", "Windows Exclamation.wav", "notify.wav"},
			mac:     []string{"Funk.aiff", "Ping.aiff"},
			linux:   []string{"dialog-warning", "bell"},
		},
		"success": {
			windows: []string{"tada.wav", "chimes.wav", "ding.wav"},
			mac:     []string{"Glass.aiff", "Hero.aiff"},
			linux:   []string{"complete", "message", "dialog-information"},
		},
	}
}

// command is one way to play a sound.
type command struct {
	name string // for people: "paplay"
	path string
	args []string
	env  []string // beyond the process's own
}

// machine is what players depend on. The zero value of a path means the usual
// place.
type machine struct {
	system  string // as in runtime.GOOS
	release string // of the Linux kernel
	home    string
	cache   string // where the deck's own tones are kept
	env     func(string) string
	environ []string // the deck's, of which players get a few variables

	macSounds string // "/System/Library/Sounds"
	wslSocket string // "/mnt/wslg/PulseServer"
	wslSystem string // "/mnt/c/Windows/System32"
}

// commands lists the ways to play the sound here, best first. Files and
// programs are known to exist.
func (m *machine) commands(sound string) []command {
	row := soundRows()[sound]
	switch {
	case m.system == "darwin":
		return m.mac(sound, row)
	case m.system == "windows":
		return m.windows(sound, row)
	case m.system == "linux" && m.isWSL():
		return m.wsl(sound, row)
	case slices.Contains([]string{"linux", "freebsd", "netbsd", "openbsd", "dragonfly"}, m.system):
		return m.unix(sound, row)
	}
	return nil
}

func (m *machine) mac(sound string, row soundRow) []command {
	player := m.program("afplay")
	file := firstFile(m.macSounds, row.mac)
	if file == "" {
		file = m.tone(sound)
	}
	if player == "" || file == "" {
		return nil
	}
	return []command{{name: "afplay", path: player, args: []string{file}}}
}

func (m *machine) windows(sound string, row soundRow) []command {
	root := m.env("SystemRoot")
	shell := filepath.Join(root, "System32", "WindowsPowerShell", "v1.0", "powershell.exe")
	if root == "" || !isFile(shell) {
		return nil
	}
	if firstFile(filepath.Join(root, "Media"), row.windows) != "" {
		return []command{{name: "powershell", path: shell, args: script(row.windows)}}
	}
	file := m.tone(sound)
	if file == "" {
		return nil
	}
	return []command{{
		name: "powershell", path: shell, args: powershell("(New-Object Media.SoundPlayer $env:MCPDECK_TONE).PlaySync()"),
		env: []string{"MCPDECK_TONE=" + file},
	}}
}

func powershell(code string) []string {
	return []string{"-NoProfile", "-NonInteractive", "-Command", code}
}

// script plays the first of the files that Windows has; its text depends on
// nothing from outside.
func script(files []string) []string {
	return powershell("foreach ($n in '" + strings.Join(files, "','") + "') { $p = Join-Path $env:SystemRoot ('Media\\' + $n); " +
		"if (Test-Path -LiteralPath $p -PathType Leaf) { (New-Object Media.SoundPlayer $p).PlaySync(); exit 0 } }; exit 1")
}

// isWSL tells whether this Linux runs inside Windows.
func (m *machine) isWSL() bool {
	return strings.Contains(strings.ToLower(m.release), "microsoft") || m.env("WSL_DISTRO_NAME") != "" || m.env("WSL_INTEROP") != ""
}

// wsl never uses aplay: there are no sound cards.
func (m *machine) wsl(sound string, row soundRow) []command {
	var all []command
	if _, err := os.Stat(m.wslSocket); err == nil || m.env("PULSE_SERVER") != "" {
		all = m.servers(m.file(sound, row))
	}
	shell := m.program("powershell.exe")
	if usual := filepath.Join(m.wslSystem, "WindowsPowerShell", "v1.0", "powershell.exe"); shell == "" && isFile(usual) {
		shell = usual
	}
	if shell != "" {
		all = append(all, command{name: "powershell.exe", path: shell, args: script(row.windows)})
	}
	return all
}

func (m *machine) unix(sound string, row soundRow) []command {
	file := m.file(sound, row)
	all := m.servers(file)
	if p := m.program("canberra-gtk-play"); p != "" && (m.env("DISPLAY") != "" || m.env("WAYLAND_DISPLAY") != "") {
		all = append(all, command{name: "canberra-gtk-play", path: p, args: []string{"-i", row.linux[0]}})
	}
	if p := m.program("aplay"); p != "" {
		// It plays anything but WAV as raw noise.
		if !strings.HasSuffix(file, ".wav") {
			file = m.tone(sound)
		}
		if file != "" {
			all = append(all, command{name: "aplay", path: p, args: []string{"-q", file}})
		}
	}
	return all
}

// servers are the players that talk to a sound server.
func (m *machine) servers(file string) []command {
	var all []command
	for _, name := range []string{"pw-play", "paplay"} {
		if p := m.program(name); p != "" && file != "" {
			all = append(all, command{name: name, path: p, args: []string{file}})
		}
	}
	return all
}

// file is the sound of the freedesktop theme, else the deck's own tone.
func (m *machine) file(sound string, row soundRow) string {
	data := m.env("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		data = filepath.Join(m.home, ".local", "share")
	}
	shared := m.env("XDG_DATA_DIRS")
	if shared == "" {
		shared = "/usr/local/share:/usr/share"
	}
	dirs := append([]string{data}, strings.Split(shared, ":")...)
	for _, name := range row.linux {
		for _, dir := range dirs {
			if !filepath.IsAbs(dir) {
				continue
			}
			stem := filepath.Join(dir, "sounds", "freedesktop", "stereo", name)
			if f := firstFile("", []string{stem + ".oga", stem + ".ogg", stem + ".wav"}); f != "" {
				return f
			}
		}
	}
	return m.tone(sound)
}

// tone is the deck's own sound, "" when it cannot be written.
func (m *machine) tone(sound string) string {
	if m.cache == "" {
		return ""
	}
	path, err := toneFile(m.cache, sound)
	if err != nil {
		return ""
	}
	return path
}

// program finds a program in the folders of PATH, never in the working folder.
func (m *machine) program(name string) string {
	for _, dir := range filepath.SplitList(m.env("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return path
		}
	}
	return ""
}

func firstFile(dir string, names []string) string {
	for _, n := range names {
		if p := filepath.Join(dir, n); isFile(p) {
			return p
		}
	}
	return ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
