package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/theme"
)

const themeSuffix = ".toml"

// ThemeFolder is where the themes are that belong to a configuration file.
func ThemeFolder(file string) string { return filepath.Join(filepath.Dir(file), "themes") }

// ThemeFile is the file of a theme, in the folder of themes.
type ThemeFile struct {
	// Built-in theme that has the colours that are not set, and says what terminals it is for.
	Base string `toml:"base"`
	theme.Palette
}

// Bases are the themes that another can be made of.
func Bases() []string {
	return []string{"dark", "light", "high-contrast-dark", "high-contrast-light"}
}

// Themes are the themes that there are, those of files last.
func (c *Config) Themes() []theme.Scheme {
	return append(theme.Schemes(c.File.Theme.Dark, c.File.Theme.Light), c.themes...)
}

// WeakThemes says which colours that the user has chosen are hard to read, with their
// lines.
func (c *Config) WeakThemes() (out []string) {
	for _, own := range []struct {
		table  string
		scheme theme.Scheme
	}{{"theme.dark", theme.Scheme{Dark: c.scheme(theme.Follows).Dark}}, {"theme.light", theme.Scheme{Light: c.scheme(theme.Follows).Light}}} {
		for _, text := range own.scheme.Weak() {
			colour, _, _ := strings.Cut(text, " ")
			out = append(out, fmt.Sprintf("%s line %d: %s: %s", filepath.Base(c.Paths.Config), c.lines.of(own.table+"."+colour), own.table, text))
		}
	}
	for _, s := range c.themes {
		for _, text := range s.Weak() {
			colour, _, _ := strings.Cut(text, " ")
			out = append(out, fmt.Sprintf("%s: line %d: %s", filepath.Join("themes", s.Name+themeSuffix), max(c.themeLines[s.Name].of(colour), 1), text))
		}
	}
	return out
}

func (c *Config) themeNames() (names []string) {
	for _, s := range c.Themes() {
		names = append(names, s.Name)
	}
	return names
}

// readThemes reads the files of themes. What is wrong with one concerns no other.
func (c *Config) readThemes() {
	folder := ThemeFolder(c.Paths.Config)
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.Warnings = append(c.Warnings, fmt.Sprintf("read your themes: %v", err))
	}
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), themeSuffix)
		if !is || strings.HasPrefix(name, ".") {
			continue
		}
		s, warnings, err := c.readTheme(name, filepath.Join(folder, e.Name()))
		if err != nil {
			warnings = append(warnings, err.Error()+"; this theme is left out")
		} else {
			c.themes = append(c.themes, s)
		}
		for _, w := range warnings {
			c.Warnings = append(c.Warnings, filepath.Join("themes", e.Name())+": "+w)
		}
	}
}

func (c *Config) readTheme(name, path string) (theme.Scheme, []string, error) {
	b, err := file.ReadPlain(path, true, cardLimit)
	if err != nil {
		return theme.Scheme{}, nil, err
	}
	f := ThemeFile{Base: Bases()[0]}
	warnings, err := settings.Read(b, &f)
	switch {
	case err != nil:
		return theme.Scheme{}, nil, err
	case slices.Contains(c.themeNames(), name):
		return theme.Scheme{}, nil, errors.New("mcpdeck has a theme of this name; choose another")
	case !slices.Contains(Bases(), f.Base):
		return theme.Scheme{}, nil, fmt.Errorf("base: unknown value %q; use %s%s", f.Base, strings.Join(Bases(), ", "), didYouMean(f.Base, Bases()))
	}
	at, _ := linesOf(b)
	c.themeLines[name] = at
	for _, wrong := range f.Check() {
		warnings = append(warnings, fmt.Sprintf("line %d: %s: %s", at.of(wrong.Colour), wrong.Colour, wrong.Why))
	}
	s := theme.Scheme{Name: name, About: "of " + filepath.Join("themes", filepath.Base(path))}
	base := c.scheme(f.Base)
	s.Strong = base.Strong
	if base.Dark != nil {
		p := f.Over(*base.Dark)
		s.Dark = &p
	} else {
		p := f.Over(*base.Light)
		s.Light = &p
	}
	return s, warnings, nil
}

// scheme is the theme of a name; the zero one for none.
func (c *Config) scheme(name string) theme.Scheme {
	for _, s := range c.Themes() {
		if s.Name == name {
			return s
		}
	}
	return theme.Scheme{}
}

// ThemeOptions are the screen's colours and glyphs. Without a theme in the file, the
// scheme is the zero one: the screen knows which the user has picked there.
func (c *Config) ThemeOptions() theme.Options {
	o := theme.Options{Dark: c.File.UI.Background != "light", ASCII: c.File.UI.ASCII}
	if c.lines.set("theme.name") > 0 {
		o.Scheme = c.scheme(c.File.Theme.Name)
	}
	if Env("NO_COLOR") != "" {
		o.Depth = theme.NoColor
	}
	return o
}

// SetTheme writes the name of a theme into a configuration file that has one; false where
// it has none.
func SetTheme(path, name string) (bool, error) {
	e, err := change.EditOf(path)
	if at, _ := linesOf(e.Before); err != nil || at.set("theme.name") == 0 {
		return false, err
	}
	out, err := settings.SetWord(e.Before, "theme", "name", name, "\x00")
	if err == nil {
		err = file.Write(e.Place.Path(), out, file.Options{Keep: true})
	}
	return true, err
}
