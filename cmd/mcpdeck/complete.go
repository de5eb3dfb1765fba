package main

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/change"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setup"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// completeWithin is how long a shell waits for words.
const completeWithin = 3 * time.Second

// completeServers completes up to most names of servers that are not on the line yet:
// of mcpdeck's own those given, and of those that the user has added.
func completeServers(a *app, own []string, most int) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		cfg, err := a.load()
		if err != nil || len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names := slices.DeleteFunc(slices.Concat(own, cardNames(cfg)), func(n string) bool { return slices.Contains(args, n) })
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeChanges completes the ID of a change that can be undone.
func completeChanges(a *app) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		cfg, err := a.load()
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		entries, _ := change.Journal{Dir: cfg.Paths.Undo}.Entries() // without them, nothing is to be said
		var words []string
		for _, e := range entries {
			words = append(words, cobra.CompletionWithDesc(e.ID, sanitize.Line(e.What)))
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeProfiles completes the name of a profile of the configuration.
func completeProfiles(a *app) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		cfg, err := a.load()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return slices.Sorted(maps.Keys(cfg.File.Profile)), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeCall completes a tool, and then its arguments, as KEY=.
func completeCall(ctx context.Context, a *app, args []string) ([]string, cobra.ShellCompDirective) {
	tools, err := toolsWithin(ctx, a)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	if len(args) == 0 {
		return toolWords(tools), cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for i := range tools {
		t := &tools[i]
		if t.Name != args[0] {
			continue
		}
		for _, n := range t.parameters() {
			if !slices.ContainsFunc(args[1:], func(arg string) bool { return strings.HasPrefix(arg, n+"=") }) {
				words = append(words, cobra.CompletionWithDesc(sanitize.Line(n)+"=", sanitize.Cut(sanitize.Line(t.InputSchema.Properties[n].Description), 60)))
			}
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

func toolWords(tools []toolInfo) []string {
	var words []string
	for i := range tools {
		words = append(words, cobra.CompletionWithDesc(sanitize.Line(tools[i].Name), tools[i].short()))
	}
	return words
}

// switched are the servers of mcpdeck's own of which definitions may be held.
func switched() (names []string) {
	for _, p := range plugin.All() {
		if p.HasSwitch {
			names = append(names, p.Name())
		}
	}
	return names
}

// toolsWithin are the tools for a shell that waits for words.
func toolsWithin(ctx context.Context, a *app) ([]toolInfo, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completeWithin)
	defer cancel()
	cfg, err := a.load()
	if err != nil {
		return nil, err
	}
	client, end, err := connect(ctx, cfg, nil)
	if err != nil {
		return nil, err
	}
	defer end()
	return listTools(ctx, client)
}

// completeWords makes arguments and flags of fixed words complete.
func completeWords(root *cobra.Command, a *app) {
	const many = math.MaxInt
	own := plugin.Names()
	for name, complete := range map[string]cobra.CompletionFunc{
		"mcp": completeServers(a, own, many), "tools": completeServers(a, own, many),
		"on": completeServers(a, own, 1), "off": completeServers(a, own, 1), "lazy": completeServers(a, own, 1),
		"restart": completeServers(a, own, 1), "status": completeServers(a, own, 1),
		"accept": completeServers(a, switched(), 1),
		"remove": completeServers(a, nil, 1),
		"undo":   completeChanges(a),
	} {
		for _, path := range [][]string{{name}, {"server", name}} {
			if c, _, err := root.Find(path); err == nil && c.Name() == name {
				c.ValidArgsFunction = complete
			}
		}
	}
	if c, _, err := root.Find([]string{"setup"}); err == nil {
		c.ValidArgsFunction = func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			switch {
			case len(args) > 0:
				return nil, cobra.ShellCompDirectiveNoFileComp
			case c.Flag("prompts").Changed:
				return setup.PromptNames(), cobra.ShellCompDirectiveNoFileComp
			}
			return setup.Names(), cobra.ShellCompDirectiveNoFileComp
		}
	}
	if c, _, err := root.Find([]string{"import"}); err == nil {
		c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return setup.Names(), cobra.ShellCompDirectiveDefault // or a file
		}
	}
	if c, _, err := root.Find([]string{"mcp"}); err == nil {
		_ = c.RegisterFlagCompletionFunc("profile", completeProfiles(a))
	}
	if c, _, err := root.Find([]string{"log"}); err == nil {
		_ = c.RegisterFlagCompletionFunc("tool", func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			tools, err := toolsWithin(c.Context(), a)
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			return toolWords(tools), cobra.ShellCompDirectiveNoFileComp
		})
	}
	for _, f := range []struct {
		command, flag string
		words         []string
	}{
		{"", "page", pageIDs()},
		{"", "background", []string{"dark", "light"}},
		{"setup", "signals", []string{"hooks"}},
		{"log", "status", []string{"ok", "error", "refused", "cancelled", "lost"}},
		{"log", "server", plugin.Names()},
		{"add", "transport", []string{"auto", "http", "sse"}},
	} {
		if c, _, err := root.Find(strings.Fields(f.command)); err == nil {
			// It fails only where there is no such flag, which a test would see.
			_ = c.RegisterFlagCompletionFunc(f.flag, cobra.FixedCompletions(f.words, cobra.ShellCompDirectiveNoFileComp))
		}
	}
}
