package transport

import (
	"cmp"
	"crypto/subtle"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Guard protects the HTTP endpoint. It refuses requests that a web page or another user
// of the machine could send, before reading the body.
type Guard struct {
	// Token must be sent as "Authorization: Bearer TOKEN". Only tests may leave it nil,
	// which allows everyone.
	Token func() string
	// Next handles the requests that pass.
	Next http.Handler
	// MaxBody is the longest body in bytes; 0: rpc.MaxLine.
	MaxBody int64
}

// ServeHTTP implements http.Handler.
func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	limit := cmp.Or(g.MaxBody, rpc.MaxLine)
	switch {
	case !loopbackName(hostOf(r.Host)):
		refuse(w, http.StatusForbidden, "the Host header must name this machine")
	case !loopbackOrigin(r.Header.Values("Origin")):
		refuse(w, http.StatusForbidden, "requests from web pages are not accepted")
	case !g.knows(r.Header.Values("Authorization")):
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, http.StatusUnauthorized, "the header Authorization: Bearer TOKEN is missing or wrong; mcpdeck token shows the file")
	case r.Method != http.MethodPost && r.Method != http.MethodGet && r.Method != http.MethodDelete:
		w.Header().Set("Allow", "POST, GET, DELETE")
		refuse(w, http.StatusMethodNotAllowed, "use POST, GET or DELETE")
	case r.Method == http.MethodPost && !isJSON(r.Header.Get("Content-Type")):
		refuse(w, http.StatusUnsupportedMediaType, "the content type must be application/json")
	case r.ContentLength > limit:
		refuse(w, http.StatusRequestEntityTooLarge, "the body is too large")
	default:
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		g.Next.ServeHTTP(w, r)
	}
}

func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Connection", "close") // the body stays unread
	w.WriteHeader(status)
	_, _ = io.WriteString(w, why+"\n") // the client may be gone
}

func (g *Guard) knows(headers []string) bool {
	if g.Token == nil {
		return true
	}
	if len(headers) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	wanted := g.Token()
	return strings.EqualFold(scheme, "Bearer") && wanted != "" && subtle.ConstantTimeCompare([]byte(token), []byte(wanted)) == 1
}

func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

func loopbackName(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func loopbackOrigin(origins []string) bool {
	for _, o := range origins {
		u, err := url.Parse(o)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !loopbackName(u.Hostname()) {
			return false
		}
	}
	return true
}

func isJSON(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == "application/json"
}

// checked refuses a body whose message is ambiguous.
func checked(w http.ResponseWriter, r *http.Request, body []byte) (*backend.Request, bool) {
	if r.Method != http.MethodPost {
		return &backend.Request{}, true
	}
	e, bad := Decode(body)
	if bad != nil {
		fail(w, e.ID, http.StatusBadRequest, *bad)
	}
	return e, bad == nil
}
