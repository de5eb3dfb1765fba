package claude

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/claudehooks"
)

// transcript follows the file in which Claude Code records what a session does, to find
// the call that a prompt is about and what became of it. Not safe for concurrent use.
type transcript struct {
	log     *claudehooks.Log
	uses    []use             // calls without a result, oldest first
	results map[string]end    // by call, since the prompt came
	hooks   map[string]string // what a hook decided, by call
	id      string            // of the call that the prompt is about; "" if it was not found
	doubted bool
}

type use struct {
	id, tool string
	input    json.RawMessage
}

// end is the result of a call.
type end struct {
	decision, source, denial string
	old                      bool // from before the prompt
}

// verdict is what the transcript says of how a prompt was answered.
type verdict int

const (
	open     verdict = iota // it is not
	answered                // somehow, and not by a hook
	allowed                 // not by a hook, as is what follows
	denied
	allowedByHook
	deniedByHook
)

// elsewhere says of a verdict that is not the user's answer in the deck where it came from.
func (v verdict) elsewhere() string {
	return map[verdict]string{
		answered: byTerminal, allowed: byTerminal + ": allowed", denied: byTerminal + ": denied",
		allowedByHook: "answered by another hook: allowed", deniedByHook: "answered by another hook: denied",
	}[v]
}

const byTerminal = "answered in its terminal"

// openTranscript prepares to read the transcript at a path that a hook was told; nil if it
// is not one of Claude Code's own files.
func openTranscript(s session, path, agent string) *transcript {
	path = transcriptOf(path, agent)
	log := claudehooks.OpenLog(filepath.Join(s.config, "projects"), path)
	if log == nil {
		return nil
	}
	t := &transcript{log: log, results: map[string]end{}, hooks: map[string]string{}}
	t.read()
	for id, e := range t.results {
		e.old = true
		t.results[id] = e
	}
	for id := range t.hooks { // it was decided, and its result comes later
		t.results[id] = end{old: true}
	}
	return t
}

func (t *transcript) close() { t.log.Close() }

// read takes in what was added.
func (t *transcript) read() { t.log.Read(t.line) }

// line takes in one record.
func (t *transcript) line(raw []byte) {
	if !bytes.Contains(raw, []byte(`"tool_`)) && !bytes.Contains(raw, []byte(`"hook_permission_decision"`)) { // most are something else, some of them large
		return
	}
	var r struct {
		Type    string `json:"type"`
		Message struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
		Denial   string `json:"toolDenialKind"`
		Decision struct {
			Decision string `json:"decision"`
			Source   string `json:"source"`
		} `json:"permissionDecision"`
		Attached struct {
			Type     string `json:"type"`
			Event    string `json:"hookEvent"`
			Use      string `json:"toolUseID"`
			Decision string `json:"decision"`
		} `json:"attachment"`
	}
	if json.Unmarshal(raw, &r) != nil {
		return
	}
	switch h := r.Attached; {
	case r.Type == "attachment" && h.Type == "hook_permission_decision" && h.Event == "PermissionRequest":
		t.hooks[h.Use] = h.Decision
		return
	case r.Type != "assistant" && r.Type != "user":
		return
	}
	var blocks []struct {
		Type  string          `json:"type"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
		Use   string          `json:"tool_use_id"`
	}
	if json.Unmarshal(r.Message.Content, &blocks) != nil {
		return
	}
	for _, b := range blocks {
		switch b.Type {
		case "tool_use":
			t.uses = append(t.uses, use{b.ID, b.Name, b.Input})
		case "tool_result":
			t.results[b.Use] = end{decision: r.Decision.Decision, source: r.Decision.Source, denial: r.Denial}
		}
	}
}

// match finds the call of an item, among those with its tool and input that were open when
// the prompt came.
func (t *transcript) match(it *item) {
	if t.id != "" {
		return
	}
	var ids []string
	for _, u := range t.uses {
		if !t.results[u.id].old && u.tool == it.asked.tool && claudehooks.SameInput(u.input, it.asked.raw) {
			ids = append(ids, u.id)
		}
	}
	t.id = it.a.claim(it, ids)
}

func (t *transcript) matched() bool { return t.id != "" }

// verdict tells how the call came to its end, or was decided.
func (t *transcript) verdict() verdict {
	e, ended := t.results[t.id]
	hook, hooked := t.hooks[t.id]
	switch {
	case t.id == "", !ended && !hooked:
		return open
	case hook == "allow", e.source == "hook" && e.decision == "accept":
		return allowedByHook
	case hooked, e.source == "hook":
		return deniedByHook
	case e.denial != "":
		return denied
	case e.decision == "accept":
		return allowed
	}
	return answered
}

// claim reserves one of the calls for an item, oldest first, and returns it; "" for none. Those
// that other items have are left to them, and as many as there are equal prompts that came
// before and have none yet: an agent may ask the same again before the transcript has what
// became of it.
func (a *Adapter) claim(it *item, ids []string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	ids = slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(a.known[it.session.ID], id) })
	before := 0
	for o := range a.items {
		if o == it || o.session.ID != it.session.ID {
			continue
		}
		ids = slices.DeleteFunc(ids, func(id string) bool { return id == o.claimed })
		waits := o.ended.IsZero() || time.Since(o.ended) < claimIn
		if o.claimed == "" && o.log != nil && waits && o.arrived.Before(it.arrived) && o.agent == it.agent && o.asked.tool == it.asked.tool && claudehooks.SameInput(o.asked.raw, it.asked.raw) {
			before++
		}
	}
	if before >= len(ids) {
		return ""
	}
	it.claimed = ids[before]
	return it.claimed
}
