package sessions

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	tokens "github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// PriceList is the table of list prices: the one that is part of mcpdeck, and over it the
// user's own. An error says what is wrong with the latter.
func PriceList(cfg *config.Config) (*tokens.Prices, error) {
	list, err := tokens.List()
	path := cfg.File.Prices.File
	if err != nil || path == "" {
		return list, err
	}
	if rest, home := strings.CutPrefix(path, "~"); home {
		path = filepath.Join(cfg.Home, rest)
	}
	data, err := file.ReadPlain(path, true, 16<<20)
	if err != nil {
		return list, fmt.Errorf("prices.file: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return list, fmt.Errorf("prices.file: %w", err)
	}
	mine, err := tokens.ParsePrices(data, fmt.Sprintf("%s of %s", cfg.File.Prices.File, info.ModTime().Format(time.DateOnly)))
	if err != nil {
		return list, fmt.Errorf("prices.file: %w", err)
	}
	return mine.Over(list), nil
}
