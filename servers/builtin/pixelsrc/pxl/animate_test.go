package pxl

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"
)

// three are sprites p, q and r: one pixel each of a, b and c.
func three() string {
	out := ""
	for name, token := range map[string]string{"p": "a", "q": "b", "r": "c"} {
		out += named(name, sprite(1, 1, token+`: {points: [[0, 0]]}`))
	}
	return out
}

// played are the frames of animation n, and what was said about it.
func played(t *testing.T, src string) (frames string, took []time.Duration, codes []string) {
	t.Helper()
	d := Parse([]byte(src), Options{})
	res, err := d.Render(RenderOptions{Kind: KindAnimation, Name: "n"})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range res.Frames {
		frames += drawText(f.Image, legend(t, ""))
		took = append(took, f.Duration)
	}
	for _, x := range append(d.Diagnostics(), res.Diagnostics...) {
		codes = append(codes, x.Code)
	}
	return frames, took, codes
}

func TestTransformsOrderTheFramesOfAnAnimation(t *testing.T) {
	for transform, want := range map[string]string{
		`"reverse"`:                               "cba",
		`"pingpong"`:                              "abccba",
		`"pingpong:true"`:                         "abcb",
		`"frame-offset:1"`:                        "bca",
		`"frame-offset:-1"`:                       "cab",
		`{op: "frame-offset", offset: 4}`:         "bca",
		`"hold:1,3"`:                              "abbbc",
		`"hold:0,0"`:                              "bc",
		`"hold:9,2"`:                              "abc",
		`{op: "hold", frame: 2, count: 2}`:        "abcc",
		`"reverse", "hold:0,2"`:                   "ccba",
		`"hold:0,0", "hold:0,0", "hold:0,0"`:      "c",
		`"mirror-h"`:                              "abc",
		`"reverse", "pingpong", "frame-offset:1"`: "baabcc",
	} {
		t.Run(transform, func(t *testing.T) {
			got, _, codes := played(t, three()+`{type: "animation", name: "n", frames: ["p", "q", "r"], transform: [`+transform+`]}`)
			if got != want || codes != nil {
				t.Errorf("got %s and %v, want %s", got, codes, want)
			}
		})
	}
}

func TestAnAnimationTakesFromItsSourceWhatItLacks(t *testing.T) {
	base := three() + `{type: "animation", name: "base", frames: ["p", "q"], duration: 50}` + "\n"
	for name, row := range map[string]struct {
		src, want string
		took      time.Duration
		codes     string
	}{
		"frames and pace":     {base + `{type: "animation", name: "n", source: "base"}`, "ab", 50 * time.Millisecond, ""},
		"a pace of its own":   {base + `{type: "animation", name: "n", source: "base", duration: 20}`, "ab", 20 * time.Millisecond, ""},
		"frames a second":     {base + `{type: "animation", name: "n", source: "base", fps: 100}`, "ab", 10 * time.Millisecond, ""},
		"its transforms last": {base + `{type: "animation", name: "n", source: "base", transform: ["reverse"]}`, "ba", 50 * time.Millisecond, ""},
		"a source of a source": {
			base + `{type: "animation", name: "m", source: "base", transform: ["reverse"]}` + "\n" + `{type: "animation", name: "n", source: "m", transform: ["hold:0,2"]}`,
			"bba", 50 * time.Millisecond, "",
		},
		"a sprite": {base + `{type: "animation", name: "n", source: "r"}`, "c", 100 * time.Millisecond, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, took, codes := played(t, row.src)
			if c := strings.Join(codes, " "); got != row.want || c != row.codes || slices.Max(took) != row.took || slices.Min(took) != row.took {
				t.Errorf("got %s, %v, %q, want %s, %v, %q", got, took, c, row.want, row.took, row.codes)
			}
		})
	}
}

func TestASourceThatLeadsNowhereIsNamed(t *testing.T) {
	for name, src := range map[string]string{
		"missing":    `{type: "animation", name: "n", source: "nothing"}`,
		"itself":     `{type: "animation", name: "n", source: "n"}`,
		"each other": `{type: "animation", name: "n", source: "m"}` + "\n" + `{type: "animation", name: "m", source: "n"}`,
	} {
		list := Parse([]byte(three()+src), Options{}).Check()
		if !slices.ContainsFunc(list, func(d Diagnostic) bool { return d.Code == CodeMissingSource && d.Severity == Error }) {
			t.Errorf("%s: got %v, want an error about the source", name, list)
		}
	}
}

func TestPathsOfIncludesAreRelative(t *testing.T) {
	files := map[string]string{"pal.pxl": `{type: "palette", name: "x", colors: {a: "#f00"}}`, "old.jsonl": `{type: "palette", name: "x", colors: {a: "#0f0"}}`}
	asked := []string{}
	read := func(name string) ([]byte, error) {
		asked = append(asked, name)
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		if name == "secret.pxl" {
			return nil, errors.New("the path leads outside the allowed folders")
		}
		return nil, fs.ErrNotExist
	}
	for file, want := range map[string]string{
		"pal.pxl": "a", "./pal.pxl": "a", "pal": "a", "old": "b", "old.pxl": "b",
		"/pal.pxl": "the path must be relative", `sub\\pal.pxl`: "the path must be relative",
		"none.pxl": "no such file", "pal.txt": "a", "secret": "outside the allowed folders",
	} {
		d := Parse([]byte(`{type: "sprite", name: "s", size: [1, 1], palette: "@include:`+file+`", regions: {a: {points: [[0, 0]]}}}`), Options{Include: read})
		res, err := d.Render(RenderOptions{Name: "s"})
		if len(want) == 1 {
			if err != nil || drawText(res.Image(), legend(t, "")) != want {
				t.Errorf("%s: got %v, %v, want %s", file, err, d.Diagnostics(), want)
			}
			continue
		}
		said := ""
		for _, x := range d.Check() {
			said += x.String() + "\n"
		}
		if !strings.Contains(said, want) {
			t.Errorf("%s: got %q, want %q", file, said, want)
		}
	}
	for _, name := range asked {
		if strings.HasPrefix(name, "/") || strings.Contains(name, `\`) {
			t.Errorf("%s was asked for", name)
		}
	}
}
