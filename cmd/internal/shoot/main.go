// Command shoot makes the pictures and recordings of the documents from the program: it
// runs mcpdeck in a terminal, presses keys when the screen shows what is waited for, and
// draws what a user would see.
//
//	shoot [-o FOLDER] [NAME…]
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/mcpdeck/mcpdeck/cmd/internal/terminal"
)

// patience is how long anything may take that is waited for.
const patience = time.Minute

// largest is the most bytes that a file may have.
const largest = 400_000

func main() {
	out := flag.String("o", ".github", "folder for the pictures")
	flag.Parse()
	if err := run(*out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "shoot:", err)
		os.Exit(1)
	}
}

// run makes the pictures of those names, or all.
func run(out string, wanted []string) error {
	for _, name := range wanted {
		if !slices.Contains(names(), name) {
			return fmt.Errorf("no picture %q; there are %q", name, names())
		}
	}
	if len(wanted) == 0 {
		wanted = names()
	}
	wants := map[string]bool{}
	for _, name := range wanted {
		wants[name] = true
	}
	dir, err := os.MkdirTemp("", "shoot")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is a temporary folder
	program := filepath.Join(dir, "mcpdeck")
	if said, err := exec.Command("go", "build", "-trimpath", "-o", program, "./cmd/mcpdeck").CombinedOutput(); err != nil {
		return fmt.Errorf("build mcpdeck: %w\n%s", err, said)
	}
	for _, t := range takes() {
		if !t.makesAny(wants) {
			continue
		}
		if err := t.shoot(program, dir, out, wants); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
	}
	if wants[examplesName] {
		return drawExamples(out)
	}
	return nil
}

// shoot runs a take.
func (t take) shoot(program, home, out string, wants map[string]bool) (err error) {
	c := &camera{take: t, out: out, wants: wants}
	if c.paint, err = newPainter(t.cell[0], t.cell[1]); err != nil {
		return err
	}
	environ := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	cmd := exec.Command(program, t.args...)
	cmd.Dir = home
	if c.term, err = terminal.Start(cmd, t.cols, t.rows, environ...); err != nil {
		return err
	}
	for _, s := range t.steps {
		if err = s.do(c); err != nil {
			break
		}
	}
	c.stop()
	return errors.Join(err, c.term.End(patience))
}

// camera looks at a terminal.
type camera struct {
	take  take
	term  *terminal.Terminal
	paint *painter
	out   string
	wants map[string]bool

	film    *film // nil: it does not record
	quit    chan struct{}
	stopped sync.WaitGroup
}

// picture draws the screen.
func (c *camera) picture() (im *image.RGBA) {
	c.term.Look(func(e *vt.Emulator) { im = c.paint.screen(e, c.take.cols, c.take.rows) })
	return im
}

// still writes a picture of the screen as it is. The rows of the demo's guide, above the
// last two, are left out.
func (c *camera) still(name string) error {
	im := c.picture()
	const guide, last = 2, 2
	w, h, row := im.Bounds().Dx(), im.Bounds().Dy(), c.take.cell[1]
	without := image.NewRGBA(image.Rect(0, 0, w, h-guide*row))
	draw.Draw(without, without.Bounds(), im, image.Point{}, draw.Src)
	draw.Draw(without, image.Rect(0, h-(guide+last)*row, w, h-guide*row), im, image.Pt(0, h-last*row), draw.Src)
	return c.writePNG(name, without)
}

func (c *camera) writePNG(name string, im *image.RGBA) error {
	b, err := encodePNG(im)
	if err != nil {
		return err
	}
	return c.write(name, b)
}

// encodePNG makes a small PNG: of a few colours, which loses nothing that one sees.
func encodePNG(im *image.RGBA) ([]byte, error) {
	var b bytes.Buffer
	e := png.Encoder{CompressionLevel: png.BestCompression}
	err := e.Encode(&b, reduced(im, palette([]*image.RGBA{im}, 255, 8)))
	return b.Bytes(), err
}

func (c *camera) write(name string, b []byte) error {
	if !c.wants[name] {
		return nil
	}
	return writeFile(c.out, name, b)
}

func writeFile(dir, name string, b []byte) error {
	if len(b) > largest {
		return fmt.Errorf("%s has %d bytes, more than %d", name, len(b), largest)
	}
	if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes\n", name, len(b))
	return nil
}

// roll records until cut.
func (c *camera) roll() {
	c.stop()
	c.film, c.quit = &film{}, make(chan struct{})
	c.stopped.Add(1)
	go func() {
		defer c.stopped.Done()
		tick := time.NewTicker(sampleEvery)
		defer tick.Stop()
		for {
			c.film.add(c.picture())
			select {
			case <-c.quit:
				return
			case <-tick.C:
			}
		}
	}()
}

func (c *camera) stop() {
	if c.quit != nil {
		close(c.quit)
		c.stopped.Wait()
		c.quit = nil
	}
}

// cut ends a recording and writes it.
func (c *camera) cut(name string) error {
	c.stop()
	var b []byte
	for _, o := range []struct{ colours, near int }{{63, 16}, {31, 40}, {15, 40}} { // as many as fit
		var err error
		if b, err = c.film.encode(o.colours, o.near); err != nil {
			return fmt.Errorf("record %s: %w", name, err)
		}
		if len(b) <= largest {
			break
		}
	}
	fmt.Printf("%s: %d frames\n", name, len(c.film.frames))
	return c.write(name, b)
}
