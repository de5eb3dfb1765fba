package clippy

import (
	"cmp"
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

// player is a program that plays sounds.
type player struct {
	name    string   // for people: "paplay"
	systems []string // see machine.kind
	find    func(m *machine, name string) string
	// play is what it is told: arguments, none when it cannot play the sound, and
	// variables beyond its environment.
	play func(m *machine, sound string) (args, env []string)
}

// players lists them, best first.
func players() []player {
	return []player{
		{"afplay", []string{"mac"}, (*machine).program, playFile},
		{"powershell", []string{"windows"}, (*machine).powershell, playMedia},
		{"pw-play", []string{"unix", "wsl"}, (*machine).program, playOnServer},
		{"paplay", []string{"unix", "wsl"}, (*machine).program, playOnServer},
		{"powershell.exe", []string{"wsl"}, (*machine).powershell, playOutside},
		{"canberra-gtk-play", []string{"unix"}, (*machine).program, playByName},
		{"aplay", []string{"unix"}, (*machine).program, playWAV}, // not in WSL: there are no sound cards
	}
}

// command is one way to play a sound.
type command struct {
	name, path string
	args, env  []string
}

// commands lists the ways to play the sound here, best first. Files and
// programs are known to exist.
func (m *machine) commands(sound string) (all []command) {
	for _, p := range players() {
		if !slices.Contains(p.systems, m.kind()) {
			continue
		}
		path := p.find(m, p.name)
		if path == "" {
			continue
		}
		if args, env := p.play(m, sound); args != nil {
			all = append(all, command{p.name, path, args, env})
		}
	}
	return all
}

func playFile(m *machine, sound string) (args, env []string) {
	if file := m.file(sound); file != "" {
		return []string{file}, nil
	}
	return nil, nil
}

// playMedia plays a sound of this Windows, else the tone.
func playMedia(m *machine, sound string) (args, env []string) {
	if firstFile(filepath.Join(m.env("SystemRoot"), "Media"), soundRows()[sound].windows) != "" {
		return playOutside(m, sound)
	}
	if tone := m.tone(sound); tone != "" {
		return powershell("(New-Object Media.SoundPlayer $env:MCPDECK_TONE).PlaySync()"), []string{"MCPDECK_TONE=" + tone}
	}
	return nil, nil
}

// playOutside plays the first sound that Windows has, which it looks for itself. The
// script depends on nothing from outside.
func playOutside(_ *machine, sound string) (args, env []string) {
	return powershell("foreach ($n in '" + strings.Join(soundRows()[sound].windows, "','") + "') { $p = Join-Path $env:SystemRoot ('Media\\' + $n); " +
		"if (Test-Path -LiteralPath $p -PathType Leaf) { (New-Object Media.SoundPlayer $p).PlaySync(); exit 0 } }; exit 1"), nil
}

func powershell(code string) []string {
	return []string{"-NoProfile", "-NonInteractive", "-Command", code}
}

// playOnServer is for players that talk to a sound server. Windows may bring one.
func playOnServer(m *machine, sound string) (args, env []string) {
	if _, err := os.Stat(m.wslSocket); m.kind() == "wsl" && err != nil && m.env("PULSE_SERVER") == "" {
		return nil, nil
	}
	return playFile(m, sound)
}

// playByName leaves it to the desktop to find the sound.
func playByName(m *machine, sound string) (args, env []string) {
	if m.env("DISPLAY") == "" && m.env("WAYLAND_DISPLAY") == "" {
		return nil, nil
	}
	return []string{"-i", soundRows()[sound].linux[0]}, nil
}

// playWAV is for a player that plays anything else as raw noise.
func playWAV(m *machine, sound string) (args, env []string) {
	file := m.file(sound)
	if !strings.HasSuffix(file, ".wav") {
		file = m.tone(sound)
	}
	if file == "" {
		return nil, nil
	}
	return []string{"-q", file}, nil
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

// kind is "mac", "windows", "wsl" (Linux inside Windows), "unix", or "" for a system on
// which nothing is played.
func (m *machine) kind() string {
	kinds := map[string]string{
		"darwin": "mac", "windows": "windows",
		"linux": "unix", "freebsd": "unix", "netbsd": "unix", "openbsd": "unix", "dragonfly": "unix",
	}
	if m.system == "linux" && (strings.Contains(strings.ToLower(m.release), "microsoft") || m.env("WSL_DISTRO_NAME") != "" || m.env("WSL_INTEROP") != "") {
		return "wsl"
	}
	return kinds[m.system]
}

// powershell is the one of Windows; from WSL, one on the PATH comes first.
func (m *machine) powershell(name string) string {
	system := m.wslSystem
	if m.kind() == "windows" {
		if m.env("SystemRoot") == "" {
			return ""
		}
		system = filepath.Join(m.env("SystemRoot"), "System32")
	} else if path := m.program(name); path != "" {
		return path
	}
	return firstFile(filepath.Join(system, "WindowsPowerShell", "v1.0"), []string{"powershell.exe"})
}

// file is the system's own sound, else the deck's tone.
func (m *machine) file(sound string) string {
	row := soundRows()[sound]
	if m.system == "darwin" {
		if f := firstFile(m.macSounds, row.mac); f != "" {
			return f
		}
		return m.tone(sound)
	}
	data := m.env("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		data = filepath.Join(m.home, ".local", "share")
	}
	shared := cmp.Or(m.env("XDG_DATA_DIRS"), "/usr/local/share:/usr/share")
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
