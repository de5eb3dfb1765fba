package pixels_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/tui/page/pixels"
)

// dot is the source of a sprite of one colour.
func dot(name, colour string) string {
	return `{type: "sprite", name: "` + name + `", size: [2, 2], palette: {c: "` + colour + `"}, regions: {c: {rect: [0, 0, 2, 2]}}}` + "\n"
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// watching is a page that looks at a file, and a wait for what it shows.
func watching(t *testing.T, path string) (p *pixels.Page, see func(want string)) {
	t.Helper()
	p = pixels.New(pixels.Options{Open: []string{path}, Load: func(path string) (*pxl.Document, error) {
		text, err := os.ReadFile(path)
		return pxl.Parse(text, pxl.Options{}), err
	}})
	feed := p.Feed()
	t.Cleanup(feed.Stop)
	return p, func(want string) {
		t.Helper()
		var screen string
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
			select {
			case <-feed.Hint:
			case <-time.After(50 * time.Millisecond):
			}
			if msg := feed.Load(); msg != nil {
				p.Update(msg)
			}
			screen = strings.Join(p.Render(testFrame(160, 24)), "\n")
			if strings.Contains(screen, want) {
				return
			}
		}
		t.Fatalf("never saw %q:\n%s", want, screen)
	}
}

func TestFilesAreDrawnAgainWhenSaved(t *testing.T) {
	// The watcher waits in the kernel, so this one runs in real time, without a screen.
	path := filepath.Join(t.TempDir(), "a.pxl")
	save := func(colour string) {
		t.Helper()
		write(t, path, dot("dot", colour))
	}
	save("#ff0000")
	p, see := watching(t, path)
	see("#ff0000")
	gone := filepath.Join(t.TempDir(), "gone.png")
	p.Update(pixels.OpenMsg{Path: gone})
	see("open the picture")
	save("#00ff00")
	see("#00ff00")
	write(t, path, "{")
	see("a.pxl:") // what is wrong, under the last good picture
	see("#00ff00")
	// One object cannot be read, another could be drawn: what is looked at stays all the same.
	half := "\n\n" + `{type: "sprite", name: "dot", size 4}` + "\n" + `{type: "sprite", name: "other", size: [1, 1], palette: {c: "#123456"}, regions: {c: {points: [[0, 0]]}}}`
	write(t, path, half)
	see("3:36: error")
	see("#00ff00")
	see("v1") // the same picture again is no version of it
	// Saved by renaming another file over it, as many editors do.
	tmp := path + "~"
	save("#0000ff")
	if err := os.Rename(path, tmp); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(tmp, path); err != nil {
		t.Fatal(err)
	}
	see("#0000ff")
}

// A save that changes one thing of a file brings one new picture.
func TestOnlyWhatHasChangedIsNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.pxl")
	write(t, path, dot("one", "#0000ff")+dot("two", "#111111"))
	_, see := watching(t, path)
	see("#0000ff")
	write(t, path, dot("one", "#0000ff")+dot("two", "#222222"))
	see("#222222")
	see("v1")
	write(t, path, dot("one", "#0000ff")+dot("two", "#333333"))
	see("#333333")
	see("v2")
	write(t, path, dot("one", "#00ffff")+dot("two", "#333333"))
	see("#00ffff")
	see("v1")
}
