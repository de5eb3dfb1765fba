package pixels_test

import (
	"time"

	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
)

func testFrame(w, h int) *tui.Frame {
	return &tui.Frame{W: w, H: h, Theme: theme.New(theme.Options{Dark: true}), Now: time.Now(), Focus: true}
}
