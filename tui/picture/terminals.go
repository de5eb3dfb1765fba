package picture

import (
	"strconv"
	"strings"
)

// terminal is what is known about a terminal from its name. Versions are the first with
// support, in the form of [versionNumber] (1.2 is 1.02); 0 means every version and never
// means none.
type terminal struct {
	name string
	// match is the start of its reply to XTVERSION, in lower case.
	match string
	// env are variables that identify it: NAME=start of value, or NAME alone.
	env []string

	placeholders, octants, sextants float64
	iterm                           bool
	// plain is the richest set it supports below sextants.
	plain Set
}

const never = 1e9

// terminals lists what each terminal supports. The query alone is not enough: some reply OK
// but lack placeholders, and none reports which glyphs it draws. Sixels need no entry,
// because device attributes report them reliably.
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

// byAnswer finds a terminal by its reply to XTVERSION.
func byAnswer(version string) (terminal, float64, bool) {
	low := strings.ToLower(version)
	for _, t := range terminals() {
		if strings.HasPrefix(low, t.match) {
			return t, versionNumber(version[len(t.match):]), true
		}
	}
	return terminal{}, 0, false
}

// byEnv finds a terminal by its environment, checking TERM first, and returns the variable
// that identified it as why. Variables leak into multiplexers and nested terminals, so this
// is only for terminals that do not reply, and for selecting glyphs.
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
		return never - 1 // its own TERM but no version: assume a current one
	}
	return versionNumber(env("TERM_PROGRAM_VERSION"))
}

// versionNumber parses the first number in s, with its minor part as hundredths, so that
// versions compare as numbers. VTE's 7802 already has such a form.
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
		minor, _ = strconv.Atoi(digits(rest)) // a missing minor part is 0
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
