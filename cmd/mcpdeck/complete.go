package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/setup"
	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/tui/picture"
)

// completeWithin is how long a shell waits for words.
const completeWithin = 3 * time.Second

// completeServers completes the names of servers that are not on the line yet.
func completeServers(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, n := range serverNames() {
		if !slices.Contains(args, n) {
			names = append(names, n)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
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
				words = append(words, cobra.CompletionWithDesc(plain.Line(n)+"=", plain.Cut(plain.Line(t.InputSchema.Properties[n].Description), 60)))
			}
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

func toolWords(tools []toolInfo) []string {
	var words []string
	for i := range tools {
		words = append(words, cobra.CompletionWithDesc(plain.Line(tools[i].Name), tools[i].short()))
	}
	return words
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
	for _, name := range []string{"mcp", "tools"} {
		if c, _, err := root.Find([]string{name}); err == nil {
			c.ValidArgsFunction = completeServers
		}
	}
	if c, _, err := root.Find([]string{"setup"}); err == nil {
		c.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return setup.Names(), cobra.ShellCompDirectiveNoFileComp
		}
	}
	if c, _, err := root.Find([]string{"import"}); err == nil {
		c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return setup.Names(), cobra.ShellCompDirectiveDefault // or a file
		}
	}
	if c, _, err := root.Find([]string{"remove"}); err == nil {
		c.ValidArgsFunction = completeCards(a)
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
		{"log", "status", []string{"ok", "error", "refused", "cancelled", "lost"}},
		{"log", "server", serverNames()},
		{"add", "transport", []string{"auto", "http", "sse"}},
		{"render", "dialect", []string{"documented", "reference"}},
		{"render", "kind", []string{"sprite", "variant", "composition", "animation"}},
		{"render", "show", picture.ModeNames()},
		{"ask config", "client", ask.ClientNames()},
	} {
		if c, _, err := root.Find(strings.Fields(f.command)); err == nil {
			// It fails only where there is no such flag, which a test would see.
			_ = c.RegisterFlagCompletionFunc(f.flag, cobra.FixedCompletions(f.words, cobra.ShellCompDirectiveNoFileComp))
		}
	}
}
