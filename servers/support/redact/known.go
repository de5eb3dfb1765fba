package redact

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// leastKnown is how long a value must be to be looked for: a shorter one would
// be found in words that have nothing to do with it.
const leastKnown = 8

// Known is a set of values that are secrets, whatever they look like and
// wherever they turn up. The zero value is empty; a nil one, too. It may be used
// by any goroutine.
type Known struct {
	mu     sync.Mutex
	values map[string]bool
	find   atomic.Pointer[strings.Replacer]
}

// Add takes more values. Those of less than eight bytes are not looked for.
func (k *Known) Add(values ...string) { k.change(values, true) }

// Remove forgets values.
func (k *Known) Remove(values ...string) { k.change(values, false) }

func (k *Known) change(values []string, in bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.values == nil {
		k.values = map[string]bool{}
	}
	for _, v := range values {
		switch {
		case !in:
			delete(k.values, v)
		case len(v) >= leastKnown:
			k.values[v] = true
		}
	}
	if len(k.values) == 0 {
		k.find.Store(nil)
		return
	}
	// The longest first: one may be the beginning of another.
	list := slices.SortedFunc(maps.Keys(k.values), func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, v := range list {
		pairs = append(pairs, v, hidden)
	}
	k.find.Store(strings.NewReplacer(pairs...))
}
