package main

import (
	"errors"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
)

// everyFlag calls f for each flag that each command defines.
func everyFlag(root *cobra.Command, f func(*cobra.Command, *pflag.Flag)) {
	root.LocalFlags().VisitAll(func(flag *pflag.Flag) { f(root, flag) })
	for _, c := range root.Commands() {
		everyFlag(c, f)
	}
}

func TestEveryFlagHasAVariable(t *testing.T) {
	examples := map[string]string{
		"bool": "true", "int": "7", "float64": "0.5", "duration": "90s", "string": "x", "stringArray": "a=1,b\nc", "stringSlice": "a,b\nc",
	}
	lists := map[string]string{"stringArray": `["a=1,b",c]`, "stringSlice": `[a,b,c]`}
	owners := map[string]string{}
	everyFlag(newRoot(), func(c *cobra.Command, flag *pflag.Flag) {
		if !cli.HasVariable(flag) {
			return
		}
		name := cli.Variable(c, flag)
		t.Run(name, func(t *testing.T) {
			if other := owners[name]; other != "" {
				t.Fatalf("stands for a flag of %s and of %s", other, c.CommandPath())
			}
			owners[name] = c.CommandPath()
			example, want := examples[flag.Value.Type()], lists[flag.Value.Type()]
			if flag.Name == "allow-dir" {
				example, want = "/a"+string(os.PathListSeparator)+"/b,c", `[/a,"/b,c"]`
			}
			if example == "" {
				t.Fatalf("no example of a %s", flag.Value.Type())
			}
			t.Setenv(name, example)
			root := newRoot()
			fresh, _, err := root.Find(strings.Fields(c.CommandPath())[1:])
			if err == nil {
				err = fresh.ParseFlags(nil)
			}
			if err == nil {
				err = root.PersistentPreRunE(fresh, nil)
			}
			got := fresh.Flags().Lookup(flag.Name)
			if want == "" {
				want = example
			}
			if is := strings.ReplaceAll(got.Value.String(), "1m30s", "90s"); err != nil || is != want || !got.Changed {
				t.Errorf("%v: is %s, want %s", err, is, want)
			}
		})
	})
	if len(owners) < 50 {
		t.Errorf("only %d flags were found", len(owners))
	}
	c := sources(t)
	for _, s := range c.shipped(t) {
		for _, f := range s.files {
			ast.Inspect(f, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && s.path != "cmd/internal/hook" {
					if text, err := strconv.Unquote(lit.Value); err == nil && owners[text] != "" {
						t.Errorf("%s: %s is read here, and stands for a flag of %s", c.at(n), text, owners[text])
					}
				}
				return true
			})
		}
	}
}

func TestAFlagWinsOverItsVariableAndThatOverTheConfiguration(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(name, home)
	}
	file := filepath.Join(home, "own.toml")
	if err := os.WriteFile(file, []byte("[http]\nport = 1001\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct {
		name, args string
		env        []string
		port       int
	}{
		{"the configuration", "serve --config " + file, nil, 1001},
		{"a variable", "serve --config " + file, []string{"MCPDECK_SERVE_PORT=1002"}, 1002},
		{"a flag", "serve --port 1003 --config " + file, []string{"MCPDECK_SERVE_PORT=1002"}, 1003},
		{"a variable of all commands", "serve", []string{"MCPDECK_CONFIG=" + file}, 1001},
		{"a flag of all commands", "--config " + file + " serve", []string{"MCPDECK_CONFIG=/no/such.toml"}, 1001},
		{"the variable of another command", "serve --config " + file, []string{"MCPDECK_PORT=many"}, 1001},
		{"an empty variable", "serve --config " + file, []string{"MCPDECK_SERVE_PORT="}, 1001},
	} {
		t.Run(r.name, func(t *testing.T) {
			for _, v := range r.env {
				name, value, _ := strings.Cut(v, "=")
				t.Setenv(name, value)
			}
			a := &cli.Globals{Flags: config.Flags{Port: -1}}
			root := commandLine(a)
			serve, _, err := root.Find([]string{"serve"})
			if err != nil {
				t.Fatal(err)
			}
			port := 0
			serve.RunE = func(*cobra.Command, []string) error {
				cfg, err := a.Load()
				if err == nil {
					port = cfg.File.HTTP.Port
				}
				return err
			}
			root.SetArgs(strings.Fields(r.args))
			if err := root.Execute(); err != nil || port != r.port {
				t.Errorf("%v: port %d, want %d", err, port, r.port)
			}
		})
	}
}

func TestAVariableThatItsFlagDoesNotTakeIsWrongUsage(t *testing.T) {
	for _, r := range []struct{ name, value, args, want string }{
		{"MCPDECK_LOG_LINES", "many", "log", `MCPDECK_LOG_LINES="many": use a whole number`},
		{"MCPDECK_VERSION_VERBOSE", "maybe", "version", `MCPDECK_VERSION_VERBOSE="maybe": use true or false`},
		{"MCPDECK_ASK_SERVER_CONNECT_WAIT", "long", "ask-server", `MCPDECK_ASK_SERVER_CONNECT_WAIT="long": time: invalid duration`},
		{"MCPDECK_NAME", "a/b", "tools", `use the name "a/b"`},
	} {
		t.Run(r.name, func(t *testing.T) {
			t.Setenv(r.name, r.value)
			root := newRoot()
			root.SetArgs(strings.Fields(r.args))
			err := root.Execute()
			if err == nil || !strings.Contains(err.Error(), r.want) || !errors.As(err, new(exit.UsageError)) {
				t.Errorf("got %v, want wrong usage that says %q", err, r.want)
			}
		})
	}
}
