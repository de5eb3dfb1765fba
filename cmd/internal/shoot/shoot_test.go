package main

import (
	"image"
	"image/color"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	uv "github.com/charmbracelet/ultraviolet"
)

const root = "../../.."

// pages are the documents.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		b, err := os.ReadFile(path)
		out[path] = string(b)
		return err
	})
	if err != nil || len(out) < 5 {
		t.Fatalf("%d documents, %v", len(out), err)
	}
	return out
}

func TestEveryPictureOfTheDocumentsIsMadeFromTheProgram(t *testing.T) {
	made := names()
	for i, name := range made {
		if slices.Contains(made[:i], name) {
			t.Errorf("%s is made twice", name)
		}
		if info, err := os.Stat(filepath.Join(root, ".github", name)); err != nil || info.Size() > largest {
			t.Errorf("%s: task pictures %s", name, name)
		}
	}
	link := regexp.MustCompile(`\.github/([\w-]+\.(?:png|gif))`)
	for path, text := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if !slices.Contains(made, m[1]) {
				t.Errorf("%s shows %s, which nothing makes", path, m[1])
			}
		}
	}
	files, err := os.ReadDir(filepath.Join(root, ".github"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if ext := filepath.Ext(f.Name()); (ext == ".png" || ext == ".gif") && !slices.Contains(made, f.Name()) {
			t.Errorf("nothing makes %s", f.Name())
		}
	}
}

func TestCellsAreDrawn(t *testing.T) {
	p, err := newPainter(8, 16)
	if err != nil {
		t.Fatal(err)
	}
	b := uv.NewScreenBuffer(4, 1)
	uv.NewStyledString("\x1b[38;2;255;0;0m▀\x1b[48;2;0;0;255m \x1b[0mM\x1b[38;2;255;0;0m⠁").Draw(b, b.Bounds())
	im := p.screen(b, 4, 1)
	for _, tt := range []struct {
		what string
		x, y int
		want color.RGBA
	}{
		{"the upper half", 4, 2, color.RGBA{255, 0, 0, 255}},
		{"the lower half", 4, 12, paper},
		{"a background", 12, 8, color.RGBA{0, 0, 255, 255}},
		{"a dot of Braille", 26, 2, color.RGBA{255, 0, 0, 255}},
		{"where it has none", 30, 2, paper},
	} {
		if got := im.RGBAAt(tt.x, tt.y); got != tt.want {
			t.Errorf("%s is %v, want %v", tt.what, got, tt.want)
		}
	}
	letter := im.SubImage(image.Rect(16, 0, 24, 16)).(*image.RGBA)
	inked := 0
	for y := range 16 {
		for x := 16; x < 24; x++ {
			if letter.RGBAAt(x, y) != paper {
				inked++
			}
		}
	}
	if inked < 20 {
		t.Errorf("a letter has %d pixels", inked)
	}
}

func TestARecordingHoldsOnlyWhatChanges(t *testing.T) {
	frame := func(x int) *image.RGBA {
		im := image.NewRGBA(image.Rect(0, 0, 40, 20))
		for i := range im.Pix {
			im.Pix[i] = 0xff
		}
		im.SetRGBA(x, 5, color.RGBA{200, 0, 0, 255})
		return im
	}
	f := &film{}
	f.add(frame(3))
	f.add(frame(3))
	f.add(frame(30))
	if len(f.frames) != 2 {
		t.Fatalf("%d frames, want 2", len(f.frames))
	}
	b, err := f.encode(7, 8)
	if err != nil || !strings.HasPrefix(string(b), "GIF89a") {
		t.Fatalf("%q, %v", b[:6], err)
	}
	colours := palette(f.frames, 7, 8)
	if r := changed(reduced(f.frames[0], colours), reduced(f.frames[1], colours)).Rect; r != image.Rect(3, 5, 31, 6) {
		t.Errorf("what changed is %v", r)
	}
}
