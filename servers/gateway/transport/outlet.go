package transport

import (
	"bytes"
	"context"
	"crypto/rand"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// librarySession is what mcp-go's session over HTTP can do.
type librarySession interface {
	server.SessionWithTools
	server.SessionWithResources
	server.SessionWithResourceTemplates
	server.SessionWithLogging
	server.SessionWithClientInfo
	server.SessionWithProtocolVersion
	server.SessionWithElicitation
	server.SessionWithStreamableHTTPConfig
	server.SessionWithSubscriptionFilter
	SetProtocolVersion(version string)
}

// outlet is the session of one request over HTTP. What the request says goes out on its own
// stream, in order, before its reply.
//
// All requests of a session, and the stream that it listens on, take notifications from one
// queue of the library, and whoever takes one writes it. So the outlet has a queue of its
// own. It hands the messages to the library one at a time, by the only way that leads to the
// stream of this request alone: as an elicitation, or, where requests have a session each, as
// a notification. Both only wrap the message, which [unwrapped] takes out again where it is
// written. The outlet hands over the next when that has happened, and the reply waits for the
// last.
type outlet struct {
	librarySession
	asker httpAsker // for requests to the client
	of    *receipts
	ctx   context.Context // of the request, which contains the library's way to its stream

	begin sync.Once
	queue chan mcp.JSONRPCNotification
}

// maxUnwritten is how many messages of one request wait to be written; the library drops
// more.
const maxUnwritten = 512

var (
	_ router.Outlet              = (*outlet)(nil)
	_ server.SessionWithSampling = (*outlet)(nil)
	_ server.SessionWithRoots    = (*outlet)(nil)
)

type outletKey struct{}

// withOutlet returns a context in which the library gives a request its outlet.
func withOutlet(ctx context.Context, o *outlet) context.Context {
	return context.WithValue(ctx, outletKey{}, o)
}

// ownSession is the library's hook that replaces the session of a request by its outlet.
func ownSession(mcpServer *server.MCPServer) server.HTTPContextFunc {
	return func(ctx context.Context, _ *http.Request) context.Context {
		o, _ := ctx.Value(outletKey{}).(*outlet)
		own, ok := server.ClientSessionFromContext(ctx).(librarySession)
		if o == nil || !ok {
			return ctx
		}
		o.librarySession = own
		return mcpServer.WithContext(ctx, o)
	}
}

// Open implements [router.Outlet].
func (o *outlet) Open(ctx context.Context) { o.ctx = ctx }

// Drain implements [router.Outlet]. Nothing that is said later goes out.
func (o *outlet) Drain() {
	o.begin.Do(func() {})
	if o.queue == nil {
		return // nothing was said
	}
	written := make(chan struct{})
	if o.put(o.ctx, func() { close(written) }) != nil {
		return
	}
	select {
	case <-written:
	case <-o.ctx.Done():
	}
}

// NotificationChannel implements [server.ClientSession]. The library calls it to send.
func (o *outlet) NotificationChannel() chan<- mcp.JSONRPCNotification {
	o.begin.Do(func() {
		o.queue = make(chan mcp.JSONRPCNotification, maxUnwritten)
		recovery.Go("http request", o.run)
	})
	return o.queue
}

// spoken is the key of what the outlet puts into its own queue: a line, or a function that
// is called when everything before it is written.
const spoken = "mcpdeck/spoken"

func (o *outlet) run() {
	for {
		select {
		case n := <-o.queue:
			switch own := n.Params.AdditionalFields[spoken].(type) {
			case func():
				own()
				return
			case []byte:
				o.write(own)
			default:
				if line, err := notificationLine(n, ""); err == nil {
					o.write(bytes.TrimSpace(line))
				}
			}
		case <-o.ctx.Done():
			return
		}
	}
}

// write hands a message to the library, and returns when it is written or the request has
// ended.
func (o *outlet) write(message []byte) {
	ctx, written := context.WithCancel(o.ctx)
	defer written()
	receipt := o.of.issue(written)
	defer o.of.redeem(receipt)
	wrapper := map[string]any{wrappedMessage: message, wrappedReceipt: receipt} // bytes are base64 in JSON
	if o.SessionID() != "" {                                                    // else requests have a session each
		// Whatever this returns, it was not about the client's answer.
		_, _ = o.librarySession.RequestElicitation(ctx, mcp.ElicitationRequest{Params: mcp.ElicitationParams{RequestedSchema: wrapper}})
		return
	}
	n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION, Notification: mcp.Notification{
		Method: "notifications/message", Params: mcp.NotificationParams{AdditionalFields: wrapper},
	}}
	select {
	case o.librarySession.NotificationChannel() <- n:
		<-ctx.Done()
	case <-ctx.Done():
	}
}

// put adds something of the outlet's own to the queue.
func (o *outlet) put(ctx context.Context, what any) error {
	n := mcp.JSONRPCNotification{Notification: mcp.Notification{Params: mcp.NotificationParams{AdditionalFields: map[string]any{spoken: what}}}}
	select {
	case o.NotificationChannel() <- n:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-o.ctx.Done():
		return o.ctx.Err()
	}
}

// RequestElicitation implements [server.SessionWithElicitation].
func (o *outlet) RequestElicitation(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	return asked[mcp.ElicitationResult](ctx, o.asker, mcp.MethodElicitationCreate, r.Params)
}

// RequestSampling implements [server.SessionWithSampling].
func (o *outlet) RequestSampling(ctx context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	return asked[mcp.CreateMessageResult](ctx, o.asker, mcp.MethodSamplingCreateMessage, r.CreateMessageParams)
}

// ListRoots implements [server.SessionWithRoots].
func (o *outlet) ListRoots(ctx context.Context, _ mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return asked[mcp.ListRootsResult](ctx, o.asker, mcp.MethodListRoots, nil)
}

// receipts know who waits for a message to be written. The zero value is ready to use.
type receipts struct {
	mu   sync.Mutex
	key  string // begins each, so that no server can make one
	last uint64
	due  map[string]func()
}

// issue returns a new receipt; written is called when it is redeemed.
func (r *receipts) issue(written func()) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.due == nil {
		r.key, r.due = rand.Text()+" ", map[string]func(){}
	}
	r.last++
	id := r.key + strconv.FormatUint(r.last, 10)
	r.due[id] = written
	return id
}

// issued reports whether a receipt is one of these.
func (r *receipts) issued(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.key != "" && strings.HasPrefix(id, r.key)
}

// redeem notes that a message is written, or will not be.
func (r *receipts) redeem(id string) {
	r.mu.Lock()
	written := r.due[id]
	delete(r.due, id)
	r.mu.Unlock()
	if written != nil {
		written()
	}
}
