package swatch

import (
	"image/color"
	"slices"
	"strings"
	"testing"
)

func TestPalettesAreReadAsTheirProgramsWriteThem(t *testing.T) {
	red, blue := color.NRGBA{R: 255, A: 255}, color.NRGBA{B: 128, A: 255}
	tests := []struct {
		name, format, text string
		want               []Colour
	}{
		{"GIMP", ".gpl", "GIMP Palette\nName: Two\nColumns: 2\n# a comment\n255   0   0\tPure red\n  0   0 128\tUntitled\n", []Colour{{"Pure red", red}, {"", blue}}},
		{"GIMP of Aseprite", ".gpl", "GIMP Palette\r\nChannels: RGBA\r\n#\r\n255 0 0 255 Red\r\n", []Colour{{"Red", red}}},
		{"a list", ".hex", "ff0000\r\n#000080\n\n", []Colour{{"", red}, {"", blue}}},
		{"JASC", ".pal", "JASC-PAL\r\n0100\r\n2\r\n255 0 0\r\n0 0 128\r\n", []Colour{{"", red}, {"", blue}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Read(tt.format, []byte(tt.text))
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("got %v, %v, want %v", got, err, tt.want)
			}
		})
	}
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	list := []Colour{{"skin", color.NRGBA{R: 1, G: 22, B: 255, A: 255}}, {"two words", color.NRGBA{A: 255}}, {"glass", color.NRGBA{A: 9}}}
	for _, format := range Formats() {
		text, left, err := Write(format, "some palette", list)
		if err != nil || left != 1 {
			t.Errorf("%s: %d left, %v", format, left, err)
		}
		got, err := Read(format, text)
		want := slices.Clone(list[:2])
		if format != ".gpl" {
			want[0].Name, want[1].Name = "", ""
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v, %v, want %v", format, got, err, want)
		}
	}
}

func TestWhatIsNoPaletteIsToldWithItsLine(t *testing.T) {
	for format, text := range map[string]string{".gpl": "GIMP Palette\nName: x\n300 0 0\n", ".hex": "ff0000\nno\n", ".pal": "JASC-PAL\n0100\n1\n1 2\n"} {
		if _, err := Read(format, []byte(text)); err == nil || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: got %v", format, err)
		}
	}
	for _, text := range []string{"", "\n", "x"} {
		for _, format := range append(Formats(), ".txt") {
			if c, err := Read(format, []byte(text)); err == nil {
				t.Errorf("%s of %q: got %v", format, text, c)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(".gpl", "GIMP Palette\n1 2 3\n")
	f.Add(".pal", "JASC-PAL\n0100\n1\n1 2 3")
	f.Add(".hex", "ffffff")
	f.Fuzz(func(t *testing.T, format, text string) {
		list, err := Read(format, []byte(text))
		if err == nil && (len(list) == 0 || len(list) > most+1) {
			t.Fatalf("%d colours of %q", len(list), text)
		}
	})
}
