package picture

import (
	"strconv"
	"strings"
)

// terminal is what is known of a terminal by its name. Versions are the first that can, as
// [versionNumber] reads them (1.2 is 1.02); 0 is every version, never is none.
type terminal struct {
	name string
	// match is how it begins in its own answer to XTVERSION, in lower case.
	match string
	// env are settings that betray it: NAME=start of value, or NAME alone.
	env []string

	placeholders, octants, sextants float64
	iterm                           bool
	// plain is the best set below sextants.
	plain Set
}

const never = 1e9

// terminals says who is trusted with what. The query alone cannot: some answer OK and
// have no placeholders, and none says which glyphs it draws. Sixels need no name, the
// device attributes are true there.
func terminals() []terminal {
	return []terminal{
		{"kitty", "kitty", []string{"TERM=xterm-kitty", "KITTY_WINDOW_ID"}, 0.28, 0.40, 0, false, Block},
		{"ghostty", "ghostty", []string{"TERM=xterm-ghostty", "TERM_PROGRAM=ghostty", "GHOSTTY_RESOURCES_DIR"}, 0, 1.02, 0, false, Block},
		{"WezTerm", "wezterm", []string{"TERM_PROGRAM=WezTerm", "WEZTERM_EXECUTABLE"}, never, never, 0, true, Block},
		{"iTerm2", "iterm2", []string{"TERM_PROGRAM=iTerm.app", "LC_TERMINAL=iTerm2", "ITERM_SESSION_ID"}, never, never, never, true, Block},
		{"mintty", "mintty", []string{"TERM_PROGRAM=mintty"}, never, never, never, true, Block},
		{"foot", "foot", []string{"TERM=foot"}, never, 1.20, 0, false, Block},
		{"Konsole", "konsole", []string{"KONSOLE_VERSION"}, never, never, never, false, Block},
		{"Windows Terminal", "windowsterminal", []string{"WT_SESSION"}, never, never, never, false, Block},
		{"mlterm", "mlterm", []string{"TERM=mlterm"}, never, never, never, false, Block},
		{"Rio", "rio", []string{"TERM_PROGRAM=rio"}, never, never, never, false, Block},
		{"VTE", "vte", []string{"VTE_VERSION"}, never, 7800, 0, false, Block},
		{"Alacritty", "alacritty", []string{"TERM=alacritty", "ALACRITTY_WINDOW_ID"}, never, never, 0, false, Block},
		{"xterm", "xterm(", []string{"XTERM_VERSION"}, never, never, never, false, Block},
		{"VS Code", "xterm.js", []string{"TERM_PROGRAM=vscode"}, never, never, 0, true, Block},
		{"Apple Terminal", "apple", []string{"TERM_PROGRAM=Apple_Terminal"}, never, never, never, false, Block},
		{"the Linux console", "linux", []string{"TERM=linux"}, never, never, never, false, Half},
	}
}

// byAnswer finds a terminal by what it said of itself.
func byAnswer(version string) (terminal, float64, bool) {
	low := strings.ToLower(version)
	for _, t := range terminals() {
		if strings.HasPrefix(low, t.match) {
			return t, versionNumber(version[len(t.match):]), true
		}
	}
	return terminal{}, 0, false
}

// byEnv finds a terminal by the environment, TERM before all others, and says which
// setting named it. Settings leak into multiplexers and nested terminals, so this is
// only for terminals that do not answer, and for glyphs.
func byEnv(env func(string) string) (t terminal, version float64, why string, ok bool) {
	for _, first := range []bool{true, false} {
		for _, t := range terminals() {
			for _, setting := range t.env {
				name, want, _ := strings.Cut(setting, "=")
				if first != (name == "TERM") {
					continue
				}
				if value := env(name); value != "" && strings.HasPrefix(value, want) {
					return t, envVersion(t, first, env), name + "=" + value, true
				}
			}
		}
	}
	return terminal{}, 0, "", false
}

func envVersion(t terminal, ownTerm bool, env func(string) string) float64 {
	switch {
	case t.name == "VTE":
		return versionNumber(env("VTE_VERSION"))
	case ownTerm:
		return never - 1 // a TERM of its own and no word of a version: taken for a current one
	}
	return versionNumber(env("TERM_PROGRAM_VERSION"))
}

// versionNumber reads major and minor of the first number in s as one ordered number:
// the minor counts in hundredths. VTE's 7802 is such a number already.
func versionNumber(s string) float64 {
	at := strings.IndexAny(s, "0123456789")
	if at < 0 {
		return 0
	}
	s = s[at:]
	major, rest, _ := strings.Cut(s, ".")
	m, err := strconv.Atoi(digits(major))
	if err != nil {
		return 0
	}
	minor := 0
	if major == digits(major) {
		minor, _ = strconv.Atoi(digits(rest)) // no minor is 0
	}
	return float64(m) + float64(min(minor, 99))/100
}

func digits(s string) string {
	for i, r := range s {
		if r < '0' || r > '9' {
			return s[:i]
		}
	}
	return s
}
