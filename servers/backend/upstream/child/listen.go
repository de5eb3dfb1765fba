package child

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

const (
	listenAgain    = time.Second // after the server closed a subscription; doubles
	listenSeldom   = 30 * time.Second
	listenPatience = 5 * time.Second // for the acknowledgement of a subscription
	listenFirst    = time.Second     // the same, before the first lists are read
)

// listens is the subscription to the notifications of a modern server. The zero value is
// ready to use.
type listens struct {
	mu     sync.Mutex
	id     string             // of the request that is open; "": none
	agreed chan struct{}      // closed when the server has acknowledged it
	end    context.CancelFunc // of the one before; nil: none
}

// listenBefore has a modern server tell of changes before its lists are read for the
// first time, so that none falls between the two. A server that is slow to acknowledge
// is not waited for: its lists are read again when it has.
func (c *Conn) listenBefore(ctx context.Context) {
	if c.era != Modern {
		return
	}
	there, late := make(chan struct{}), make(chan struct{})
	c.open(nil, func() {
		select {
		case <-late:
			c.Renewed()
		default:
			close(there)
		}
	})
	t := time.NewTimer(listenFirst)
	defer t.Stop()
	select {
	case <-there:
	case <-t.C:
		close(late)
	case <-ctx.Done():
	}
}

// Listen subscribes to changes of the lists of a modern server and of the resources with
// these URIs, replacing the earlier subscription. A subscription that ends is renewed.
// A legacy server reports changes of lists without a subscription, and those of
// resources after resources/subscribe.
func (c *Conn) Listen(uris []string) {
	if c.era == Modern {
		c.open(uris, func() {})
	}
}

// open opens a subscription in place of the one before. there is called once, when it
// is there, or the server has refused it or said nothing for long.
func (c *Conn) open(uris []string, there func()) {
	ctx, cancel := context.WithCancel(context.Background())
	c.listens.mu.Lock()
	before := c.listens.end
	c.listens.end = cancel
	c.listens.mu.Unlock()
	uris = slices.Clone(uris)
	recovery.Go(c.o.Name+" listen", func() {
		defer cancel()
		c.listen(ctx, uris, func() {
			if before != nil {
				before() // so that no change is missed between the two
			}
			there()
		})
	})
}

// listen keeps a subscription open until ctx or the connection ends; there is that of
// [Conn.open].
func (c *Conn) listen(ctx context.Context, uris []string, there func()) {
	filter := rawjson.Object{}
	for _, list := range []string{"toolsListChanged", "promptsListChanged", "resourcesListChanged"} {
		filter = append(filter, rawjson.Member{Key: list, Value: json.RawMessage("true")})
	}
	if len(uris) > 0 {
		all, _ := rpc.Raw(uris) // always encodes
		filter = append(filter, rawjson.Member{Key: "resourceSubscriptions", Value: all})
	}
	params := rawjson.Object{{Key: "notifications", Value: filter.JSON()}}
	for wait := listenAgain; ; wait = min(2*wait, listenSeldom) {
		began := time.Now()
		r, agreed, err := c.subscribe(ctx, params)
		if err != nil {
			return
		}
		late := time.NewTimer(listenPatience)
		var a rpc.Reply
		for open := true; open; {
			select {
			case <-agreed:
			case <-late.C:
			case <-c.Done():
				return
			case <-ctx.Done():
				c.Offer(r.Cancelled(""))
				r.Forget()
				return
			case a = <-r.Reply:
				open = false
			}
			if agreed != nil {
				there()
				agreed, there = nil, c.Renewed // after a time in which it was closed
			}
		}
		late.Stop()
		if refused, ok := errors.AsType[*rpc.Error](a.Err); ok && refused.Code == rpc.CodeMethod {
			c.o.Log.Note("it does not report changes: " + refused.Message)
			return
		}
		if time.Since(began) > listenSeldom {
			wait = listenAgain
		}
		select {
		case <-time.After(wait):
		case <-c.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

// subscribe opens a subscription.
func (c *Conn) subscribe(ctx context.Context, params rawjson.Object) (*rpc.Request, <-chan struct{}, error) {
	agreed := make(chan struct{})
	r, err := c.Start(ctx, "subscriptions/listen", func(id string) rawjson.Object {
		c.listens.mu.Lock()
		c.listens.id, c.listens.agreed = id, agreed
		c.listens.mu.Unlock()
		return params
	}, nil)
	return r, agreed, err
}

// acknowledged handles the acknowledgement of a subscription.
func (l *listens) acknowledged(params json.RawMessage) {
	o, err := rawjson.SplitObject(params)
	if err != nil {
		return
	}
	meta, err := rawjson.SplitObject(o.Get("_meta"))
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.agreed != nil && meta.Str("io.modelcontextprotocol/subscriptionId") == l.id {
		close(l.agreed)
		l.agreed = nil
	}
}
