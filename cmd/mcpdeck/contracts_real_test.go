//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/agents/contract"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// TestRealAgentsKeepTheirContracts has each agent's program ask, and compares all that it writes
// meanwhile with the shapes that the deck reads. With MCPDECK_TEST_RECORD=DIR, that is kept there.
func TestRealAgentsKeepTheirContracts(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	for id, written := range map[string]func(*driver) [][]byte{
		"claude": writtenByClaude, "codex": writtenByCodex, "gemini": writtenByGemini,
		"qwen": writtenByQwen, "copilot": writtenByCopilot, "kimi": writtenByKimi,
		"opencode": func(d *driver) [][]byte { return writtenByOpenCode(d, "opencode") },
		"kilo":     func(d *driver) [][]byte { return writtenByOpenCode(d, "kilo") },
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			for version, path := range realtest.Versions(t, id) {
				t.Run(version, func(t *testing.T) {
					t.Parallel()
					d := newDriver(t)
					d.coder = path
					compares(d, id, version, written(d))
				})
			}
		})
	}
}

// compares holds what an agent's program wrote to its shapes. What is said here, cmd/internal/canary reads.
func compares(d *driver, id, version string, lines [][]byte) {
	d.t.Helper()
	shapes := agents.Of(id).Shapes
	for _, is := range shapes.Differences(lines) {
		if is.New {
			d.t.Logf("NEW %s %s, %s", id, version, is)
		} else {
			d.t.Errorf("CHANGED %s %s, %s", id, version, is)
		}
	}
	const most = 3 // of a kind are kept
	kept, times := contract.Recording{Agent: id, Version: version, Date: time.Now().Format(time.DateOnly), Of: "prompts"}, map[string]int{}
	for _, line := range lines {
		kinds, _ := shapes.Compare(line)
		if of := strings.Join(kinds, " "); of != "" && times[of] < most {
			times[of]++
			kept.Lines = append(kept.Lines, redactedLine(d, line))
		}
	}
	if dir := os.Getenv("MCPDECK_TEST_RECORD"); dir != "" {
		file, err := kept.File()
		if err != nil {
			d.t.Fatal(err)
		}
		d.puts(filepath.Join(dir, kept.Name()+".jsonl"), file)
	}
}

// redactedLine is a line of an agent's program without what only this machine has and what opens the
// program's own socket, and with long texts and lists cut.
func redactedLine(d *driver, line []byte) []byte {
	d.t.Helper()
	const most, mostOf = 300, 8 // bytes of a text, elements of a list
	home := regexp.MustCompile(`(^|[/-])` + strings.ReplaceAll(regexp.QuoteMeta(strings.Trim(os.TempDir(), "/")), "/", "[/-]") + `[/-](md|cx)\d+`)
	var cut func(v any) any
	cut = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for name, value := range v {
				if v[name] = cut(value); strings.HasPrefix(name, "ipc") {
					delete(v, name)
				}
			}
		case []any:
			v = v[:min(len(v), mostOf)]
			for i := range v {
				v[i] = cut(v[i])
			}
			return v
		case string:
			v = home.ReplaceAllString(v, "${1}home${1}ana")
			if len(v) > most {
				return strings.ToValidUTF8(v[:most], "") + "…"
			}
			return v
		}
		return v
	}
	var v any
	in := json.NewDecoder(bytes.NewReader(line))
	in.UseNumber()
	if err := in.Decode(&v); err != nil {
		d.t.Fatal(err)
	}
	return marshalled(d.t, cut(v))
}

// wrote are the lines of the files that patterns below the home name.
func wrote(d *driver, patterns ...string) (all [][]byte) {
	d.t.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(d.home, pattern))
		if err != nil || len(files) == 0 {
			d.t.Errorf("nothing was written to %s: %v", pattern, err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				d.t.Error(err)
			}
			if filepath.Ext(file) == ".json" {
				all = append(all, b)
				continue
			}
			for line := range bytes.Lines(b) {
				if json.Valid(line) {
					all = append(all, line)
				}
			}
		}
	}
	return all
}

// keepsTold returns a command for hooks that keeps what they are told in told.jsonl, and prints nothing.
// An agent does not wait for all of its hooks, so that two may run at once: each writes its line whole.
func keepsTold(d *driver) string {
	script := filepath.Join(d.home, "tell.sh")
	d.puts(script, []byte("{ flock 9; cat; echo; } 9>> "+filepath.Join(d.home, "told.jsonl")+" >&9\n"))
	return "sh " + script
}

// hasTold reports whether a hook or a plugin has kept an event, which comes after the agent's last words.
func hasTold(d *driver, event string) func() bool {
	return func() bool {
		b, _ := os.ReadFile(filepath.Join(d.home, "told.jsonl")) // as far as it is written
		return bytes.Contains(b, []byte(`"`+event+`"`))
	}
}

// writtenByClaude has Claude Code ask for a permission, a question and a form, all answered in the deck.
func writtenByClaude(d *driver) (all [][]byte) {
	d.t.Helper()
	claudeHome(d)
	told := keepsTold(d)
	d.rewrites(filepath.Join(d.home, ".claude", "settings.json"), func(o map[string]any) {
		hooks, _ := o["hooks"].(map[string]any)
		for _, event := range []string{"PermissionRequest", "Elicitation"} {
			old, _ := hooks[event].([]any)
			hooks[event] = append(old, map[string]any{"hooks": []any{map[string]any{"type": "command", "command": told, "timeout": 10}}})
		}
		o["permissions"] = map[string]any{"allow": []string{"mcp__paint__form"}}
	})
	setPaintEnv(d, "FORM", oneTextField)
	model := mockmodel.New(d.t, "", bash(d.t, "mkdir -p made"), asksUser(d.t, question("Which one?", false)), mockmodel.Step{Tool: "mcp__paint__form"})
	deck := d.window("--page", "inbox")
	deck.wide()
	deck.shows(d, "Inbox")
	c := runClaude(d, model)
	d.until("a session that waits", func() bool {
		files, _ := filepath.Glob(filepath.Join(d.home, ".claude", "sessions", "*.json"))
		for _, file := range files {
			b, _ := os.ReadFile(file) // it may be written just now
			if strings.Contains(string(b), `"waiting"`) && json.Valid(b) {
				all = append(all, b)
				return true
			}
		}
		return false
	})
	deck.answers(d, "mkdir -p made", key{"y", ""})
	c.answered(0)
	deck.answers(d, "Which one?", key{"2", ""})
	c.answered(1)
	deck.answers(d, "Which journey?", key{"\r", "enter choose"}, key{"teal", "teal"}, key{"\r", ""})
	c.answered(2)
	c.shows(d, "END")
	return append(all, wrote(d, "told.jsonl", ".claude/projects/*/*.jsonl")...)
}

// accepts presses Enter in an agent's terminal every few seconds until its turn ends.
func (w *window) accepts(d *driver) {
	d.t.Helper()
	var pressed time.Time
	testwait.For(d.t, "the end of the turn", w.screen, func(screen string) bool {
		ended := strings.Contains(screen, "END")
		if !ended && time.Since(pressed) > 3*time.Second {
			pressed = time.Now()
			w.press("\r")
		}
		return ended
	})
}

// hooked has setup write the hooks of an agent's program, and these keep what they are told.
func hooked(d *driver, id, file string) {
	d.t.Helper()
	if out, err := d.command("setup", id, "--prompts", "--yes").CombinedOutput(); err != nil {
		d.t.Fatalf("%v: %s", err, out)
	}
	told := keepsTold(d)
	d.rewrites(filepath.Join(d.home, file), func(o map[string]any) {
		events, _ := o["hooks"].(map[string]any)
		for _, event := range events {
			list, _ := event.([]any)
			for _, matched := range list {
				m, _ := matched.(map[string]any)
				hooks, _ := m["hooks"].([]any)
				for _, hook := range hooks {
					hook.(map[string]any)["command"] = told
				}
			}
		}
	})
}

// asksWhich is the input of a tool by which several agents ask their own questions.
func asksWhich(t *testing.T) []byte {
	t.Helper()
	option := func(label string) any { return map[string]any{"label": label, "description": "words"} }
	return marshalled(t, map[string]any{"questions": []any{map[string]any{"question": "Which one?", "header": "One", "type": "choice", "multiSelect": false, "options": []any{option("red"), option("blue")}}}})
}

// writtenByOpenCode has OpenCode, or a program with its contract, ask, and answers in its terminal.
func writtenByOpenCode(d *driver, id string) [][]byte {
	d.t.Helper()
	file := filepath.Join(d.project, "a.txt")
	d.puts(file, []byte("one\n"))
	model := mockmodel.New(
		d.t, "", d.step("bash", map[string]any{"command": "mkdir -p made", "description": "words"}),
		d.step("edit", map[string]any{"filePath": file, "oldString": "one", "newString": "two"}), mockmodel.Step{Tool: "question", Args: asksWhich(d.t)},
	)
	openCodeHome(d, id, model, "ask")
	d.makes(filepath.Join(d.home, ".config", id, "plugin/tell.js"), `import { appendFileSync } from "node:fs"
export const Tell = async () => ({ event: async ({ event }) => appendFileSync("`+filepath.Join(d.home, "told.jsonl")+`", JSON.stringify(event) + "\n") })`)
	w := d.terminal(d.agentCommand(d.project, id, []string{agents.Of(id).Env[0] + "DISABLE_MODELS_FETCH=1"}, "--prompt", "go"))
	w.tall(40, w.tty)
	w.accepts(d)
	d.until("the end of the turn", hasTold(d, "session.idle"))
	return wrote(d, "told.jsonl")
}

func writtenByGemini(d *driver) [][]byte {
	d.t.Helper()
	geminiHome(d)
	hooked(d, "gemini", ".gemini/settings.json")
	model := mockmodel.New(
		d.t, "", d.step("run_shell_command", map[string]any{"command": "mkdir -p made", "description": "words"}), mockmodel.Step{Tool: "ask_user", Args: asksWhich(d.t)},
		d.step("write_file", map[string]any{"file_path": filepath.Join(d.project, "c.txt"), "content": "new\n"}),
	)
	c := d.agentCommand(d.project, "gemini", []string{"GOOGLE_GEMINI_BASE_URL=" + model.URL, "GEMINI_API_KEY=x"}, "-m", "gemini-2.5-pro", "-i", "go")
	w := d.terminal(c)
	w.tall(40, w.tty)
	w.accepts(d)
	d.until("the end of the turn", hasTold(d, "AfterAgent"))
	return wrote(d, "told.jsonl", ".gemini/tmp/*/chats/session-*.jsonl")
}

func writtenByQwen(d *driver) [][]byte {
	d.t.Helper()
	qwenHome(d)
	hooked(d, "qwen", ".qwen/settings.json")
	model := mockmodel.New(d.t, "", makes(d.t, "made"), mockmodel.Step{Tool: "ask_user_question", Args: asksWhich(d.t)}, d.step("write_file", map[string]any{"file_path": filepath.Join(d.project, "c.txt"), "content": "new\n"}))
	w := openQwen(d, model)
	w.says(d, "go")
	w.accepts(d)
	d.until("the end of the turn", hasTold(d, "Stop"))
	return wrote(d, "told.jsonl", ".qwen/sessions/*.json", ".qwen/projects/*/chats/*.jsonl")
}

// writtenByKimi has Kimi Code ask in its terminal.
func writtenByKimi(d *driver) [][]byte {
	d.t.Helper()
	if out, err := d.command("setup", "kimi", "--prompts", "--yes").CombinedOutput(); err != nil {
		d.t.Fatalf("%v: %s", err, out)
	}
	settings := filepath.Join(d.home, ".kimi-code/config.toml")
	hooks, err := os.ReadFile(settings)
	if err != nil {
		d.t.Fatal(err)
	}
	hooks = regexp.MustCompile(`(?m)^command = .*$`).ReplaceAll(hooks, []byte(`command = "`+keepsTold(d)+`"`))
	file := filepath.Join(d.project, "a.txt")
	d.puts(file, []byte("one\n"))
	option := func(label string) any { return map[string]any{"label": label, "description": "words"} }
	model := mockmodel.New(
		d.t, "deck", d.step("Bash", map[string]any{"command": "mkdir -p made"}),
		d.step("AskUserQuestion", map[string]any{"questions": []any{map[string]any{"question": "Which one?", "header": "One", "options": []any{option("red"), option("blue")}}}}),
		d.step("Edit", map[string]any{"path": file, "old_string": "one", "new_string": "two"}),
		d.step("Write", map[string]any{"path": filepath.Join(d.project, "c.txt"), "content": "new\n"}),
	)
	d.makes(settings, fmt.Sprintf("default_model = \"deck\"\n[providers.mock]\ntype = \"openai\"\nbase_url = %q\napi_key = \"x\"\n[models.deck]\nprovider = \"mock\"\nmodel = \"mock\"\nmax_context_size = 100000\n\n%s", model.URL+"/v1", hooks))
	w := d.terminal(d.agentCommand(d.project, "kimi", []string{"KIMI_DISABLE_TELEMETRY=1"}))
	w.tall(40, w.tty)
	w.shows(d, "Trust this folder?")
	w.again("\r", func() bool { return strings.Contains(w.screen(), "Welcome to Kimi Code") })
	w.press("go")
	time.Sleep(200 * time.Millisecond) // what comes at once is pasted
	w.accepts(d)
	d.until("the end of the turn", hasTold(d, "Stop"))
	w.press("/exit")
	time.Sleep(200 * time.Millisecond) // as above
	w.again("\r", hasTold(d, "SessionEnd"))
	return wrote(d, "told.jsonl", ".kimi-code/sessions/*/*/state.json", ".kimi-code/sessions/*/*/agents/main/wire.jsonl")
}

// writtenByCopilot has Copilot CLI ask once with a hook and once with an extension.
func writtenByCopilot(d *driver) (all [][]byte) {
	d.t.Helper()
	copilotHome(d)
	told := keepsTold(d)
	d.makes(filepath.Join(d.home, ".copilot/hooks/tell.json"), string(marshalled(d.t, map[string]any{"version": 1, "hooks": map[string]any{
		"permissionRequest": []any{map[string]any{"type": "command", "bash": told, "timeoutSec": 10}},
	}})))
	d.puts(filepath.Join(d.home, ".copilot/settings.json"), []byte(`{"experimental":true}`))
	d.makes(filepath.Join(d.home, ".copilot/extensions/tell/extension.mjs"), `import { appendFileSync } from "node:fs"
import { joinSession } from "@github/copilot-sdk/extension"
const session = await joinSession({ onPermissionRequest: async () => ({ kind: "no-result" }) })
session.on((event) => appendFileSync("`+filepath.Join(d.home, "told.jsonl")+`", JSON.stringify(event) + "\n"))`)
	form := mockmodel.Step{Tool: "ask_user", Args: []byte(`{"message":"Which one?","requestedSchema":{"type":"object","properties":{"colour":{"type":"string","enum":["teal","red"]}},"required":["colour"]}}`)}
	model := mockmodel.New(d.t, "", copilotMakes(d.t, "made"), form, d.step("create", map[string]any{"path": filepath.Join(d.project, "c.txt"), "file_text": "new\n"}))
	c := openCopilot(d, model)
	c.shows(d, "wants elevated permissions")
	c.again("\r", func() bool { return !strings.Contains(c.screen(), "elevated permissions") })
	c.asked("go", d)
	c.accepts(d)
	return wrote(d, "told.jsonl", ".copilot/session-state/*/events.jsonl")
}

// writtenByCodex has Codex ask once by its daemon, and once by a hook.
func writtenByCodex(d *driver) [][]byte {
	d.t.Helper()
	c, _ := newCodex(d.t, codexPrompts()...)
	d.home = c.dir
	c.open()
	c.say("go")
	for _, asked := range []struct {
		shows string
		r     ask.Result
	}{
		{"like to run", chosen("Allow once")},
		{"make the following edits", chosen("Allow once")},
		{"grant these permissions", chosen("Allow for this turn")},
		{"enter to submit answer", ask.Result{CustomInput: "DuckDB"}},
		{"MCP server to run tool", chosen("Allow once")},
		{"needs your approval", ask.Result{Content: json.RawMessage(`{"name":"Ana"}`)}},
	} {
		c.answer(c.asks(asked.shows), asked.r)
	}
	c.until("the end", func() bool { return strings.Contains(c.screen(), "END") })
	c.stop()
	all := append(c.raw, wrote(d, "home/.codex/sessions/*/*/*/rollout-*.jsonl")...)
	c, _ = prepareCodex(d.t, codexPrompts()[0])
	d.home = c.dir
	c.write("home/.codex/hooks.json", `{"hooks":{"PermissionRequest":[{"hooks":[{"type":"command","command":"`+keepsTold(d)+`","timeout":10}]}]}}`)
	c.start("--no-daemon")
	c.trusts()
	c.say("go")
	c.consents("like to run", func() bool { return strings.Contains(c.screen(), "END") })
	return append(all, wrote(d, "told.jsonl")...)
}
