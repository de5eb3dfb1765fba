package tools

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/reconnect"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

type callFlags struct {
	json string
	raw  bool
	save string
}

// CallCommand returns the command call.
func CallCommand(a *cli.Globals) *cobra.Command {
	var f callFlags
	c := &cobra.Command{
		Use:   "call TOOL [KEY=VALUE... | --json OBJECT | -]",
		Short: "Call a tool, through the deck if one is running",
		Example: "  mcpdeck call read_project_context --help\n  mcpdeck call read_project_context directoryPath=.\n" +
			"  mcpdeck call pixelsrc_render --json '{\"path\": \"hero.pxl\"}' --save .",
		Long: `Call a tool, through the deck if one is running, or else in this process.

Values are read by the tool's schema: text as it is, anything else as JSON.
"-" reads the arguments as a JSON object from standard input. Control
characters are removed from the output; --raw keeps them as escapes.
--help after a tool's name shows its parameters.`,
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return completeCall(c.Context(), a, args)
		},
		Args: cli.Args(1, cli.Any, "name a tool; mcpdeck tools lists them"),
		RunE: a.Run(func(c *cobra.Command, cfg *config.Config, args []string) error {
			return callTool(c, cfg, f, args[0], args[1:])
		}),
	}
	c.Flags().StringVar(&f.json, "json", "", "arguments as a JSON object")
	c.Flags().BoolVar(&f.raw, "raw", false, "print the result as JSON")
	c.Flags().StringVar(&f.save, "save", "", "folder to save the result's images to, as new files")
	help := c.HelpFunc()
	c.SetHelpFunc(func(c *cobra.Command, args []string) {
		if named := c.Flags().Args(); len(named) == 0 || toolHelp(c, a, named[0]) != nil {
			help(c, args)
		}
	})
	return c
}

func callTool(c *cobra.Command, cfg *config.Config, f callFlags, tool string, pairs []string) error {
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
	defer stop()
	client, err := connect(ctx, cfg, nil, false)
	if err != nil {
		return err
	}
	defer func() {
		if client != nil { // the last
			client.end()
		}
	}()
	info, err := findTool(ctx, client.Client, tool)
	if err != nil {
		return err
	}
	args, err := arguments(c, info, f.json, pairs)
	if err != nil {
		return err
	}
	meta := map[string]any{backend.ResumeKeyMeta: ask.NewKey(), backend.AskedMeta: time.Now().UnixMilli()}
	params := map[string]any{"name": tool, "arguments": args, "_meta": meta}
	var result json.RawMessage
	err = client.Call(ctx, "tools/call", params, &result)
	for slices.Contains(client.resumable, tool) && client.ended(ctx, result, err) {
		client.end()
		const patience = 5 * time.Second // with a deck that still listens and answers no more
		client, err = reconnect.Dial(ctx, reconnect.Pauses{First: 10 * time.Millisecond, Most: 200 * time.Millisecond}, patience, func(ctx context.Context) (*deck, error) {
			return connect(ctx, cfg, nil, true)
		})
		if err != nil {
			return err
		}
		meta[backend.AgainMeta] = true
		err = client.Call(ctx, "tools/call", params, &result)
	}
	if refused := new(rpc.Error); errors.As(err, &refused) {
		// A user lists the tools by another name than an agent.
		return errors.New(strings.ReplaceAll(refused.Message, "call tools/list", "run mcpdeck tools"))
	}
	if err != nil {
		return err
	}
	err = printResult(c, f, tool, result)
	for range 2 { // a client that only leaves may have had no result; a first ping may come before the deck has noted that it wrote one
		_ = client.Call(ctx, "ping", struct{}{}, nil)
	}
	return err
}

func printResult(c *cobra.Command, f callFlags, tool string, result json.RawMessage) error {
	var r struct {
		Content []struct {
			Type, Text, Data string
			MIMEType         string `json:"mimeType"`
		} `json:"content"`
		IsError bool `json:"isError"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return fmt.Errorf("read the result: %w", err)
	}
	out := c.OutOrStdout()
	if r.IsError {
		out = c.ErrOrStderr()
	}
	if f.raw {
		fmt.Fprintln(console.JSON(out), string(result))
	}
	images := 0
	for _, b := range r.Content {
		switch {
		case b.Data != "":
			images++
			line, err := saveImage(f.save, tool, images, b.MIMEType, b.Data)
			if err != nil {
				return err
			}
			if !f.raw {
				fmt.Fprintln(out, line)
			}
		case !f.raw:
			fmt.Fprintln(out, b.Text)
		}
	}
	if r.IsError {
		return exit.Failed
	}
	if len(r.Content) == 0 || len(r.Content) == 1 && images == 0 && strings.TrimSpace(r.Content[0].Text) == "" {
		fmt.Fprintln(c.ErrOrStderr(), "the result is empty")
	}
	return nil
}

// saveImage writes an image of a result, if a folder is given, and says so. A
// file that is there already stays; the new one gets the next number.
func saveImage(dir, tool string, n int, kind, data string) (string, error) {
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return "", fmt.Errorf("read an image of the result: %w", err)
	}
	if dir == "" {
		return fmt.Sprintf("[%s, %s; --save DIR saves it]", kind, humanize.Bytes(len(b))), nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("save an image: %w", err)
	}
	stem := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, tool)
	for ; ; n++ {
		path := filepath.Join(dir, fmt.Sprintf("%s-%d%s", stem, n, extension(kind)))
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			_, err = f.Write(b)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return "", fmt.Errorf("save an image: %w", err)
		}
		return path, nil
	}
}

// extension is the end of a file's name for a type of image. The type is a
// server's word: only known ones become part of a name.
func extension(kind string) string {
	switch kind {
	case "image/png", "image/gif", "image/webp", "image/bmp", "image/avif":
		return "." + strings.TrimPrefix(kind, "image/")
	case "image/jpeg":
		return ".jpg"
	case "image/svg+xml":
		return ".svg"
	}
	return ".bin"
}
