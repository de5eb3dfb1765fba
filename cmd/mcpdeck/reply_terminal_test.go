//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/standin"
)

// taker is a deck, and a session of OpenCode that it may send prompts.
type taker struct {
	*driver
	w       *window
	program *standin.OpenCode
}

func takes(t *testing.T) *taker {
	t.Helper()
	k := &taker{driver: newDriver(t)}
	k.configure("[sessions]\nreply = \"on\"\n")
	k.opens()
	return k
}

// opens opens a deck, to which the session's program connects.
func (k *taker) opens() {
	k.t.Helper()
	k.w = k.window("--page", "agents")
	k.w.wide()
	k.until("the prompt socket", func() bool {
		var err error
		k.program, err = standin.DialOpenCode(k.socket("prompts"), k.project)
		return err == nil
	})
	k.t.Cleanup(k.program.Close)
	k.says("session.updated", map[string]any{"prompts": true, "info": map[string]any{"id": takerID}})
	k.asked("Mend the clock")
	k.says("session.status", map[string]any{"status": map[string]any{"type": "idle"}})
	k.w.shows(k.driver, "─ opencode · ")
}

const takerID = "ses_1"

func (k *taker) socket(name string) string {
	return filepath.Join(k.home, ".local/state/mcpdeck/run", name+".sock")
}

func (k *taker) says(event string, properties map[string]any) {
	k.t.Helper()
	properties["sessionID"] = takerID
	if err := k.program.Say(event, properties); err != nil {
		k.t.Fatal(err)
	}
}

// asked has the session report what it was asked.
func (k *taker) asked(text string) {
	k.t.Helper()
	now := time.Now().UnixMilli()
	k.says("message.user", map[string]any{"at": now, "messageID": fmt.Sprint(now), "text": text[:min(len(text), 8192)]}) // no more is said
}

// types types a prompt as a paste.
func (k *taker) types(text string) {
	k.t.Helper()
	k.w.press("m")
	k.w.shows(k.driver, "To opencode")
	k.w.press("\x1b[200~" + text + "\x1b[201~")
}

// enters sends what was typed.
func (k *taker) enters() {
	k.t.Helper()
	k.w.keyed("\r", func() bool { return !strings.Contains(k.w.screen(), "To opencode") })
}

func TestADraftOfAPromptSurvivesAKill(t *testing.T) {
	t.Parallel()
	k := takes(t)
	text := strings.Repeat("Then mend the till. ", 700) + "That is all."
	k.types(text)
	kept := func() bool {
		b, _ := os.ReadFile(filepath.Join(k.home, ".local/state/mcpdeck/drafts.json")) // or it is not there yet
		return strings.Contains(string(b), text)
	}
	k.until("the draft is on the disk", kept)
	k.kill(k.w.cmd)
	k.opens()
	k.w.shows(k.driver, "Draft, not sent")
	k.w.press("m")
	k.w.shows(k.driver, "That is all.")
	k.enters()
	if p := <-k.program.Posts(); !strings.Contains(string(p.Body), text) {
		t.Errorf("the session is sent %s", p.Body)
	}
	if !kept() {
		t.Error("it is forgotten before the session has taken it")
	}
	k.asked(text)
	k.until("the draft is forgotten", func() bool { return !kept() })
}
