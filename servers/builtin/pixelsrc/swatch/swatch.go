// Package swatch reads and writes the palette files of other programs: GIMP's
// .gpl, lists of hexadecimal colours (.hex), and JASC's .pal.
package swatch

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"image/color"
	"strconv"
	"strings"
)

// Colour is one entry of a palette. Name is "" where the file gives none.
type Colour struct {
	Name  string
	Value color.NRGBA
}

// most is how many colours a file may hold.
const most = 4096

// Formats lists the formats, by the extension of their files.
func Formats() []string { return []string{".gpl", ".hex", ".pal"} }

// Read reads a file of one of the Formats. An error names the line.
func Read(format string, text []byte) ([]Colour, error) {
	lines := strings.Split(strings.ReplaceAll(string(bytes.TrimPrefix(text, []byte("\ufeff"))), "\r", ""), "\n")
	read, head, err := reader(format, lines)
	if err != nil {
		return nil, err
	}
	var out []Colour
	for i, line := range lines {
		if i < head || strings.TrimSpace(line) == "" {
			continue
		}
		c, ok, err := read(strings.TrimSpace(line))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if ok {
			out = append(out, c)
		}
		if len(out) > most {
			return nil, fmt.Errorf("line %d: more than %d colours", i+1, most)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("the file has no colours")
	}
	return out, nil
}

// reader is how a line of a format is read, behind the lines of its head. ok is
// false for a line without a colour.
func reader(format string, lines []string) (read func(string) (c Colour, ok bool, err error), head int, err error) {
	switch format {
	case ".gpl":
		if strings.TrimSpace(lines[0]) != "GIMP Palette" {
			return nil, 0, errors.New(`line 1: a GIMP palette starts with "GIMP Palette"`)
		}
		return gimp, 1, nil
	case ".pal":
		if len(lines) < 3 || strings.TrimSpace(lines[0]) != "JASC-PAL" {
			return nil, 0, errors.New(`line 1: a JASC palette starts with "JASC-PAL"`)
		}
		return numbers, 3, nil
	case ".hex":
		return hexadecimal, 0, nil
	}
	return nil, 0, fmt.Errorf("unknown palette format %q (known: %s)", format, strings.Join(Formats(), ", "))
}

func gimp(line string) (Colour, bool, error) {
	if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "Name:") || strings.HasPrefix(line, "Columns:") || strings.HasPrefix(line, "Channels:") {
		return Colour{}, false, nil
	}
	return numbers(line)
}

// numbers reads red, green and blue, perhaps alpha, and behind them a name.
func numbers(line string) (Colour, bool, error) {
	fields := strings.Fields(line)
	v := [4]uint8{0, 0, 0, 255}
	n := 0
	for ; n < len(v) && n < len(fields); n++ {
		x, err := strconv.ParseUint(fields[n], 10, 8)
		if err != nil {
			break
		}
		v[n] = uint8(x)
	}
	if n < 3 {
		return Colour{}, false, fmt.Errorf("invalid colour %q: want three numbers from 0 to 255", line)
	}
	name := strings.Join(fields[n:], " ")
	if strings.EqualFold(name, "untitled") {
		name = ""
	}
	return Colour{name, color.NRGBA{R: v[0], G: v[1], B: v[2], A: v[3]}}, true, nil
}

func hexadecimal(line string) (Colour, bool, error) {
	if strings.HasPrefix(line, ";") || strings.HasPrefix(line, "//") {
		return Colour{}, false, nil
	}
	b, err := hex.DecodeString(strings.TrimPrefix(line, "#"))
	if err != nil || len(b) != 3 && len(b) != 4 {
		return Colour{}, false, fmt.Errorf("invalid colour %q: want six hexadecimal digits", line)
	}
	c := Colour{Value: color.NRGBA{R: b[0], G: b[1], B: b[2], A: 255}}
	if len(b) == 4 {
		c.Value.A = b[3]
	}
	return c, true, nil
}

// Write writes a file of one of the Formats. Only opaque colours can be kept; the
// others are left out and counted.
func Write(format, name string, list []Colour) (text []byte, left int, err error) {
	var b bytes.Buffer
	opaque := make([]Colour, 0, len(list))
	for _, c := range list {
		if c.Value.A == 255 {
			opaque = append(opaque, c)
		}
	}
	switch format {
	case ".gpl":
		fmt.Fprintf(&b, "GIMP Palette\nName: %s\nColumns: 0\n#\n", oneLine(name))
	case ".pal":
		fmt.Fprintf(&b, "JASC-PAL\r\n0100\r\n%d\r\n", len(opaque))
	case ".hex":
	default:
		return nil, 0, fmt.Errorf("unknown palette format %q (known: %s)", format, strings.Join(Formats(), ", "))
	}
	for _, c := range opaque {
		v := c.Value
		switch format {
		case ".gpl":
			fmt.Fprintf(&b, "%3d %3d %3d\t%s\n", v.R, v.G, v.B, oneLine(c.Name))
		case ".pal":
			fmt.Fprintf(&b, "%d %d %d\r\n", v.R, v.G, v.B)
		default:
			fmt.Fprintf(&b, "%02x%02x%02x\n", v.R, v.G, v.B)
		}
	}
	return b.Bytes(), len(list) - len(opaque), nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
