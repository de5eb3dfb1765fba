package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cards"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// countWithin is how long imported servers may take to answer once.
const countWithin = 20 * time.Second

// Count starts servers, or connects to them, once and keeps what each would add while off. It
// gives say what each answers, one after the other as they end.
func Count(ctx context.Context, cfg *config.Config, m cards.Machine, all []settings.Card, say func(server, text string)) {
	const atOnce = 4
	ctx, cancel := context.WithTimeout(ctx, countWithin)
	defer cancel()
	var work sync.WaitGroup
	var saying sync.Mutex
	turns := make(chan struct{}, atOnce)
	for _, card := range all {
		work.Add(1)
		recovery.Go("try "+card.Name, func() {
			defer work.Done()
			turns <- struct{}{}
			text := tried(ctx, cfg, m, card)
			<-turns
			saying.Lock()
			defer saying.Unlock()
			say(card.Name, text)
		})
	}
	work.Wait()
}

// tried is what a server answers when it is started, or reached, once.
func tried(ctx context.Context, cfg *config.Config, m cards.Machine, card settings.Card) string {
	full, _, err := card.Complete(card.Name)
	if err != nil {
		return err.Error()
	}
	got, err := Trial(ctx, cfg, m, full)
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Sprintf("did not answer within %.0f s; r on the Servers page counts its tools", countWithin.Seconds())
	case err != nil:
		return "did not answer: " + redact.Rules{}.Text(err.Error())
	}
	return fmt.Sprintf("on, it adds %s, %s", humanize.Count(len(got.Tools), "tool"), snapshot.ContextCost(got.Context))
}

// Trial starts a card, or connects to it, once and keeps what it would add while off.
func Trial(ctx context.Context, cfg *config.Config, m cards.Machine, full settings.Card) (cards.Tried, error) {
	got, err := cards.Try(ctx, full, m) // of one that did not answer, what was counted is another's
	if err := upstream.KeepCount(CountFile(cfg, full.Name), snapshot.Count{Tools: len(got.Tools), Context: got.Context}); err != nil {
		slog.Debug("keep how many tools there are", "server", full.Name, "error", err)
	}
	return got, err
}
