package plugin

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
)

// The settings file of other LogicStamp servers is read beside the
// configuration, which wins.
func TestStampSettings(t *testing.T) {
	with := func(change func(*Logicstamp)) *Logicstamp {
		l := defaultLogicstamp()
		change(l)
		return l
	}
	for name, row := range map[string]struct {
		json, toml string
		want       *Logicstamp
		warnings   []string
	}{
		"none": {"", "", defaultLogicstamp(), nil},
		"the defaults written out": {
			`{"server":{"name":"logicstamp-context","version":"0.1.0","defaultProfile":"llm-chat","defaultMode":""},
			  "snapshots":{"maxSnapshots":10,"ttlMinutes":60,"autoCleanup":true},
			  "paths":{"cliPath":"stamp","tempDir":".logicstamp/mcp-snapshots"},"drift":{"websocket":false,"minIntervalMs":2000}}`,
			"", defaultLogicstamp(), nil,
		},
		"values": {
			`{"server":{"defaultDepth":3,"defaultIncludeStyle":true},"snapshots":{"autoCleanup":false,"deepContracts":"off","publish":true},
			  "paths":{"cliPath":["npx","-y","logicstamp-context"]},"security":{"allowedPaths":["/p"],"maxBundleSize":5,"maxTokensPerRequest":6},
			  "timeouts":{"stampSeconds":1,"compareModesSeconds":2,"gitSeconds":3}}`,
			"", with(func(l *Logicstamp) {
				l.Depth, l.Style, l.KeepExpired, l.DeepContracts, l.Publish = 3, true, true, "off", true
				l.Command, l.AllowedPaths, l.MaxBundleSize, l.MaxTokens = "npx -y logicstamp-context", []string{"/p"}, 5, 6
				l.StampSeconds, l.ModesSeconds, l.GitSeconds = 1, 2, 3
			}), nil,
		},
		"the configuration wins": {
			`{"server":{"defaultDepth":3},"snapshots":{"maxSnapshots":4}}`, "[logicstamp]\ndepth = 5\n",
			with(func(l *Logicstamp) { l.Depth, l.MaxSnapshots = 5, 4 }), nil,
		},
		"unknown and bad members": {
			`{"server":{"colour":"red","defaultDepth":"deep"},"paths":{"cliPath":"my stamp"}}`, "", defaultLogicstamp(),
			[]string{"paths.cliPath cannot be", "unknown setting server.colour", `server.defaultDepth cannot be "deep"`},
		},
		"no JSON": {`{`, "", defaultLogicstamp(), []string{"it cannot be read"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "config.toml")
			for path, text := range map[string]string{file: row.toml, filepath.Join(dir, stampSettings): row.json} {
				if text == "" && path != file {
					continue
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("HOME", dir)
			c, err := config.Load(config.Flags{File: file, Port: -1, Sections: Sections()})
			if err != nil {
				t.Fatal(err)
			}
			got := config.Of[Logicstamp](c)
			got.stamp = nil // another test's
			if !reflect.DeepEqual(got, row.want) {
				t.Errorf("got  %+v\nwant %+v", got, row.want)
			}
			if len(c.Warnings) != len(row.warnings) {
				t.Fatalf("warnings = %q", c.Warnings)
			}
			for i, w := range row.warnings {
				if !strings.Contains(c.Warnings[i], w) {
					t.Errorf("warning %q, want %q", c.Warnings[i], w)
				}
			}
		})
	}
}

// The command is the configured one, else what the environment names; nil is searched for.
func TestWhichStampCommandIsRun(t *testing.T) {
	for name, row := range map[string]struct {
		set, named string
		want       []string
		from       string
	}{
		"none":                       {"", "", nil, "default"},
		"configured":                 {"npx stamp", "/opt/stamp", []string{"npx", "stamp"}, ":1"},
		"configured as it is called": {"stamp", "", nil, ":1"},
		"named":                      {"", "/opt/my stamp", []string{"/opt/my stamp"}, "environment LOGICSTAMP_CLI"},
		"called as usual, and named": {" stamp ", "/opt/my stamp", []string{"/opt/my stamp"}, "environment LOGICSTAMP_CLI"},
		"named as usual":             {"", "stamp", []string{"stamp"}, "environment LOGICSTAMP_CLI"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("HOME", dir)
			t.Setenv("LOGICSTAMP_CLI", row.named)
			text := ""
			if row.set != "" {
				text = fmt.Sprintf("logicstamp.command = %q\n", row.set)
			}
			file := filepath.Join(dir, "config.toml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := config.Load(config.Flags{File: file, Port: -1, Sections: Sections()})
			if err != nil {
				t.Fatal(err)
			}
			if got := stampOptions(c).CLI.Command; !slices.Equal(got, row.want) {
				t.Errorf("it is %q, want %q", got, row.want)
			}
			for _, s := range c.Settings() {
				if s.Key == "logicstamp.command" && !strings.HasSuffix(s.From, row.from) {
					t.Errorf("it is from %q, want %q", s.From, row.from)
				}
			}
		})
	}
}
