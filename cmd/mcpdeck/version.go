package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	tokens "github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// version is the program's, from the build.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "dev"
	}
	return info.Main.Version
}

func printVersion(c *cobra.Command) { c.Println("mcpdeck " + version()) }

func versionCommand(a *app) *cobra.Command {
	verbose := false
	c := &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			printVersion(c)
			if !verbose {
				return nil
			}
			cfg, err := a.load()
			if err != nil {
				return err
			}
			p, err := prices(cfg)
			if p != nil {
				c.Printf("%s, %s\n", runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH)
				c.Printf("prices of %d models: %s\n", p.Len(), p.Source)
			}
			return err
		},
	}
	c.Flags().BoolVar(&verbose, "verbose", false, "also what it was built with, and the table of prices")
	return c
}

// prices is the table of list prices: the one that is part of mcpdeck, and over it the
// user's own. An error says what is wrong with the latter.
func prices(cfg *config.Config) (*tokens.Prices, error) {
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
