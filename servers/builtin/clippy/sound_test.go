//go:build unix

package clippy

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// theatre is a machine whose players are small scripts that note their
// arguments and process ids.
type theatre struct {
	*sounds
	dir  string
	env  map[string]string
	bell int
}

func newTheatre(t *testing.T, players map[string]string) *theatre {
	t.Helper()
	dir := t.TempDir()
	th := &theatre{dir: dir, env: map[string]string{"PATH": filepath.Join(dir, "bin"), "XDG_DATA_DIRS": filepath.Join(dir, "share")}}
	mkdir(t, filepath.Join(dir, "bin"))
	for name, body := range players {
		script := "#!/bin/sh\necho \"" + name + " $*\" >> '" + dir + "/calls'\necho $$ >> '" + dir + "/pids'\n" + body + "\n"
		must(t, os.WriteFile(filepath.Join(dir, "bin", name), []byte(script), 0o755))
	}
	th.sounds = &sounds{
		timing: timing{confirm: time.Minute, search: time.Minute, limit: time.Minute},
		log:    func() *slog.Logger { return slog.New(slog.DiscardHandler) },
		bell:   func() error { th.bell++; return nil },
		machine: &machine{
			system: "linux", home: dir, cache: filepath.Join(dir, "cache"), env: func(k string) string { return th.env[k] },
			macSounds: filepath.Join(dir, "mac"),
			wslSocket: filepath.Join(dir, "wslg"), wslSystem: filepath.Join(dir, "system32"),
		},
	}
	t.Cleanup(th.close)
	return th
}

func (th *theatre) calls(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(th.dir, "calls"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), th.dir, "DIR")
}

// idle waits until no player is left and checks that none is a zombie.
func (th *theatre) idle(t *testing.T) {
	t.Helper()
	testwait.Until(t, "nothing is played", func() bool {
		th.mu.Lock()
		defer th.mu.Unlock()
		return !th.busy
	})
	pids, _ := os.ReadFile(filepath.Join(th.dir, "pids")) // of those that came so far
	for _, pid := range strings.Fields(string(pids)) {
		n, err := strconv.Atoi(pid)
		must(t, err)
		if err := syscall.Kill(n, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("player %d is still there: %v", n, err)
		}
	}
}

func TestPlayersAreTriedInOrder(t *testing.T) {
	const (
		tone  = "DIR/cache/tone-error.wav"
		long  = time.Minute // whatever the player does has happened
		short = 10 * time.Millisecond
	)
	tests := []struct {
		name    string
		players map[string]string
		confirm time.Duration
		want    Played
		calls   string
		bells   int
	}{
		{"finishes", map[string]string{"pw-play": "exit 0"}, long, Played{"error", "pw-play", "finished"}, "pw-play " + tone + "\n", 0},
		{"fails, next one", map[string]string{"pw-play": "exit 1", "paplay": "exit 0", "aplay": "exit 0"}, long, Played{"error", "paplay", "finished"}, "pw-play " + tone + "\npaplay " + tone + "\n", 0},
		{"all fail", map[string]string{"pw-play": "exit 1", "aplay": "exit 2"}, long, Played{"error", "bell", "bell"}, "pw-play " + tone + "\naplay -q " + tone + "\n", 1},
		{"fails later", map[string]string{"pw-play": "read line < \"${0%/bin/*}/gate\"; exit 1", "paplay": "exit 0"}, short, Played{"error", "pw-play", "playing"}, "pw-play " + tone + "\n", 0},
		{"runs for a minute", map[string]string{"paplay": "sleep 60"}, short, Played{"error", "paplay", "playing"}, "", 0},
		{"ignores SIGTERM", map[string]string{"paplay": "trap '' TERM; sleep 60"}, short, Played{"error", "paplay", "playing"}, "", 0},
		{"prints a megabyte", map[string]string{"paplay": "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2"}, long, Played{"error", "paplay", "finished"}, "paplay " + tone + "\n", 0},
		{"cannot be started", map[string]string{"aplay": "exit 0"}, long, Played{"error", "aplay", "finished"}, "aplay -q " + tone + "\n", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			th := newTheatre(t, tt.players)
			th.timing.confirm = tt.confirm
			if tt.calls == "" { // it is killed, perhaps before it could say anything
				th.timing.limit = 200 * time.Millisecond
			}
			gate := filepath.Join(th.dir, "gate")
			makeFIFO(t, gate)
			if tt.name == "cannot be started" {
				put(t, filepath.Join(th.dir, "bin", "pw-play"), "#!/no/such/interpreter\n")
				must(t, os.Chmod(filepath.Join(th.dir, "bin", "pw-play"), 0o755))
			}
			got, err := th.play("error")
			if err != nil || got != tt.want {
				t.Errorf("got %+v, %v, want %+v", got, err, tt.want)
			}
			if tt.name == "fails later" {
				put(t, gate, "\n")
			}
			th.idle(t)
			if c := th.calls(t); tt.calls != "" && c != tt.calls {
				t.Errorf("calls %q, want %q", c, tt.calls)
			}
			if th.bell != tt.bells {
				t.Errorf("%d bells, want %d", th.bell, tt.bells)
			}
		})
	}
}

func TestOneSoundAtATime(t *testing.T) {
	th := newTheatre(t, map[string]string{"paplay": "sleep 60"})
	th.timing.confirm = 10 * time.Millisecond
	if p, err := th.play("success"); err != nil || p.State != "playing" {
		t.Fatalf("%+v, %v", p, err)
	}
	if p, err := th.play("error"); err != nil || p != (Played{"error", "none", "skipped"}) {
		t.Errorf("second: %+v, %v", p, err)
	}
	th.mute(true)
	if p, err := th.play("error"); err != nil || p != (Played{"error", "none", "muted"}) {
		t.Errorf("muted: %+v, %v", p, err)
	}
	th.close()
	th.idle(t)
	th.mute(false)
	if p, _ := th.play("error"); p.State != "skipped" && p.State != "bell" {
		t.Errorf("after the end: %+v", p)
	}
}

func TestNoWayToMakeASound(t *testing.T) {
	for name, bell := range map[string]func() error{"none": nil, "fails": func() error { return os.ErrNotExist }} {
		t.Run(name, func(t *testing.T) {
			th := newTheatre(t, nil)
			th.sounds.bell = bell
			if _, err := th.play("error"); words(t, err) != "no sound could be played (no player, no terminal)" {
				t.Errorf("got %v", err)
			}
			if _, err := th.play("boom"); words(t, err) != "type must be one of error, warning, success" {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestPlayerCommandsOfEachSystem(t *testing.T) {
	const win = "foreach ($n in 'tada.wav','chimes.wav','ding.wav')"
	tests := []struct {
		name    string
		system  string
		release string
		env     map[string]string // DIR stands for the folder
		files   []string
		want    []string // name and arguments
	}{
		{name: "nothing", system: "linux"},
		{name: "mac", system: "darwin", files: []string{"bin/afplay", "mac/Hero.aiff"}, want: []string{"afplay DIR/mac/Hero.aiff"}},
		{name: "mac, first of the row", system: "darwin", files: []string{"bin/afplay", "mac/Hero.aiff", "mac/Glass.aiff"}, want: []string{"afplay DIR/mac/Glass.aiff"}},
		{name: "mac without sounds", system: "darwin", files: []string{"bin/afplay"}, want: []string{"afplay DIR/cache/tone-success.wav"}},
		{name: "linux, no sounds", system: "linux", files: []string{"bin/aplay", "bin/pw-play"}, want: []string{"pw-play DIR/cache/tone-success.wav", "aplay -q DIR/cache/tone-success.wav"}},
		{
			name: "linux, order", system: "linux", env: map[string]string{"DISPLAY": ":0"},
			files: []string{"bin/aplay", "bin/paplay", "bin/pw-play", "bin/canberra-gtk-play", "share/sounds/freedesktop/stereo/complete.oga"},
			want: []string{
				"pw-play DIR/share/sounds/freedesktop/stereo/complete.oga", "paplay DIR/share/sounds/freedesktop/stereo/complete.oga",
				"canberra-gtk-play -i complete", "aplay -q DIR/cache/tone-success.wav",
			},
		},
		{name: "canberra needs a display", system: "linux", files: []string{"bin/canberra-gtk-play"}},
		{name: "aplay gets a WAV", system: "linux", files: []string{"bin/aplay", "share/sounds/freedesktop/stereo/message.wav"}, want: []string{"aplay -q DIR/share/sounds/freedesktop/stereo/message.wav"}},
		{name: "own sounds first", system: "linux", env: map[string]string{"XDG_DATA_HOME": "DIR/mine"}, files: []string{"bin/paplay", "mine/sounds/freedesktop/stereo/complete.ogg", "share/sounds/freedesktop/stereo/complete.oga"}, want: []string{"paplay DIR/mine/sounds/freedesktop/stereo/complete.ogg"}},
		{name: "freebsd", system: "freebsd", files: []string{"bin/paplay"}, want: []string{"paplay DIR/cache/tone-success.wav"}},
		{name: "wsl by kernel", system: "linux", release: "5.15.0-Microsoft-standard", files: []string{"bin/paplay", "bin/aplay", "bin/powershell.exe"}, want: []string{"powershell.exe " + win}},
		{name: "wsl with sound server", system: "linux", env: map[string]string{"WSL_INTEROP": "x", "PULSE_SERVER": "y"}, files: []string{"bin/paplay", "system32/WindowsPowerShell/v1.0/powershell.exe"}, want: []string{"paplay DIR/cache/tone-success.wav", "powershell.exe " + win}},
		{name: "wsl with socket", system: "linux", env: map[string]string{"WSL_DISTRO_NAME": "Debian"}, files: []string{"bin/pw-play", "wslg"}, want: []string{"pw-play DIR/cache/tone-success.wav"}},
		{name: "windows", system: "windows", env: map[string]string{"SystemRoot": "DIR/win"}, files: []string{"win/System32/WindowsPowerShell/v1.0/powershell.exe", "win/Media/ding.wav"}, want: []string{"powershell " + win}},
		{name: "windows without sounds", system: "windows", env: map[string]string{"SystemRoot": "DIR/win"}, files: []string{"win/System32/WindowsPowerShell/v1.0/powershell.exe"}, want: []string{"powershell (New-Object Media.SoundPlayer $env:MCPDECK_TONE)"}},
		{name: "windows without shell", system: "windows", env: map[string]string{"SystemRoot": "DIR/win"}},
		{name: "other", system: "plan9", files: []string{"bin/paplay"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			th := newTheatre(t, nil)
			th.machine.system, th.machine.release = tt.system, tt.release
			for k, v := range tt.env {
				th.env[k] = strings.ReplaceAll(v, "DIR", th.dir)
			}
			for _, f := range tt.files {
				put(t, filepath.Join(th.dir, f), "")
				must(t, os.Chmod(filepath.Join(th.dir, f), 0o755))
			}
			var got []string
			for _, c := range th.machine.commands("success") {
				line := c.name + " " + strings.Join(c.args, " ")
				line = strings.Replace(line, "-NoProfile -NonInteractive -Command ", "", 1)
				if i := strings.IndexAny(line, ")"); i >= 0 {
					line = line[:i+1]
				}
				got = append(got, strings.ReplaceAll(line, th.dir, "DIR"))
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestEachSoundHasAToneOfItsOwn(t *testing.T) {
	seen := map[string]bool{}
	for sound := range soundRows() {
		w := tone(sound)
		if string(w[:4]) != "RIFF" || string(w[8:16]) != "WAVEfmt " || len(w)-44 > toneRate*2*4/10 {
			t.Errorf("%s: %q, %d bytes", sound, w[:16], len(w))
		}
		seen[string(w)] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d different tones, want 3", len(seen))
	}
}
