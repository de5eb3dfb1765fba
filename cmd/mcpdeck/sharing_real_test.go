//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// TestAgentsShareARealServersStateOnlyWhereTheUserSaysSo has two agents think with a
// server that counts the thoughts of its process.
func TestAgentsShareARealServersStateOnlyWhereTheUserSaysSo(t *testing.T) {
	t.Parallel()
	s := realtest.ServerOf(t, "seqthink")
	d := newDriver(t)
	d.path = filepath.Dir(s.Command[0]) + ":" + d.path
	d.takesPassphrase()
	addServer(d, s)
	s.Name = "shared"
	addServer(d, s)
	file := filepath.Join(d.home, ".config/mcpdeck/servers.d/shared.toml")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append([]byte("share = \"deck\"\n"), b...), 0o600); err != nil {
		t.Fatal(err)
	}
	d.serve()
	for _, name := range []string{"seqthink", "shared"} {
		if said, code := d.proves("on", name); code != 0 {
			t.Fatalf("exit %d: %s", code, said)
		}
	}
	var agents []*agent
	for _, name := range []string{"claude", "codex"} {
		a := d.relay()
		a.Handshake(name)
		agents = append(agents, a)
	}
	for _, tt := range []struct {
		server string
		want   [2]string
	}{{"seqthink", [2]string{"1", "1"}}, {"shared", [2]string{"1", "2"}}} {
		for i, a := range agents {
			d.until("its tool", func() bool { return a.lists(tt.server + "_sequentialthinking") })
			failed, said := a.failed(tt.server+"_sequentialthinking", `{"thought":"x","nextThoughtNeeded":true,"thoughtNumber":1,"totalThoughts":2}`)
			if failed || !strings.Contains(said, "thoughtHistoryLength:"+tt.want[i]) {
				t.Errorf("%s, agent %d: want %s thoughts, got %s", tt.server, i+1, tt.want[i], said)
			}
		}
	}
}
