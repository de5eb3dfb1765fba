// Package streamable implements the link to an MCP server that has a URL: streamable HTTP in
// both eras of the protocol, and the older HTTP+SSE transport.
package streamable

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

const (
	reachLimit   = 10 * time.Second // for connecting, including TLS
	noticeLimit  = 10 * time.Second // for a notification that later messages depend on
	farewell     = time.Second      // for ending a session
	maxFailure   = 64 << 10         // maximum bytes read from an error response
	maxRedirects = 5
	maxNotices   = 32          // maximum number of notifications and responses in flight
	noticeMost   = time.Minute // for one of them
	modern       = "2026-07-28"
)

// Options configure the link to a server.
type Options struct {
	Name      string // of the server, for the log and the record of a panic
	URL       string
	Transport Transport
	Headers   map[string]string // sent with every request
	Version   string            // of mcpdeck
	AllowHTTP bool              // allow plain HTTP to other machines, too
	Log       *child.Log

	Proxy   func(*http.Request) (*url.URL, error) // nil means no proxy
	Roots   *x509.CertPool                        // nil means the system's
	Connect func(ctx context.Context, network, address string) (net.Conn, error)

	// Renewed is called after a lost session was replaced by a new one, which has none of
	// its settings, such as the log level or subscriptions. It must not block, and may be
	// nil.
	Renewed func()
}

// Transport is how messages are sent over HTTP.
type Transport string

// The transports. Auto means HTTP, or SSE if the server supports only that.
const (
	Auto Transport = "auto" // same as ""
	HTTP Transport = "http"
	SSE  Transport = "sse"
)

type link struct {
	o    Options
	url  *url.URL
	http *http.Client
	conn *rpc.Conn

	life context.Context
	stop context.CancelFunc
	work sync.WaitGroup
	gone chan struct{}
	ends sync.Once

	renewing chan struct{} // a one-slot semaphore, held while a lost session is replaced
	notices  chan struct{} // a semaphore with a slot for each notification or response in flight
	joining  sync.Mutex    // held while the SSE stream is opened

	mu       sync.Mutex // guards the fields below
	cause    string
	version  string                        // protocol version, once known
	session  string                        // "" if there is none
	hello    []byte                        // params of initialize
	endpoint *url.URL                      // for SSE, once the server has sent it
	listens  context.CancelFunc            // ends the session's stream; nil if there is none
	greets   map[string]context.CancelFunc // end the requests that begin a connection, by method
	open     map[string]*exchange          // requests, by id
	params   map[string][]param            // by tool name
}

// exchange is a request in flight.
type exchange struct {
	end       context.CancelFunc
	cancelled bool
}

// Open returns a link to a server. Nothing is sent until the link is used.
func Open(o Options) (child.Link, error) {
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, errors.New("the URL is invalid")
	}
	u.Fragment = ""
	switch {
	case u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("the URL must begin with https:// or http:// and name a host")
	case u.Scheme == "http" && !o.AllowHTTP && !loopback(u.Hostname()):
		return nil, fmt.Errorf("%s is not on this machine: use https, or allow_http = true to send everything in the clear", u.Host)
	}
	dialer := &net.Dialer{Timeout: reachLimit}
	connect := o.Connect
	if connect == nil {
		connect = dialer.DialContext
	}
	l := &link{
		o: o, url: u, gone: make(chan struct{}), renewing: make(chan struct{}, 1), notices: make(chan struct{}, maxNotices),
		open: map[string]*exchange{}, greets: map[string]context.CancelFunc{}, params: map[string][]param{},
		http: &http.Client{CheckRedirect: sameOrigin, Transport: &http.Transport{
			Proxy: o.Proxy, DialContext: connect, TLSClientConfig: &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout: reachLimit, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 8, IdleConnTimeout: 90 * time.Second,
			MaxResponseHeaderBytes: maxFailure,
		}},
	}
	l.life, l.stop = context.WithCancel(context.Background())
	return l, nil
}

// loopback reports whether a host name or address is always this machine.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

var (
	errElsewhere = errors.New("the server redirects to another one: use the URL it redirects to")
	errCircles   = errors.New("the server redirects in a way that cannot be followed")
)

// sameOrigin allows redirects that stay on the server and repeat the request.
func sameOrigin(to *http.Request, via []*http.Request) error {
	from := via[0]
	switch {
	case to.URL.Scheme != from.URL.Scheme || to.URL.Host != from.URL.Host:
		return errElsewhere
	case to.Method != from.Method || len(via) > maxRedirects:
		return errCircles
	}
	return nil
}

// Begin implements child.Link.
func (l *link) Begin(c *rpc.Conn) {
	l.conn = c
	c.BeginSending(l)
}

// Write sends one line to the server. It waits only for messages that must arrive before
// any that follow, and while too many notifications are in flight.
func (l *link) Write(line []byte) (int, error) {
	m, bad := rpc.Rules{Lenient: true}.Decode(trimmed(line))
	if bad != nil {
		return 0, bad
	}
	switch {
	case m.Method != "" && m.ID != nil:
		l.request(m, line)
	case m.Method == "notifications/initialized":
		ctx, cancel := context.WithTimeout(l.life, noticeLimit)
		l.notify(ctx, m, line)
		cancel()
		l.listen()
	case m.Method == "notifications/cancelled":
		l.spawn("cancel", func() { l.cancel(m, line) })
	default:
		select {
		case l.notices <- struct{}{}:
		case <-l.life.Done():
			return 0, l.life.Err()
		}
		l.spawn("notification", func() {
			ctx, cancel := context.WithTimeout(l.life, noticeMost)
			defer func() { cancel(); <-l.notices }()
			l.notify(ctx, m, line)
		})
	}
	return len(line), nil
}

// spawn runs fn in a goroutine that the end of the link waits for.
func (l *link) spawn(what string, fn func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.life.Err() != nil {
		return
	}
	l.work.Add(1)
	recovery.Go(l.o.Name+" "+what, func() {
		defer l.work.Done()
		fn()
	})
}

// Gone implements child.Link.
func (l *link) Gone() <-chan struct{} { return l.gone }

// Cause implements child.Link.
func (l *link) Cause() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// Reason implements child.Link.
func (l *link) Reason() string { return "" }

// Fault implements child.Link.
func (l *link) Fault() string { return l.Cause() }

// End implements child.Link. It tells the server that the session is over.
func (l *link) End(bool) {
	l.mu.Lock()
	session := l.session
	l.session = ""
	l.mu.Unlock()
	if session != "" && l.life.Err() == nil {
		ctx, cancel := context.WithTimeout(context.Background(), farewell)
		if r, err := l.newRequest(ctx, http.MethodDelete, l.url, nil, session); err == nil {
			if answer, err := l.http.Do(r); err == nil {
				answer.Body.Close()
			}
		}
		cancel()
	}
	l.finish("the connection was closed")
	<-l.gone
}

// Kill implements child.Link.
func (l *link) Kill() { l.fall("the connection was closed") }

// fall ends the link without waiting.
func (l *link) fall(cause string) { recovery.Go(l.o.Name+" end", func() { l.finish(cause) }) }

// finish ends the link once.
func (l *link) finish(cause string) {
	l.ends.Do(func() {
		l.mu.Lock()
		l.cause = cause
		l.stop()
		l.mu.Unlock()
		l.conn.Finish()
		l.work.Wait()
		l.http.CloseIdleConnections()
		close(l.gone)
	})
}

// note adds a line to the log.
func (l *link) note(text string) {
	if l.o.Log != nil {
		l.o.Log.Note(text)
	}
}

// learn stores which arguments of the tools on a page are repeated in headers.
func (l *link) learn(page []byte) {
	found := toolParams(page)
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.Copy(l.params, found)
}
