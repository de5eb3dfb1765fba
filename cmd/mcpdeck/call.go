package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/servers/wire"
)

type callFlags struct {
	json string
	raw  bool
	save string
}

func callCommand(a *app) *cobra.Command {
	var f callFlags
	c := &cobra.Command{
		Use:   "call TOOL [KEY=VALUE... | --json OBJECT | -]",
		Short: "Call one tool, through the deck if one runs",
		Long: `Call one tool, through the deck if one runs, else in this process.

Values are taken as the tool's schema wants them: text as it stands, anything
else as JSON. "-" reads the arguments as a JSON object from standard input.
What is printed has no control characters; --raw has them all, as escapes.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("name a tool; mcpdeck tools lists them")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return callTool(c, a, f, args[0], args[1:]) },
	}
	c.Flags().StringVar(&f.json, "json", "", "arguments as a JSON object")
	c.Flags().BoolVar(&f.raw, "raw", false, "print the result as JSON")
	c.Flags().StringVar(&f.save, "save", "", "folder to write the result's images to")
	return c
}

func callTool(c *cobra.Command, a *app, f callFlags, tool string, pairs []string) error {
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
	defer stop()
	cfg, err := a.load()
	if err != nil {
		return err
	}
	client, end, err := connect(ctx, cfg, nil)
	if err != nil {
		return err
	}
	defer end()
	args, err := arguments(ctx, c, client, f, tool, pairs)
	if err != nil {
		return err
	}
	var result json.RawMessage
	err = client.Call(ctx, "tools/call", map[string]any{"name": tool, "arguments": args}, &result)
	if rpc := new(wire.RPCError); errors.As(err, &rpc) {
		// A person lists the tools by another name than an agent.
		return errors.New(strings.ReplaceAll(rpc.Message, "tools/list", "mcpdeck tools"))
	}
	if err != nil {
		return err
	}
	return printResult(c, f, tool, result)
}

// arguments builds the call's arguments from the command line.
func arguments(ctx context.Context, c *cobra.Command, client *wire.Client, f callFlags, tool string, pairs []string) (json.RawMessage, error) {
	text := f.json
	if len(pairs) == 1 && pairs[0] == "-" {
		b, err := io.ReadAll(c.InOrStdin())
		if err != nil {
			return nil, fmt.Errorf("read the arguments: %w", err)
		}
		text, pairs = string(b), nil
	}
	args := map[string]json.RawMessage{}
	if text != "" {
		if err := json.Unmarshal([]byte(text), &args); err != nil {
			return nil, usagef("the arguments are no JSON object: %v", err)
		}
	}
	if len(pairs) > 0 {
		types, err := propertyTypes(ctx, client, tool)
		if err != nil {
			return nil, err
		}
		for _, pair := range pairs {
			key, value, found := strings.Cut(pair, "=")
			if !found {
				return nil, usagef("%q is not KEY=VALUE", pair)
			}
			if args[key], err = asJSON(value, types[key]); err != nil {
				return nil, usagef("%s: %v", key, err)
			}
		}
	}
	return json.Marshal(args)
}

// propertyTypes returns the type of each argument in a tool's schema.
func propertyTypes(ctx context.Context, client *wire.Client, tool string) (map[string]string, error) {
	var list struct{ Tools []toolInfo }
	if err := client.Call(ctx, "tools/list", map[string]any{}, &list); err != nil {
		return nil, err
	}
	types := map[string]string{}
	for _, t := range list.Tools {
		if t.Name == tool {
			for name, p := range t.InputSchema.Properties {
				types[name], _ = p.Type.(string)
			}
		}
	}
	return types, nil
}

// asJSON is a value from the command line as its type wants it.
func asJSON(value, kind string) (json.RawMessage, error) {
	switch {
	case kind == "string":
		return json.Marshal(value)
	case json.Valid([]byte(value)):
		return json.RawMessage(value), nil
	case kind == "":
		return json.Marshal(value)
	}
	return nil, fmt.Errorf("%q is no %s", value, kind)
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
		return exitCode(exitFailed)
	}
	return nil
}

// saveImage writes an image of a result, if a folder is given, and says so.
func saveImage(dir, tool string, n int, kind, data string) (string, error) {
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return "", fmt.Errorf("read an image of the result: %w", err)
	}
	if dir == "" {
		return fmt.Sprintf("[%s, %d bytes; --save DIR keeps it]", kind, len(b)), nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("save an image: %w", err)
	}
	extension := "." + strings.TrimPrefix(kind, "image/")
	if known, err := mime.ExtensionsByType(kind); kind != "image/png" && kind != "image/gif" && err == nil && len(known) > 0 {
		extension = known[0]
	}
	path := filepath.Join(dir, fmt.Sprintf("%s-%d%s", tool, n, extension))
	if err := os.WriteFile(path, b, 0o644); err != nil {
		return "", fmt.Errorf("save an image: %w", err)
	}
	return path, nil
}
