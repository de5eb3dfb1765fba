package tui

import (
	"encoding/json"
	"maps"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// keepEvery is how long after a change it is written down: who types a
// filter is not done with the first letter.
const keepEvery = time.Second

type keepMsg struct{}

// Keep writes what a page keeps between runs, a struct of a few words.
func Keep(state any) string {
	b, _ := json.Marshal(state) // plain words and numbers
	return string(b)
}

// Kept reads what Keep wrote; false when it is nothing of the kind.
func Kept(kept string, state any) bool {
	const most = 4 << 10
	return kept != "" && len(kept) <= most && json.Unmarshal([]byte(kept), state) == nil
}

// restore gives the pages, and the footer, what they kept in the last run.
func (m *Model) restore() {
	m.kept = map[string]string{}
	if m.opts.Store == nil {
		return
	}
	m.allKeys = m.opts.Store.Get(footerKey) == allKeysWord
	for _, p := range m.pages {
		if k, ok := p.(Keeper); ok {
			k.Restore(m.opts.Store.Get(pageKey(p)))
		}
	}
	if known := m.opts.Store.Get(signsKey); known != "" {
		m.signs.known = strings.Split(known, "\n")
	}
	m.kept = m.keeps()
}

// What the footer keeps: whether it shows all keys, and the signs it has explained.
const (
	footerKey   = "footer"
	allKeysWord = "all"
	signsKey    = "signs"
)

func pageKey(p Page) string { return "page." + p.ID() }

// keeps is what there is to keep between runs, by its key in the store.
func (m *Model) keeps() map[string]string {
	out := map[string]string{footerKey: "", signsKey: strings.Join(m.signs.known, "\n")}
	if m.allKeys {
		out[footerKey] = allKeysWord
	}
	for _, p := range m.pages {
		if k, ok := p.(Keeper); ok {
			out[pageKey(p)] = k.Kept()
		}
	}
	return out
}

// unkept is what of it is not written down.
func (m *Model) unkept() map[string]string {
	if m.opts.Store == nil {
		return nil
	}
	out := m.keeps()
	maps.DeleteFunc(out, func(key, now string) bool { return m.kept[key] == now })
	return out
}

// keepSoon writes down in a moment what differs.
func (m *Model) keepSoon() tea.Cmd {
	if m.keeping || len(m.unkept()) == 0 {
		return nil
	}
	m.keeping = true
	return tea.Tick(keepEvery, func(time.Time) tea.Msg { return keepMsg{} })
}

// keep writes down what differs; nil when there is nothing to write.
func (m *Model) keep() tea.Cmd {
	m.keeping = false
	now, store := m.unkept(), m.opts.Store
	if len(now) == 0 {
		return nil
	}
	maps.Copy(m.kept, now)
	return func() tea.Msg {
		for key, state := range now {
			_ = store.Put(key, state) // forgetting it is not worth a word
		}
		return nil
	}
}
