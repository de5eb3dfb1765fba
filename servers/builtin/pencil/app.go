package pencil

import (
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

const (
	slowBlame   = 60 * time.Second // a "wrong file" answer that took so long means that the app is silent
	firstUse    = 10 * time.Second // of a fresh link, while the app may refuse a first read
	quickBlame  = 5 * time.Second
	repeatWait  = 3 * time.Second
	silentAfter = 2 // unanswered calls in a row
)

// repeat waits for the app where the answer is the one that the first read on a
// fresh connection often gets, which goes away by itself.
func repeat(o upstream.Outcome) (note string, wait time.Duration) {
	if o.Tool.ReadOnly && o.Took < quickBlame && o.Age < firstUse && classify(o.Message()) == classConfused {
		return "Pencil was just started; trying once more", repeatWait
	}
	return "", 0
}

// App is what calls have shown about the app behind the child.
type App string

// The conditions of the app. NoFile is one that has no document open or is
// another one than the program belongs to.
const (
	AppUnknown   App = "unknown"
	AppReachable App = "reachable"
	AppAbsent    App = "not running"
	AppSilent    App = "not answering"
	AppNoFile    App = "no file open"
)

// appWatch follows the condition of the app through what calls come to.
type appWatch struct {
	mu     sync.Mutex
	app    App
	misses int    // unanswered calls in a row
	file   string // the active document, when a state call named one
}

func (w *appWatch) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.app, w.misses, w.file = AppUnknown, 0, ""
}

func (w *appWatch) get() (App, string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.app == "" {
		return AppUnknown, ""
	}
	return w.app, w.file
}

// state is the active document, and what is the matter.
func (w *appWatch) state() (detail, trouble string) {
	app, file := w.get()
	return file, app.trouble()
}

// saw takes the outcome of a call. It reports whether the condition changed.
func (w *appWatch) saw(o upstream.Outcome) bool {
	failed, file := o.Result.IsError, ""
	if !failed && strings.HasSuffix(o.Tool.Original, "_state") {
		file = documentIn(o.Result)
	}
	cl := classify(o.Message())
	w.mu.Lock()
	defer w.mu.Unlock()
	before, beforeFile := w.app, w.file
	switch {
	case o.Lost:
	case o.Deadline || cl == classConfused && o.Took > slowBlame:
		if w.misses++; w.misses >= silentAfter {
			w.app = AppSilent
		}
	case cl == classAbsent:
		w.app, w.misses = AppAbsent, 0
	case cl == classNoFile:
		w.app, w.misses = AppNoFile, 0
	case !failed:
		w.app, w.misses = AppReachable, 0
		if file != "" {
			w.file = file
		}
	}
	return w.app != before || w.file != beforeFile
}

// documentIn is the first word of a result that names a document.
func documentIn(r upstream.Result) string {
	for _, raw := range r.Content() {
		o, err := rawjson.SplitObject(raw)
		if err != nil {
			continue
		}
		for _, word := range strings.FieldsFunc(sanitize.First(o.Str("text"), 4000), func(r rune) bool { return strings.ContainsRune(" \t\n\"'`,;()", r) }) {
			if strings.HasSuffix(strings.TrimRight(word, ".:"), ".pen") {
				return sanitize.Line(strings.TrimRight(word, ".:"))
			}
		}
	}
	return ""
}
