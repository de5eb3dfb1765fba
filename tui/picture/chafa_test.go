package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestBesideChafa prints the table of the package's README: the same pictures drawn here
// and by the chafa of the system, measured in one run.
func TestBesideChafa(t *testing.T) {
	if os.Getenv("MCPDECK_CHAFA") == "" {
		t.Skip("set MCPDECK_CHAFA=1 to measure beside chafa")
	}
	chafa, err := exec.LookPath("chafa")
	if err != nil {
		t.Skip("chafa is not installed")
	}
	folder := t.TempDir()
	var table strings.Builder
	table.WriteString("| picture, cells | drawn by | ms | bytes | PSNR dB | SSIM | difference | exact px % |\n|---|---|---|---|---|---|---|---|\n")
	for _, row := range []struct {
		name       string
		img        *image.NRGBA
		cols, rows int
		ours       []Options
		theirs     [][]string
	}{
		{"sprite 64×64, 64×32", spriteSubject(64, false), 64, 32, []Options{{Half, 0}, {Best, 0}}, [][]string{{"vhalf"}, {"block", "-w", "9"}}},
		{"sprite 64×64, 32×16", spriteSubject(64, false), 32, 16, []Options{{Half, NoSnap}, {Block, NoSnap}, {Octant, NoSnap}, {Octant, 0}}, [][]string{{"block", "-w", "9"}, {"block+sextant", "-w", "9"}}},
		{"tiles 256×256, 128×64", tilesSubject(), 128, 64, []Options{{Octant, NoSnap}, {Octant, 0}}, [][]string{{"block+sextant", "-w", "9"}}},
		{"page 1920×1080, 80×24", pageSubject(1920, 1080), 80, 24, []Options{{Half, NoSnap}, {Block, 0.75}, {Best, NoSnap}, {Best, 0.75}}, [][]string{{"vhalf"}, {"block"}, {"block+sextant", "-w", "9"}}},
		{"photo 1920×1080, 80×24", photoSubject(1920, 1080), 80, 24, []Options{{Half, NoSnap}, {Best, NoSnap}}, [][]string{{"vhalf"}, {"block+sextant", "-w", "9"}}},
	} {
		var data bytes.Buffer
		if err := png.Encode(&data, row.img); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(folder, "picture.png")
		if err := os.WriteFile(file, data.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		write := func(who string, took time.Duration, text string) {
			back := paint(t, parseScreen(t, text, row.cols, row.rows))
			psnr, ssim, difference := fidelity(stretch(row.img, back.Bounds().Dx(), back.Bounds().Dy()), back)
			noise := fmt.Sprintf("%.1f", psnr)
			if psnr > 99 {
				noise = "exact"
			}
			fmt.Fprintf(&table, "| %s | %s | %.1f | %d | %s | %.3f | %.2f | %.0f |\n", row.name, who, float64(took.Microseconds())/1000, len(text), noise, ssim, difference, 100*exactShare(row.img, back))
		}
		for _, o := range row.ours {
			var text string
			took := fastest(func() {
				text = strings.Join(Fit(row.img, row.cols, row.rows, o).Lines(Palette{}), "\n") + "\n"
			})
			snap := ""
			if o.Snap >= 0 {
				snap = ", snap " + strconv.FormatFloat(o.Snap, 'g', -1, 64)
			}
			write("**"+o.Set.String()+"**"+snap, took, text)
		}
		for _, args := range row.theirs {
			var out []byte
			took := fastest(func() {
				all := append([]string{"-f", "symbols", "-c", "full", "--polite", "on", "-s", fmt.Sprintf("%dx%d", row.cols, row.rows), "--stretch", "--symbols", args[0]}, args[1:]...)
				if out, err = exec.Command(chafa, append(all, file)...).Output(); err != nil {
					t.Fatal(err)
				}
			})
			write("chafa "+strings.Join(args, " "), took, string(out))
		}
	}
	floor := fastest(func() { _ = exec.Command(chafa, "--version").Run() })
	t.Logf("chafa's times are whole processes with decoding; starting one takes %.1f ms\n%s", float64(floor.Microseconds())/1000, table.String())
}

func fastest(f func()) time.Duration {
	best := time.Hour
	for range 7 {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	return best
}

// parseScreen reads a text of rows with colours, with the codes that chafa writes too.
func parseScreen(t *testing.T, text string, cols, rows int) Cells {
	t.Helper()
	c := newCells(cols, rows)
	black := color.NRGBA{A: 255}
	for y, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if y >= rows {
			break
		}
		fg, bg, reverse, x := color.NRGBA{255, 255, 255, 255}, black, false, 0
		for line != "" {
			if rest, ok := strings.CutPrefix(line, "\x1b["); ok {
				at := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' })
				codes, final := rest[:at], rest[at]
				line = rest[at+1:]
				if final != 'm' {
					continue
				}
				f := strings.Split(codes, ";")
				for i := 0; i < len(f); i++ {
					switch f[i] {
					case "", "0":
						fg, bg, reverse = color.NRGBA{255, 255, 255, 255}, black, false
					case "7":
						reverse = true
					case "38", "48":
						one := color.NRGBA{uint8(atoi(t, f[i+2])), uint8(atoi(t, f[i+3])), uint8(atoi(t, f[i+4])), 255}
						if f[i] == "38" {
							fg = one
						} else {
							bg = one
						}
						i += 4
					}
				}
				continue
			}
			r := []rune(line)[0]
			line = line[len(string(r)):]
			if x < cols {
				cell := Cell{Glyph: r, FG: fg, BG: bg}
				if reverse {
					cell.FG, cell.BG = bg, fg
				}
				c.Cells[y*cols+x] = cell
				x++
			}
		}
	}
	return c
}
