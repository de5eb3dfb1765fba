package mcpserver

import (
	"context"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// progress tells a client each stage, and every two seconds that work goes on.
type progress struct {
	ctx   context.Context
	token any
	start time.Time
	stop  chan struct{}

	mu    sync.Mutex
	name  string
	total float64
	once  sync.Once
	over  bool
	last  float64
}

func (p *progress) stage(name string, expected time.Duration) {
	p.mu.Lock()
	p.name = name
	if expected > 0 {
		p.total = 1.1 * expected.Seconds()
	}
	p.mu.Unlock()
	p.send()
	p.once.Do(func() {
		recovery.Go("logicstamp progress", func() {
			tick := time.NewTicker(2 * time.Second)
			defer tick.Stop()
			for {
				select {
				case <-p.stop:
					return
				case <-p.ctx.Done():
					return
				case <-tick.C:
					p.send()
				}
			}
		})
	})
}

func (p *progress) send() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	now := time.Since(p.start).Seconds()
	if now <= p.last {
		now = p.last + 0.001
	}
	p.last = now
	params := map[string]any{"progressToken": p.token, "progress": now, "message": p.name}
	if p.total > now {
		params["total"] = p.total
	}
	if srv := server.ServerFromContext(p.ctx); srv != nil {
		_ = srv.SendNotificationToClient(p.ctx, "notifications/progress", params) // the result may come all the same
	}
}

func (p *progress) end() {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	close(p.stop)
}
