package app

import (
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
)

// CheckScreen tells of words that the screen's flags do not know.
func CheckScreen(a *cli.Globals) error {
	f := a.Flags
	if f.Page != "" && !slices.Contains(PageIDs(), f.Page) {
		return exit.Usagef("%s%q: use %s", a.Said("page"), f.Page, strings.Join(PageIDs(), ", "))
	}
	if f.Background != "" && f.Background != "dark" && f.Background != "light" {
		return exit.Usagef("%s%q: use dark or light", a.Said("background"), f.Background)
	}
	return nil
}
