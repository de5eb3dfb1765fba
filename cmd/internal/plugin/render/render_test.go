package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"image/gif"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
)

// call runs the command in an empty folder.
func call(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	c := Command()
	c.SilenceErrors, c.SilenceUsage = true, true
	var out, errs bytes.Buffer
	c.SetOut(&out)
	c.SetErr(&errs)
	c.SetArgs(args)
	err = c.Execute()
	return out.String(), errs.String(), err
}

// enter makes an empty folder the current one and returns the path of a file of testdata.
func enter(t *testing.T) string {
	t.Helper()
	file, err := filepath.Abs("testdata/lantern.pxl")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	return file
}

func TestPictures(t *testing.T) {
	for _, r := range []struct {
		name, args, file string
		w, h             int
	}{
		{"first sprite", "", "lantern.png", 9, 9},
		{"scale", "--scale 4", "lantern.png", 36, 36},
		{"by name", "--name post", "lantern-post.png", 9, 6},
		{"variant", "--kind variant", "lantern-lamp_off.png", 9, 9},
		{"composition", "--name street -o s.png", "s.png", 40, 17},
		{"slice", "--slice 20x12", "lantern.png", 20, 12},
		{"antialias", "--antialias hq4x --strength 0.5 --scale 2", "lantern.png", 72, 72},
		{"sheet", "--name flicker --sheet", "lantern-flicker.png", 18, 9},
		{"sheet in columns", "--name flicker --sheet=1", "lantern-flicker.png", 9, 18},
		{"atlas", "--atlas", "lantern-atlas.png", 27, 9},
		{"particle", "--name rain --frames 3 --canvas 8x12 --origin 4,0 --sheet", "lantern-rain.png", 24, 12},
		{"states", "--all-states --state on", "lantern.png", 9, 9},
	} {
		t.Run(r.name, func(t *testing.T) {
			file := enter(t)
			out, errs, err := call(t, append([]string{file, "--strict"}, strings.Fields(r.args)...)...)
			if err != nil || errs != "" {
				t.Fatalf("%v %s", err, errs)
			}
			if !strings.HasPrefix(out, r.file+": ") {
				t.Errorf("printed %q, want it to name %s", out, r.file)
			}
			f, err := os.Open(r.file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			m, err := png.Decode(f)
			if err != nil {
				t.Fatal(err)
			}
			if b := m.Bounds(); b.Dx() != r.w || b.Dy() != r.h {
				t.Errorf("got %v, want %d×%d", b, r.w, r.h)
			}
		})
	}
}

func TestGIF(t *testing.T) {
	file := enter(t)
	if _, _, err := call(t, file, "--name", "flicker"); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open("lantern-flicker.gif")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g, err := gif.DecodeAll(f)
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Image) != 2 || g.Delay[0] != 12 || g.LoopCount != 0 {
		t.Errorf("%d frames, delays %v, loop count %d", len(g.Image), g.Delay, g.LoopCount)
	}
}

func TestAtlasDescription(t *testing.T) {
	file := enter(t)
	if _, _, err := call(t, file, "--atlas", "-o", "pack.png"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("pack.json")
	if err != nil {
		t.Fatal(err)
	}
	var a struct {
		Image  string
		Frames map[string]struct{ X, Y, W, H int }
	}
	if err := json.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	if a.Image != "pack.png" || len(a.Frames) != 3 || a.Frames["post"].H != 6 {
		t.Errorf("got %+v", a)
	}
}

func TestRenderListsAndDescribesAsJSON(t *testing.T) {
	file := enter(t)
	out, _, err := call(t, file, "--list")
	if err != nil {
		t.Fatal(err)
	}
	want := `palette      night
sprite       lamp      9×9
sprite       post      9×6
variant      lamp_off  9×9
composition  street    40×17
animation    flicker   9×9
particle     rain      32×32
`
	if out != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
	if out, _, err = call(t, file, "--json", "--name", "street"); err != nil {
		t.Fatal(err)
	}
	var rep struct {
		Picture     struct{ Width, Height, Frames int }
		Diagnostics []any
	}
	if err := json.Unmarshal([]byte(out), &rep); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if rep.Picture.Width != 40 || rep.Picture.Frames != 1 || rep.Diagnostics == nil {
		t.Errorf("got %+v", rep)
	}
}

func TestStandardOutput(t *testing.T) {
	file := enter(t)
	out, _, err := call(t, file, "-o", "-")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(strings.NewReader(out)); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob("*"); len(left) > 0 {
		t.Errorf("wrote %v", left)
	}
}

func TestIncludes(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sprite := func(include string) string {
		return `{type: "sprite", name: "s", size: [1, 1], palette: "@include:` + include + `", regions: {a: {points: [[0, 0]]}}}`
	}
	palette := `{type: "palette", name: "p", colors: {a: "#010203"}}`
	write("outside/p.pxl", palette)
	write("in/shared/p.pxl", palette)
	write("in/pxl.toml", "")
	write("in/sub/up.pxl", sprite("../shared/p"))
	write("in/sub/out.pxl", sprite("../../outside/p.pxl"))
	write("in/sub/abs.pxl", sprite("/etc/p.pxl"))
	if err := os.Symlink("../../outside", "in/sub/link"); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	write("in/sub/sym.pxl", sprite("link/p.pxl"))
	for file, ok := range map[string]bool{"up": true, "out": false, "abs": false, "sym": false} {
		t.Run(file, func(t *testing.T) {
			_, errs, err := call(t, "in/sub/"+file+".pxl", "--strict", "-o", filepath.Join(t.TempDir(), "x.png"))
			if (err == nil) != ok {
				t.Errorf("%v %s", err, errs)
			}
			if !ok && !strings.Contains(errs, "unresolved_include") {
				t.Errorf("told %q", errs)
			}
		})
	}
}

func TestMistakes(t *testing.T) {
	file := enter(t)
	bad := "bad.pxl"
	if err := os.WriteFile(bad, []byte("{type: 'sprite', name: 's'\n{type:'sprite', name: 't', size: [1, 1], palette: {}, regions: {x: {points: [[0,0]]}}}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct {
		name, args, want string
		usage            bool
	}{
		{"no file", "", "name a file", true},
		{"missing file", "none.pxl", "no such file", false},
		{"folder", ".", "not a regular file", false},
		{"kind", file + " --kind palette", "--kind", true},
		{"scale", file + " --scale 0", "between 1 and 128", true},
		{"antialias", file + " --antialias soft", "scale2x", true},
		{"strength", file + " --strength 2", "between 0 and 1", true},
		{"slice", file + " --slice 3", "WIDTHxHEIGHT", true},
		{"frames", file + " --frames 257", "between 1 and 256", true},
		{"canvas", file + " --canvas 3", "WIDTHxHEIGHT", true},
		{"origin", file + " --origin 3", "X,Y", true},
		{"dialect", file + " --dialect other", "documented", true},
		{"another kind of file", file + " -o x.jpg", "only .png and .gif can be written", true},
		{"form of an atlas", file + " --atlas=none", "--atlas must be one of", true},
		{"report and picture in one output", file + " --json -o -", "both write to standard output", true},
		{"all and one", file + " --all --name lamp", "writes a file for every object", true},
		{"atlas to standard output", file + " --atlas=json -o -", "consists of several files", true},
		{"two files, one output", file + " " + file + " -o x.png", "exactly one FILE", true},
		{"name", file + " --name lam", "did you mean lamp?", false},
		{"too large", file + " --name street --slice 9x9 --scale 128 --antialias hq4x", "the largest scale is", false},
		{"strict", bad + " --strict", "not every file", false},
	} {
		t.Run(r.name, func(t *testing.T) {
			_, errs, err := call(t, strings.Fields(r.args)...)
			if err == nil || !strings.Contains(err.Error(), r.want) {
				t.Fatalf("got %v, want it to say %q; %s", err, r.want, errs)
			}
			if errors.As(err, new(exit.UsageError)) != r.usage {
				t.Errorf("usage error is %v", !r.usage)
			}
		})
	}
	if left, _ := filepath.Glob("*.png"); len(left) > 0 {
		t.Errorf("wrote %v", left)
	}
	_, errs, err := call(t, bad)
	if err != nil || !strings.Contains(errs, "bad.pxl:1:1: error") || !strings.Contains(errs, "undefined_token") {
		t.Errorf("%v %s", err, errs)
	}
}

func TestShow(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("COLORTERM", "truecolor")
	t.Setenv("NO_COLOR", "")
	t.Setenv("TMUX", "")
	file := enter(t)
	for _, row := range []struct {
		name string
		args []string
		want string // prefix of the output
		fail string
	}{
		{"auto is text", []string{"--show", "auto"}, "", ""},
		{"half blocks", []string{"--show", "half"}, "", ""},
		{"bounded", []string{"--show", "half", "--cols", "4"}, "", ""},
		{"letters", []string{"--show", "letters"}, "", ""},
		{"kitty", []string{"--show", "kitty"}, "\x1b_Ga=T,q=2,", ""},
		{"iterm", []string{"--show", "iterm"}, "\x1b]1337;File=inline=1;", ""},
		{"sixel", []string{"--show", "sixel"}, "\x1bP0;1;0q", ""},
		{"an unknown way", []string{"--show", "film"}, "", "unknown way to show pictures"},
		{"a size without a picture", []string{"--cols", "10"}, "", "--cols and --rows need --show"},
		{"two places for the picture", []string{"--show", "half", "-o", "x.png"}, "", "cannot be used with -o"},
	} {
		t.Run(row.name, func(t *testing.T) {
			out, _, err := call(t, append([]string{file}, row.args...)...)
			if row.fail != "" {
				if err == nil || !strings.Contains(err.Error(), row.fail) {
					t.Errorf("error %v, want one with %q", err, row.fail)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(out, row.want) || !strings.HasSuffix(out, "\n") {
				t.Errorf("output %.60q", out)
			}
			if files, _ := filepath.Glob("*.png"); len(files) > 0 {
				t.Errorf("a file was written: %v", files)
			}
			again, _, _ := call(t, append([]string{file}, row.args...)...)
			if again != out {
				t.Error("the same picture gave other bytes")
			}
		})
	}
}
