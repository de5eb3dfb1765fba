package config

import (
	"fmt"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
)

// PixelsrcOptions are the pixel art server's. An unknown dialect is a warning,
// and the default is taken.
func (c *Config) PixelsrcOptions() pixelsrc.Options {
	dialect, ok := pxl.ParseDialect(c.File.Pixelsrc.Dialect)
	if !ok {
		c.Warnings = append(c.Warnings, fmt.Sprintf("pixelsrc.dialect %q is neither documented nor reference; documented is used", c.File.Pixelsrc.Dialect))
	}
	return pixelsrc.Options{Dialect: dialect, AllowDirs: c.File.AllowDirs, Roots: c.Roots}
}
