package child

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Kind is the kind of a list of a server.
type Kind struct{ noun, method, member string }

// The kinds of lists.
var (
	Tools     = Kind{"tool", "tools/list", "tools"}
	Prompts   = Kind{"prompt", "prompts/list", "prompts"}
	Resources = Kind{"resource", "resources/list", "resources"}
	Templates = Kind{"template", "resources/templates/list", "resourceTemplates"}
)

const (
	maxPages    = 50
	maxEntries  = 10_000                 // of a list
	maxListed   = 8 << 20                // bytes of all of them
	settleQuiet = 300 * time.Millisecond // a list is final after this time without a change
	settleLimit = 3 * time.Second
)

// ListTools reads all pages of the tool list.
func (c *Conn) ListTools(ctx context.Context) ([]json.RawMessage, error) { return c.List(ctx, Tools) }

// List reads all pages of a list. It does not interpret the entries. It returns an error
// if the list has too many entries or is too large.
func (c *Conn) List(ctx context.Context, k Kind) ([]json.RawMessage, error) {
	all, _, err := c.ListFor(ctx, k)
	return all, err
}

// longest is how long a list may count.
const longest = time.Hour

// ListFor is [Conn.List], and tells for how long the server says that the list counts; 0:
// it does not say.
func (c *Conn) ListFor(ctx context.Context, k Kind) (all []json.RawMessage, keep time.Duration, err error) {
	size := 0
	var seen []string
	params := rawjson.Object{}
	for range maxPages {
		page, err := c.Call(ctx, k.method, params)
		if own, ok := errors.AsType[*rpc.Error](err); ok {
			return nil, 0, fmt.Errorf("%s: %w", k.method, own)
		} else if err != nil {
			return nil, 0, err
		}
		if size += len(page); size > maxListed {
			return nil, 0, fmt.Errorf("its %s list is larger than %s", k.noun, humanize.Bytes(maxListed))
		}
		o, err := rawjson.SplitObject(page)
		if err != nil {
			return nil, 0, fmt.Errorf("its %s list is %w", k.noun, err)
		}
		entries, ok := rawjson.SplitArray(o.Get(k.member))
		if !ok {
			return nil, 0, fmt.Errorf("its %s list has no %s member", k.noun, k.member)
		}
		if all = append(all, entries...); len(all) > maxEntries {
			return nil, 0, fmt.Errorf("its %s list has more than %d entries", k.noun, maxEntries)
		}
		if ms, err := strconv.ParseFloat(string(o.Get("ttlMs")), 64); err == nil && ms > 0 {
			keep = time.Duration(min(ms, float64(longest.Milliseconds()))) * time.Millisecond
		}
		next := o.Str("nextCursor")
		if next == "" || slices.Contains(seen, next) {
			break
		}
		seen = append(seen, next)
		params = rawjson.Object{{Key: "cursor", Value: rawjson.Quote(next)}}
	}
	return all, keep, nil
}

// first returns the list of tools right after the handshake. A server that declares no
// tools need not support the request.
func (c *Conn) first(ctx context.Context) ([]json.RawMessage, error) {
	for began := time.Now(); ; {
		tools, err := c.ListTools(ctx)
		if _, ok := errors.AsType[*rpc.Error](err); ok && c.hello.Capabilities != nil && !c.hello.Has("tools") {
			tools, err = nil, nil
		}
		if err != nil || !c.o.Settle || !c.changesWithin(ctx, min(settleQuiet, settleLimit-time.Since(began))) {
			return tools, err
		}
	}
}

// changesWithin waits for a report that the tools have changed, and consumes it.
func (c *Conn) changesWithin(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return false // it stays for whoever waits for Changed
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c.changes:
		return true
	case <-t.C:
	case <-ctx.Done():
	}
	return false
}
