package tools

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// completeWithin is how long a shell waits for words.
const completeWithin = 3 * time.Second

// completeCall completes a tool, and then its arguments, as KEY=.
func completeCall(ctx context.Context, a *cli.Globals, args []string) ([]string, cobra.ShellCompDirective) {
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

// completeTool completes the name of a tool.
func completeTool(a *cli.Globals) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		tools, err := toolsWithin(c.Context(), a)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return toolWords(tools), cobra.ShellCompDirectiveNoFileComp
	}
}

func toolWords(tools []toolInfo) []string {
	var words []string
	for i := range tools {
		words = append(words, cobra.CompletionWithDesc(sanitize.Line(tools[i].Name), tools[i].short()))
	}
	return words
}

// toolsWithin are the tools for a shell that waits for words.
func toolsWithin(ctx context.Context, a *cli.Globals) ([]toolInfo, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completeWithin)
	defer cancel()
	cfg, err := a.Load()
	if err != nil {
		return nil, err
	}
	client, err := connect(ctx, cfg, nil, false)
	if err != nil {
		return nil, err
	}
	defer client.end()
	return listTools(ctx, client.Client)
}
