package codex

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// What Codex says of how much its account may use. Its daemon tells when that has changed.
const (
	readQuota    = "account/rateLimits/read"
	quotaChanged = "account/rateLimits/updated"
	quotaEvery   = 10 * time.Minute
)

// window is how much is used of what may be used in some time.
type window struct {
	Used    float64 `json:"usedPercent"`
	Minutes int64   `json:"windowDurationMins"`
	Resets  int64   `json:"resetsAt"`
}

// limits are those of one kind of use. JSON null leaves a value as it was.
type limits struct {
	Of struct {
		ID        string `json:"limitId"`
		Primary   window `json:"primary"`
		Secondary window `json:"secondary"`
	} `json:"rateLimits"`
}

// followQuota asks what is used until the connection ends, again only while somebody looks.
func (l *link) followQuota() {
	for l.readQuota(); process.Pause(l.ctx, quotaEvery) == nil; {
		if l.a.opt.Watched == nil || l.a.opt.Watched() {
			l.readQuota()
		}
	}
}

func (l *link) readQuota() {
	raw, err := l.call(readQuota, map[string]any{"excludeResetCreditDetails": true}, answerWithin)
	if err == nil { // an API key has no limits
		l.takeQuota(raw, limits{})
	}
}

// changedQuota takes in a change, which says only what has changed.
func (l *link) changedQuota(raw json.RawMessage) {
	l.mu.Lock()
	known := l.limits
	l.mu.Unlock()
	l.takeQuota(raw, known)
}

// takeQuota reports what is used, over what was known.
func (l *link) takeQuota(raw json.RawMessage, known limits) {
	now := known
	if l.a.opt.Quota == nil || json.Unmarshal(raw, &now) != nil || known.Of.ID != "" && now.Of.ID != known.Of.ID { // of another kind of use
		return
	}
	l.mu.Lock()
	l.limits = now
	l.mu.Unlock()
	q := snapshot.Quota{Agent: agent, At: l.a.now()}
	if filepath.Clean(l.home) != filepath.Clean(l.a.opt.Folder) {
		q.Account = filepath.Base(l.home)
	}
	for _, w := range []window{now.Of.Primary, now.Of.Secondary} {
		if w != (window{}) {
			q.Used, q.Window, q.Resets = w.Used, time.Duration(w.Minutes)*time.Minute, snapshot.Moment(w.Resets)
			l.a.opt.Quota(q)
		}
	}
}
