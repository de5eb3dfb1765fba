package tui

import (
	"encoding/json"
	"maps"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui/verb"
)

// keepEvery is how long after a change it is written down: who types a
// filter is not done with the first letter.
const keepEvery = time.Second

type keepMsg struct{}

// EncodeState writes what a page keeps between runs, a struct of a few words.
func EncodeState(state any) string {
	b, _ := json.Marshal(state) // plain words and numbers
	return string(b)
}

// DecodeState reads what EncodeState wrote; it reports whether it could.
func DecodeState(kept string, state any) bool {
	const most = 4 << 10
	return kept != "" && len(kept) <= most && json.Unmarshal([]byte(kept), state) == nil
}

// restore gives the pages what they kept in the last run.
func (m *Model) restore() {
	m.saved.kept = map[string]string{}
	if m.opts.Store == nil {
		return
	}
	for _, p := range m.pages {
		if k, ok := p.(StateSaver); ok {
			k.LoadState(m.opts.Store.Get(stateKey(p)))
		}
	}
	m.saved.kept = m.keeps()
}

func stateKey(p Page) string { return "page." + p.ID() }

// keeps is what there is to keep between runs, by its key in the store.
func (m *Model) keeps() map[string]string {
	out := map[string]string{}
	for _, p := range m.pages {
		if k, ok := p.(StateSaver); ok {
			out[stateKey(p)] = k.SaveState()
		}
	}
	return out
}

// saved is the state of the screen between runs.
type saved struct {
	store Store             // nil: nothing is kept
	kept  map[string]string // as it was written down
	soon  bool              // more of it is about to be
}

// differs is what is not written down of state.
func (k *saved) differs(state map[string]string) map[string]string {
	if k.store == nil {
		return nil
	}
	maps.DeleteFunc(state, func(key, now string) bool { return k.kept[key] == now })
	return state
}

// keepSoon writes down in a moment what differs.
func (k *saved) keepSoon(state map[string]string) tea.Cmd {
	if k.soon || len(k.differs(state)) == 0 {
		return nil
	}
	k.soon = true
	return tea.Tick(keepEvery, func(time.Time) tea.Msg { return keepMsg{} })
}

// keep writes down what differs; nil when there is nothing to write.
func (k *saved) keep(state map[string]string) tea.Cmd {
	k.soon = false
	now := k.differs(state)
	if len(now) == 0 {
		return nil
	}
	maps.Copy(k.kept, now)
	return func() tea.Msg {
		for key, state := range now {
			_ = k.store.Put(key, state) // forgetting it is not worth a word
		}
		return nil
	}
}

// movedKeys says once, after an update, that keys do other things.
func (k *saved) movedKeys(pages []Page) tea.Cmd {
	s := k.store
	if s == nil {
		return nil
	}
	tabs := make([]string, len(pages))
	for i, p := range pages {
		tabs[i] = pageKey(p) + p.ID()
	}
	for _, v := range verb.All() {
		tabs = append(tabs, v.Keys()...)
	}
	now, before := strings.Join(tabs, " "), s.Get("tabs")
	if now == before {
		return nil
	}
	keep := func() tea.Msg {
		_ = s.Put("tabs", now) // else it is said again
		return nil
	}
	if before == "" && s.Get("page") == "" { // the first run
		return keep
	}
	return tea.Batch(keep, Toast(Info, "keys have changed: ? for keys"))
}
