package approvals

import (
	"fmt"
	"slices"
	"sync"
)

// mostNamed is how many sub-agents of a session are told apart by their numbers.
const mostNamed = 100

// Twins numbers the sub-agents of a session that an agent's program calls the same, in the
// order in which they ask: a user who reads two equal prompts sees which one asks. The zero
// value is ready to use; its methods are safe for concurrent use.
type Twins struct {
	mu  sync.Mutex
	all map[[2]string][]string // IDs by session and name
}

// Name returns what to call the sub-agent with an ID.
func (t *Twins) Name(session, name, id string) string {
	if name == "" || id == "" {
		return name
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = map[[2]string][]string{}
	}
	key := [2]string{session, name}
	i := slices.Index(t.all[key], id)
	if i < 0 && len(t.all[key]) < mostNamed {
		i = len(t.all[key])
		t.all[key] = append(t.all[key], id)
	}
	if i <= 0 {
		return name
	}
	return fmt.Sprintf("%s %d", name, i+1)
}

// Forget forgets the sub-agents of a session that has ended.
func (t *Twins) Forget(session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key := range t.all {
		if key[0] == session {
			delete(t.all, key)
		}
	}
}
