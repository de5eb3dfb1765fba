package pxl

import (
	"slices"
	"strings"
)

// Builtins names the built-in palettes in catalogue order, without the @.
func Builtins() []string {
	var out []string
	for _, b := range builtinTable() {
		out = append(out, b[0])
	}
	return out
}

// Builtin gives the entries of a built-in palette, named without the @.
func Builtin(name string) (*Palette, bool) {
	table := builtinTable()
	i := slices.IndexFunc(table, func(b [2]string) bool { return b[0] == name })
	if i < 0 {
		return nil, false
	}
	p := &Palette{Name: name, Colors: []Entry{{Token: "{_}", Value: "#00000000"}}}
	for _, pair := range strings.Fields(table[i][1]) {
		token, hex, _ := strings.Cut(pair, "=")
		p.Colors = append(p.Colors, Entry{Token: "{" + token + "}", Value: "#" + hex})
	}
	return p, true
}

// builtinTable holds the palettes of the format (pixelsrc, MIT licence, © its authors).
func builtinTable() [][2]string {
	return [][2]string{
		{"gameboy", "lightest=9BBC0F light=8BAC0F dark=306230 darkest=0F380F"},
		{"nes", "black=000000 white=FCFCFC red=A80020 green=00A800 blue=0058F8 cyan=00B8D8 yellow=F8D800 " +
			"orange=F83800 pink=F878F8 brown=503000 gray=7C7C7C skin=FCB8B8"},
		{"pico8", "black=000000 dark_blue=1D2B53 dark_purple=7E2553 dark_green=008751 brown=AB5236 dark_gray=5F574F " +
			"light_gray=C2C3C7 white=FFF1E8 red=FF004D orange=FFA300 yellow=FFEC27 green=00E436 blue=29ADFF " +
			"indigo=83769C pink=FF77A8 peach=FFCCAA"},
		{"grayscale", "white=FFFFFF gray1=DFDFDF gray2=BFBFBF gray3=9F9F9F gray4=7F7F7F gray5=5F5F5F gray6=3F3F3F black=000000"},
		{"1bit", "black=000000 white=FFFFFF"},
		{"dracula", "background=282A36 current=44475A foreground=F8F8F2 comment=6272A4 cyan=8BE9FD green=50FA7B " +
			"orange=FFB86C pink=FF79C6 purple=BD93F9 red=FF5555 yellow=F1FA8C"},
		{"synthwave", "purple=BD93F9 pink=FF79C6 cyan=8BE9FD glow=E2B3FF hot=FF2D95 neon=00F7FF bg=282A36"},
	}
}
