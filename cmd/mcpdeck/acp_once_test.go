//go:build linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/agents"
)

// TestWhatMcpdeckACPAsksNoHookAsksAgain has a hook that does not know that it is mirrored.
func TestWhatMcpdeckACPAsksNoHookAsksAgain(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	d.serve()
	d.session("s1")
	agent := filepath.Join(d.project, "claude")
	d.makes(agent, `#!/bin/sh
read line
echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}'
read line
echo '{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}'
echo '{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c","kind":"Bash","rawInput":{"command":"make"}},"options":[{"optionId":"a","name":"Yes","kind":"allow_once"}]}}'
read line
`)
	if err := os.Chmod(agent, 0o700); err != nil {
		t.Fatal(err)
	}
	e := d.speaks(nil, "acp", "--", agent)
	e.Write(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`)
	e.Write(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/src"}}`)
	d.until("what the agent asks", func() bool { return d.prompted() == 1 })
	d.hook([]string{d.program, "hook"}, permissionEvent).silent(t, "beside mcpdeck acp")
	if n := d.prompted(); n != 1 {
		t.Errorf("%d prompts", n)
	}
	d.kill(e.Cmd)
	d.until("its end", func() bool { return d.prompted() == 0 })
	d.hook([]string{d.program, "hook"}, permissionEvent)
	d.until("what the hook asks then", func() bool { return d.prompted() == 1 })
}

func TestAgentsInEditorsAreSaidToBeTestedIfTheyAre(t *testing.T) {
	var run, said []string
	for _, a := range acpAgents() {
		if agents.Of(a.id).ID != "" {
			run = append(run, a.id)
		}
	}
	for _, a := range agents.All() {
		if a.Cells.Editor.Works() {
			said = append(said, a.ID)
		}
	}
	if slices.Sort(run); !slices.Equal(run, slices.Sorted(slices.Values(said))) {
		t.Errorf("tests run %v, tested are %v", run, said)
	}
}
