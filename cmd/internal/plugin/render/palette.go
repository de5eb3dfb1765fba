package render

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/colour"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/swatch"
	onDisk "github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// PaletteCommand converts palettes.
func PaletteCommand() *cobra.Command {
	var name, output string
	formats := strings.Join(swatch.Formats(), ", ")
	c := &cobra.Command{
		Use:   "palette FILE",
		Short: "Convert palettes between .pxl and " + formats,
		Long: "Write the palette of a .pxl file, or a built-in one such as @pico8, as " + formats + ";\n" +
			"or make a palette object of a file in one of those formats. Without -o, print the object.",
		Example: "  mcpdeck palette hero.pxl --name skin -o skin.gpl\n  mcpdeck palette @pico8 -o pico8.hex\n  mcpdeck palette sweetie-16.hex >> art.pxl",
		RunE: func(c *cobra.Command, files []string) error {
			if len(files) != 1 {
				return exit.Usagef("name one palette: a .pxl file, one of %s, or a built-in one such as @pico8", formats)
			}
			text, left, err := convert(files[0], name, output)
			if err != nil {
				return err
			}
			if left > 0 {
				fmt.Fprintf(c.ErrOrStderr(), "skipped %s: not opaque\n", humanize.Count(left, "colour"))
			}
			if output == "" || output == "-" {
				if _, err := console.Bytes(c.OutOrStdout()).Write(text); err != nil {
					return fmt.Errorf("write the palette: %w", err)
				}
				return nil
			}
			if err := os.WriteFile(output, text, 0o644); err != nil {
				return fmt.Errorf("write %s: %w", output, reason(err))
			}
			return nil
		},
	}
	c.Flags().StringVar(&name, "name", "", "the palette of a .pxl file (default: its first), or the name of a new one")
	c.Flags().StringVarP(&output, "output", "o", "", "file to write; its extension sets the format")
	return c
}

// convert reads one palette and writes it in the format of the output's name.
// left counts the colours that the format cannot hold.
func convert(file, name, output string) (text []byte, left int, err error) {
	from, to := strings.ToLower(filepath.Ext(file)), strings.ToLower(filepath.Ext(output))
	if slices.Contains(swatch.Formats(), from) {
		if to != "" && to != ".pxl" {
			return nil, 0, exit.Usagef("-o %s: a %s file becomes .pxl", output, from)
		}
		data, err := onDisk.ReadPlain(file, true, 16<<20)
		if err != nil {
			return nil, 0, fmt.Errorf("read %s: %w", file, reason(err))
		}
		list, err := swatch.Read(from, data)
		if err != nil {
			return nil, 0, fmt.Errorf("read %s: %w", file, err)
		}
		name = cmp.Or(name, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
		return paletteObject(name, list), 0, nil
	}
	if !slices.Contains(swatch.Formats(), to) {
		return nil, 0, exit.Usagef("name a file to write with -o: one of %s", strings.Join(swatch.Formats(), ", "))
	}
	doc := pxl.Parse(nil, pxl.Options{})
	if strings.HasPrefix(file, "@") {
		name = file
	} else if doc, err = pixelsrc.Load(file, pxl.Documented); err != nil {
		return nil, 0, err
	}
	for _, ob := range doc.AllObjects() {
		if name == "" && ob.Kind == pxl.KindPalette {
			name = ob.Name
		}
	}
	colours, found := doc.Colours(&pxl.PaletteRef{Name: name})
	if !found {
		if name == "" {
			return nil, 0, fmt.Errorf("%s: no palette object; palettes inside sprites are not converted", file)
		}
		return nil, 0, fmt.Errorf("%s: no palette %q", file, name)
	}
	var list []swatch.Colour
	for _, c := range colours {
		token := strings.Trim(c.Token, "{}")
		if c.Valid && token != "_" && !strings.HasPrefix(token, "--") {
			list = append(list, swatch.Colour{Name: token, Value: c.Color})
		}
	}
	return swatch.Write(to, strings.TrimPrefix(name, "@"), list)
}

// paletteObject is a palette as .pxl text, with a token a colour.
func paletteObject(name string, list []swatch.Colour) []byte {
	var b strings.Builder
	quoted := func(s string) string {
		text, _ := json.Marshal(s) // strings always encode
		return string(text)
	}
	fmt.Fprintf(&b, `{"type": "palette", "name": %s, "colors": {"_": "#00000000"`, quoted(name))
	taken := map[string]bool{"_": true}
	for i, c := range list {
		token := tokenOf(c.Name)
		if token == "" || taken[token] {
			token = strings.TrimPrefix(fmt.Sprintf("%s_c%d", token, i+1), "_")
		}
		taken[token] = true
		fmt.Fprintf(&b, ", %s: %s", quoted(token), quoted(colour.Hex(c.Value)))
	}
	b.WriteString("}}\n")
	return []byte(b.String())
}

// tokenOf makes a token of a colour's name: letters, digits and underscores.
func tokenOf(name string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '_'
	}, name), "_")
}
