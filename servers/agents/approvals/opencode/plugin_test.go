package opencode_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/opencode"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

func TestThePluginIsShortAndKnowsItself(t *testing.T) {
	plugin := opencode.Agent().Plugin
	for _, path := range []string{"", `/home/it's "me"/prompts.sock`} {
		file := plugin.File(path, "")
		if n := bytes.Count(file, []byte("\n")); n > 165 {
			t.Errorf("it has %d lines", n)
		}
		if version, ours := plugin.Own(file); !ours || version < 10 {
			t.Errorf("with %q it does not know itself", path)
		}
		for i := range file {
			changed := bytes.Clone(file)
			if changed[i]++; i%97 == 0 {
				if _, ours := plugin.Own(changed); ours {
					t.Errorf("it takes a changed byte %d for its own", i)
				}
			}
		}
	}
	for _, other := range []string{"", "\n", "// mcpdeck plugin", "// mcpdeck plugin 1, SHA-256 \n"} {
		if _, ours := plugin.Own([]byte(other)); ours {
			t.Errorf("%q is its own", other)
		}
	}
	if version, ours := plugin.Own([]byte("// mcpdeck plugin 7, SHA-256 4e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce\n3")); version != 7 || !ours {
		t.Errorf("an older one is not its own: %d, %t", version, ours)
	}
}

// In a process that does nothing else, and without a deck, the plugin takes whatever
// happens without an error, prints nothing, and does not keep the process running.
func TestThePluginNeitherHoldsNorDisturbsItsProcess(t *testing.T) {
	node := realtest.Agent(t, "node")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "plugin.mjs"), opencode.Agent().Plugin.File(filepath.Join(dir, "none.sock"), ""), 0o600); err != nil {
		t.Fatal(err)
	}
	const use = `import { Mcpdeck } from "./plugin.mjs"
const hooks = await Mcpdeck({ client: {}, directory: "/p" })
for (const event of [undefined, null, {}, { type: "permission.asked" }, { type: "session.updated", properties: { info: null } },
  { type: "message.part.updated", properties: {} }, { type: "message.updated", properties: {} }, { type: "message.updated", properties: { info: { id: "m", role: "user" } } },
  { type: "message.part.updated", properties: { part: { type: "text", messageID: "m", text: "x".repeat(1 << 20) } } }, { type: "message.part.updated", properties: { part: { type: "tool", callID: "c", state: { status: "running", input: null } } } }, { type: "message.part.updated", properties: { part: { type: "tool" } } },
  { type: "permission.asked", properties: { id: "per_1", sessionID: "s", metadata: { command: "x".repeat(1 << 20) } } },
  { type: "session.status", properties: { sessionID: "s", status: 1n } }]) await hooks.event({ event })
for (const about of [undefined, { args: {} }, { args: { filePath: "none" } }]) await hooks["tool.execute.before"]({ tool: "write", callID: "c" }, about)
if (JSON.stringify(await (await Mcpdeck({ client: {}, directory: "/q" })).event({ event: {} })) !== undefined) throw new Error("it returns something")
`
	if err := os.WriteFile(filepath.Join(dir, "use.mjs"), []byte(use), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), node, "use.mjs") // it ends by itself, or the test never does
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}
