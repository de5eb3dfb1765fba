package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// stampSettings is a file that other LogicStamp servers are set up with. It is
// read beside the configuration, which wins; never in a project, since it names
// a program to run.
const stampSettings = "mcp-config.json"

// members are the settings of the file by name. The server's own name and
// version mean nothing here; snapshots lie in the state folder, and nothing
// listens for web sockets.
func (l *Logicstamp) members(command *stampCommand, cleanup *bool) map[string]any {
	return map[string]any{
		"server.name": new(string), "server.version": new(string),
		"server.defaultProfile": &l.Profile, "server.defaultMode": &l.Mode, "server.defaultDepth": &l.Depth, "server.defaultIncludeStyle": &l.Style,
		"snapshots.maxSnapshots": &l.MaxSnapshots, "snapshots.ttlMinutes": &l.TTLMinutes, "snapshots.autoCleanup": cleanup,
		"snapshots.publish": &l.Publish, "snapshots.deepContracts": &l.DeepContracts,
		"paths.cliPath": command, "paths.allowProjectCli": &l.AllowProjectCLI, "paths.tempDir": new(string),
		"security.allowedPaths": &l.AllowedPaths, "security.maxBundleSize": &l.MaxBundleSize, "security.maxTokensPerRequest": &l.MaxTokens,
		"timeouts.stampSeconds": &l.StampSeconds, "timeouts.compareModesSeconds": &l.ModesSeconds, "timeouts.gitSeconds": &l.GitSeconds,
		"drift.websocket": new(bool), "drift.minIntervalMs": &l.MinIntervalMs,
	}
}

// stampCommand is written as a text, or as a list of a program and its
// arguments.
type stampCommand []string

// UnmarshalJSON implements json.Unmarshaler.
func (s *stampCommand) UnmarshalJSON(b []byte) error {
	var parts []string
	var one string
	if json.Unmarshal(b, &one) == nil {
		parts = []string{one}
	} else if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	if slices.ContainsFunc(parts, func(p string) bool { return strings.ContainsAny(p, " \t") }) {
		return errors.New("a part of the command has spaces")
	}
	*s = parts
	return nil
}

// readStampSettings takes over what the file says. What cannot be used is a
// warning, and the default stays.
func readStampSettings(c *config.Config) {
	const limit = 1 << 20 // bytes
	b, err := file.ReadPlain(filepath.Join(filepath.Dir(c.Paths.Config), stampSettings), true, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	warn := func(format string, args ...any) {
		c.Warnings = append(c.Warnings, stampSettings+": "+fmt.Sprintf(format, args...))
	}
	var groups map[string]map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(b, &groups)
	}
	if err != nil {
		warn("it cannot be read and has no effect: %v", err)
		return
	}
	var command stampCommand
	cleanup := true
	l := config.Of[Logicstamp](c)
	members := l.members(&command, &cleanup)
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		for _, name := range slices.Sorted(maps.Keys(groups[group])) {
			key := group + "." + name
			to, known := members[key]
			if !known {
				warn("unknown setting %s, ignored", key)
			} else if err := json.Unmarshal(groups[group][name], to); err != nil {
				warn("%s cannot be %s; the default is used", key, groups[group][name])
			}
		}
	}
	l.KeepExpired = !cleanup
	if !searchedFor(command) {
		l.Command = strings.Join(command, " ")
	}
	c.TakenFrom(stampSettings)
}
