package pxl

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/frames"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// expected is one row of a conformance file.
type expected struct {
	ID, File, Kind, Name, Source, Family, Compare, Why string
	W, H                                               int
	SHA256, RGBA                                       string
	NFrames                                            int
	Duration                                           int
	Loop                                               bool
}

func readRows(t testing.TB, r io.Reader) []expected {
	t.Helper()
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 4<<20)
	var rows []expected
	for lines.Scan() {
		var e expected
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, e)
	}
	return rows
}

// compare checks a picture against a row.
func (e expected) compare(m *image.NRGBA) error {
	b := m.Bounds()
	if b.Dx() != e.W || b.Dy() != e.H {
		return fmt.Errorf("got %d×%d, want %d×%d", b.Dx(), b.Dy(), e.W, e.H)
	}
	sum := sha256.Sum256(m.Pix)
	if hex.EncodeToString(sum[:]) == e.SHA256 {
		return nil
	}
	want, _ := hex.DecodeString(e.RGBA)
	if len(want) != len(m.Pix) {
		return fmt.Errorf("pixels differ (hash)")
	}
	n, first := 0, -1
	for i := 0; i < len(want); i += 4 {
		if !bytes.Equal(want[i:i+4], m.Pix[i:i+4]) {
			if n++; first < 0 {
				first = i
			}
		}
	}
	return fmt.Errorf("%d pixels differ, first at %d,%d: got %x, want %x", n, first/4%e.W, first/4/e.W, m.Pix[first:first+4], want[first:first+4])
}

func TestGeneratedDocumentsMatchTheReference(t *testing.T) {
	f, err := os.Open("testdata/generated.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows := readRows(t, z)
	if len(rows) != 440 {
		t.Fatalf("%d rows, want 440", len(rows))
	}
	for _, dialect := range []Dialect{Documented, Reference} {
		for _, e := range rows {
			t.Run(dialect.String()+"/"+e.ID, func(t *testing.T) {
				d := Parse([]byte(e.Source), Options{Dialect: dialect})
				res, err := d.Render(RenderOptions{Kind: Kind(e.Kind), Name: e.Name})
				if err != nil {
					t.Fatal(err)
				}
				if err := e.compare(res.Image()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestCorpus(t *testing.T) {
	dir := realtest.Corpus(t)
	f, err := os.Open(filepath.Join(dir, "corpus.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, e := range readRows(t, f) {
		for _, dialect := range []Dialect{Documented, Reference} {
			if e.Compare == "no" || (dialect == Documented && (e.Compare == "reference" || magentaOnly(e))) {
				continue
			}
			t.Run(dialect.String()+"/"+e.File+"/"+e.Kind+"/"+e.Name, func(t *testing.T) {
				d := parseFile(t, filepath.Join(dir, "corpus", e.File), dialect)
				res, err := d.Render(RenderOptions{Kind: Kind(e.Kind), Name: e.Name})
				if err != nil {
					t.Fatal(err)
				}
				m := res.Image()
				if e.Kind == "animation" {
					if len(res.Frames) != e.NFrames {
						t.Errorf("%d frames, want %d", len(res.Frames), e.NFrames)
					}
					m = frames.Sheet(res.Frames, 0)
				}
				if err := e.compare(m); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// magentaOnly names the one row that is marked for both dialects although both of
// its sprites are magenta in the reference, for want of braces: their difference is black.
func magentaOnly(e expected) bool { return e.Name == "blend_difference_demo" }

// parseFile reads a file with its own folder as the root of includes.
func parseFile(t testing.TB, name string, dialect Dialect) *Document {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return Parse(text, Options{Dialect: dialect, Include: includeFrom(root, ".")})
}

// render draws a picture as text: one letter per colour, '.' for transparent. Colours
// are named by the legend "A=#ff0000 B=#00ff00"; others are '?'.
func drawText(m *image.NRGBA, legend map[uint32]byte) string {
	var b strings.Builder
	for y := range m.Rect.Dy() {
		if y > 0 {
			b.WriteByte('\n')
		}
		for x := range m.Rect.Dx() {
			c := m.NRGBAAt(x, y)
			switch l, ok := legend[pack(c)]; {
			case ok:
				b.WriteByte(l)
			case c.A == 0:
				b.WriteByte('.')
			default:
				b.WriteByte('?')
			}
		}
	}
	return b.String()
}
