package picture

import (
	"image/color"
	"strings"
	"testing"
	"time"
)

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for _, p := range pairs {
			if value, ok := strings.CutPrefix(p, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func TestProbe(t *testing.T) {
	type answers struct {
		version, kitty string
		cellW, cellH   int
		da1            []int
	}
	for _, row := range []struct {
		name  string
		ask   Ask
		a     answers
		more  func(*Probe)
		mode  Mode
		cells Mode
	}{
		{"kitty", Ask{}, answers{"kitty(0.41.1)", "OK", 9, 18, []int{62}}, nil, ModeKitty, ModeBest},
		{"an old kitty", Ask{}, answers{"kitty(0.26.5)", "OK", 9, 18, []int{62}}, nil, ModeSextant, ModeSextant},
		{"ghostty", Ask{}, answers{"ghostty 1.2.3", "OK", 9, 18, []int{62, 22}}, nil, ModeKitty, ModeBest},
		{"kitty below 256 colours", Ask{Depth: Colors16}, answers{"kitty(0.41.1)", "OK", 9, 18, []int{62}}, nil, ModeBest, ModeBest},
		{"kitty with 256 colours", Ask{Depth: Colors256}, answers{"kitty(0.41.1)", "OK", 9, 18, []int{62}}, nil, ModeKitty, ModeBest},
		{"an error is no OK", Ask{}, answers{"kitty(0.41.1)", "EINVAL:no", 9, 18, []int{62}}, nil, ModeBest, ModeBest},
		{"WezTerm says OK and has no placeholders", Ask{}, answers{"WezTerm 20240203", "OK", 9, 18, []int{65, 4}}, nil, ModeITerm2, ModeSextant},
		{"Konsole says OK and has no placeholders", Ask{}, answers{"Konsole 24.12.1", "OK", 9, 18, []int{62}}, nil, ModeBlock, ModeBlock},
		{"one that nobody knows says OK", Ask{}, answers{"Dreamterm 1", "OK", 9, 18, []int{62}}, nil, ModeBlock, ModeBlock},
		{"foot", Ask{}, answers{"foot(1.21.0)", "", 9, 18, []int{62, 4, 22}}, nil, ModeSixel, ModeBest},
		{"an older foot", Ask{}, answers{"foot(1.13.1)", "", 9, 18, []int{62, 4, 22}}, nil, ModeSixel, ModeSextant},
		{"xterm with sixels, size from the window", Ask{}, answers{"XTerm(398)", "", 0, 0, []int{64, 4}}, func(p *Probe) {
			p.Window(100, 30)
			p.WindowPixels(900, 540)
		}, ModeSixel, ModeBlock},
		{"xterm with sixels, size unknown", Ask{}, answers{"XTerm(398)", "", 0, 0, []int{64, 4}}, nil, ModeBlock, ModeBlock},
		{"xterm without", Ask{}, answers{"XTerm(398)", "", 9, 18, []int{64, 1}}, nil, ModeBlock, ModeBlock},
		{"nothing answered yet", Ask{Env: environment("TERM=xterm-kitty")}, answers{}, nil, ModeBest, ModeBest},
		{"nothing ever answered", Ask{Env: environment("TERM=xterm-kitty")}, answers{}, (*Probe).Expire, ModeBest, ModeBest},
		{"OK without a name", Ask{Env: environment("KITTY_WINDOW_ID=1")}, answers{"", "OK", 9, 18, []int{62}}, nil, ModeSextant, ModeSextant},
		{"VS Code without its picture addon", Ask{Env: environment("TERM_PROGRAM=vscode")}, answers{"", "", 9, 18, []int{1, 2}}, nil, ModeSextant, ModeSextant},
		{"VS Code with it", Ask{Env: environment("TERM_PROGRAM=vscode")}, answers{"", "", 9, 18, []int{62, 4}}, nil, ModeITerm2, ModeSextant},
		{"tmux that says sixels itself", Ask{Env: environment("TMUX=x", "KITTY_WINDOW_ID=1")}, answers{"tmux 3.5a", "", 9, 18, []int{1, 2, 4}}, (*Probe).Expire, ModeBlock, ModeBlock},
		{"kitty through tmux", Ask{Env: environment("TMUX=x")}, answers{"tmux 3.5a", "OK", 9, 18, []int{1, 2, 4}}, func(p *Probe) { p.Version("kitty(0.41.1)") }, ModeKitty, ModeBest},
		{"tmux answers before kitty does", Ask{Env: environment("TMUX=x")}, answers{"tmux 3.5a", "", 9, 18, []int{1, 2, 4}}, nil, ModeBlock, ModeBlock},
		{"zellij", Ask{Env: environment("ZELLIJ=0")}, answers{"Zellij(0.42)", "OK", 9, 18, []int{62, 4}}, nil, ModeBlock, ModeBlock},
		{"the Linux console is never asked", Ask{Env: environment("TERM=linux"), Depth: Colors16}, answers{}, nil, ModeHalf, ModeHalf},
		{"no colours", Ask{Depth: NoColor}, answers{"kitty(0.41.1)", "OK", 9, 18, []int{62}}, nil, ModeLetters, ModeLetters},
		{"the setting wins: text", Ask{Mode: ModeHalf}, answers{"kitty(0.41.1)", "OK", 9, 18, []int{62}}, nil, ModeHalf, ModeHalf},
		{"the setting wins: sixels", Ask{Mode: ModeSixel}, answers{"XTerm(398)", "", 0, 0, []int{64, 4}}, nil, ModeSixel, ModeBlock},
		{"the setting waits for the answers", Ask{Mode: ModeSixel}, answers{}, nil, ModeBlock, ModeBlock},
		{"the setting asks for what cannot be", Ask{Mode: ModeKitty, Depth: Colors16}, answers{"kitty(0.41.1)", "OK", 9, 18, []int{62}}, nil, ModeBest, ModeBest},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.ask.NarrowBlocks = true
			p := NewProbe(row.ask)
			if c := p.Caps(); c.Mode.Pixels() {
				t.Errorf("before any answer the mode is %s", c.Mode)
			}
			if row.a.version != "" {
				p.Version(row.a.version)
			}
			if row.a.kitty != "" {
				p.Kitty(row.a.kitty)
			}
			p.CellSize(row.a.cellW, row.a.cellH)
			if row.a.da1 != nil {
				p.Attributes(row.a.da1)
			}
			if row.more != nil {
				row.more(p)
			}
			c := p.Caps()
			if c.Mode != row.mode || c.Cells != row.cells {
				t.Errorf("got %s and %s, want %s and %s; %s", c.Mode, c.Cells, row.mode, row.cells, strings.Join(c.Reasons, "; "))
			}
			if len(c.Reasons) < 2 || len(c.Facts) < 8 {
				t.Errorf("reasons %q, facts %q", c.Reasons, c.Facts)
			}
		})
	}
}

func TestWideBlocksLeaveLetters(t *testing.T) {
	if c := NewProbe(Ask{}).Caps(); c.Mode != ModeLetters {
		t.Errorf("got %s", c.Mode)
	}
}

func TestProbeQueriesFitTheTerminal(t *testing.T) {
	for _, row := range []struct {
		name string
		env  func(string) string
		want bool
	}{
		{"a terminal", environment("TERM=xterm-256color"), true},
		{"dumb", environment("TERM=dumb"), false},
		{"Apple's prints what it does not know", environment("TERM_PROGRAM=Apple_Terminal"), false},
		{"inside tmux", environment("TMUX=x"), true},
	} {
		t.Run(row.name, func(t *testing.T) {
			q := NewProbe(Ask{Env: row.env}).Queries()
			if (q != "") != row.want {
				t.Fatalf("queries %q", q)
			}
			if q != "" && !strings.HasSuffix(q, "\x1b[c") {
				t.Error("the fence is not last")
			}
			if row.name == "inside tmux" && strings.Contains(strings.ReplaceAll(q, "\x1b\x1b_", ""), "\x1b_") {
				t.Error("an unwrapped command becomes the window's title in tmux")
			}
		})
	}
}

func TestParseMode(t *testing.T) {
	for _, name := range ModeNames() {
		m, err := ParseMode(name)
		if err != nil || m.String() != name {
			t.Errorf("%s became %s, %v", name, m, err)
		}
	}
	if _, err := ParseMode("cinema"); err == nil || !strings.Contains(err.Error(), "sixel") {
		t.Errorf("the error %v does not say what there is", err)
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add("\x1b[?1;0;256S", "kitty(0.41.1)", "OK")
	f.Add("\x1b[?2;0;1000;680S", "tmux 3.5a", "ENOTSUPPORTED")
	f.Add("\x1b[?2;0;99999999999999999999;1S", "VTE(7802)", "")
	f.Fuzz(func(t *testing.T, csi, version, kitty string) {
		p := NewProbe(Ask{NarrowBlocks: true})
		p.CSI(csi)
		p.Version(version)
		p.Kitty(kitty)
		p.Attributes([]int{62, 4})
		c := p.Caps()
		if c.CellW < 1 || c.CellH < 1 || c.Registers < 2 || c.Registers > 1024 || c.MaxW < 0 {
			t.Errorf("caps %+v", c)
		}
		if c.Mode == ModeKitty && kitty != "OK" {
			t.Errorf("kitty pictures after the answer %q", kitty)
		}
	})
}

func TestASlowTerminalGetsMoreTime(t *testing.T) {
	patience := func(env ...string) time.Duration { return NewProbe(Ask{Env: environment(env...)}).Patience() }
	local, remote, inTmux, mute := patience("TERM=xterm-256color"), patience("TERM=xterm-256color", "SSH_CONNECTION=x"), patience("TMUX=x"), patience("TERM_PROGRAM=Apple_Terminal")
	if mute != 0 || !(inTmux < local && local < remote) {
		t.Errorf("mute %v, in tmux %v, local %v, over ssh %v", mute, inTmux, local, remote)
	}
}

func TestEveryModeComesRoundByNext(t *testing.T) {
	m, seen := Auto, map[Mode]bool{}
	for range ModeNames() {
		seen[m] = true
		m = m.Next()
	}
	if m != Auto || len(seen) != len(ModeNames()) {
		t.Errorf("%d of %d modes before %s", len(seen), len(ModeNames()), m)
	}
	if Mode("no such").Next() != Auto {
		t.Error("an unknown mode has no next one")
	}
}

func TestHexHasAlphaWhereItMatters(t *testing.T) {
	if a, b := Hex(color.NRGBA{1, 2, 255, 255}), Hex(color.NRGBA{1, 2, 255, 0}); a != "#0102ff" || b != "#0102ff00" {
		t.Errorf("got %s and %s", a, b)
	}
}
