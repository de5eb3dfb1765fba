package push

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
)

// RefusedError is what a server said that did not take a push.
type RefusedError struct {
	Status int
	After  time.Duration // it may be tried again after this; 0: it did not say
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the server said %d %s", e.Status, http.StatusText(e.Status))
}

// lasting reports whether the server will not take it later, either.
func (e *RefusedError) lasting() bool {
	return slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone}, e.Status)
}

// To is where the configuration says that pushes go.
func To(cfg *config.Config) Target {
	f := cfg.File.Notify.Away
	return Target{Ntfy: f.Ntfy, Webhook: f.Webhook, Command: f.Command, Token: f.Token, Environ: cfg.Environ, Home: cfg.Home}
}

// UnknownError says that it could not be found out whether something is safe.
type UnknownError struct{ error }

// Target is where pushes go, as the configuration says.
type Target struct {
	Ntfy, Webhook string // addresses
	Command       []string
	Token         string // may refer to the environment: ${env:NAME}
	Environ       []string
	Home          string
	Transport     http.RoundTripper // nil: one with the system's settings
}

// Open returns what sends to the target; nil if there is none.
func (t Target) Open() (Sender, error) {
	set := 0
	for _, is := range []bool{t.Ntfy != "", t.Webhook != "", len(t.Command) > 0} {
		if is {
			set++
		}
	}
	switch {
	case set == 0:
		return nil, nil
	case set > 1:
		return nil, errors.New("notify.away: set one of ntfy, webhook and command")
	}
	card, missing := settings.Card{URL: t.Ntfy + t.Webhook, Command: t.Command, Headers: map[string]string{"token": t.Token}}.Expand(settings.Values{Home: t.Home, Env: t.variable})
	if len(missing) > 0 {
		return nil, fmt.Errorf("notify.away needs %s", strings.Join(missing, ", "))
	}
	if len(card.Command) > 0 {
		return program{process.Of(card.Command, process.Desktop, t.Environ)}, nil
	}
	u, err := url.Parse(card.URL)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("notify.away: the address must begin with https:// and have no user name")
	case u.Scheme == "http" && u.Hostname() != "localhost" && !net.ParseIP(u.Hostname()).IsLoopback():
		return nil, errors.New("notify.away: use https:// for an address that is not on this machine")
	case t.Ntfy != "" && strings.Trim(u.Path, "/") == "":
		return nil, errors.New("notify.away.ntfy: the address must end with a topic, such as https://ntfy.sh/TOPIC")
	}
	stays := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	h := web{address: strings.TrimSuffix(card.URL, "/"), token: card.Headers["token"], client: &http.Client{Transport: t.Transport, CheckRedirect: stays}, safe: u.Scheme == "https"}
	if t.Ntfy != "" {
		return ntfy{h}, nil
	}
	return webhook{h}, nil
}

func (t Target) variable(name string) (string, bool) { return process.Lookup(t.Environ, name) }

// web is a server that is reached over HTTP.
type web struct {
	address, token string
	client         *http.Client
	safe           bool // nobody on the way can read it
}

// Secrets implements Sender.
func (w web) Secrets() []string { return []string{w.token} }

func (w web) do(ctx context.Context, method, address string, body []byte, header http.Header) error {
	ctx, done := context.WithTimeout(ctx, sendWithin)
	defer done()
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	maps.Copy(req.Header, header)
	req.Header.Set("User-Agent", "mcpdeck/"+cli.Version())
	if w.token != "" {
		req.Header.Set("Authorization", "Bearer "+w.token)
	}
	resp, err := w.client.Do(req)
	if err != nil {
		if failed := new(url.Error); errors.As(err, &failed) {
			err = failed.Err // the address has the topic, which is a secret
		}
		return err
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection can be used again
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return nil
	}
	seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // not a number: it did not say
	return &RefusedError{Status: resp.StatusCode, After: time.Duration(seconds) * time.Second}
}

// ntfy is a topic of an ntfy server. Messages have a sequence ID of ours, under which a
// reminder takes the place of the first message, and a deletion takes it away.
type ntfy struct{ web }

// Send implements Sender.
func (n ntfy) Send(ctx context.Context, e Event) error {
	if e.Kind == Withdrawn {
		return n.do(ctx, http.MethodDelete, n.address+"/"+e.ID, nil, nil)
	}
	text := e.Text
	if e.Code != "" {
		text += "\nmcpdeck ask answer " + strconv.Itoa(e.Item) + "\n" + e.Code
	}
	return n.do(ctx, http.MethodPost, n.address, []byte(text), http.Header{
		"Title": {mime.QEncoding.Encode("utf-8", e.Title)}, "X-Sequence-Id": {e.ID}, "Content-Type": {"text/plain; charset=utf-8"},
	})
}

// Secret implements Sender. An agent in the user's account can read the configuration, and so
// the topic and the token: with these, nobody may be able to read what was sent.
func (n ntfy) Secret(ctx context.Context) error {
	if !n.safe {
		return errors.New("they need an https:// address")
	}
	for _, w := range []web{n.web, {client: n.client}} {
		err := w.do(ctx, http.MethodGet, n.address+"/json?poll=1&since=1s", nil, nil)
		refused := new(RefusedError)
		switch {
		case err == nil:
			return errors.New("the topic can be read with what is in the configuration, so an agent could read them; protect the topic, and use a token that may only write")
		case !errors.As(err, &refused) || refused.Status != http.StatusUnauthorized && refused.Status != http.StatusForbidden:
			return &UnknownError{err}
		}
	}
	return nil
}

// webhook is an address that gets each event as JSON.
type webhook struct{ web }

// Send implements Sender.
func (w webhook) Send(ctx context.Context, e Event) error {
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return w.do(ctx, http.MethodPost, w.address, b, http.Header{"Content-Type": {"application/json"}})
}

// Secret implements Sender.
func (w webhook) Secret(context.Context) error {
	if !w.safe {
		return errors.New("they need an https:// address")
	}
	return nil
}

// program is run for each event, which it gets as JSON on its standard input.
type program struct{ process.Command }

// Secrets implements Sender.
func (p program) Secrets() []string { return nil }

// Send implements Sender.
func (p program) Send(ctx context.Context, e Event) error {
	b, err := json.Marshal(e)
	if err != nil {
		return err
	}
	ctx, done := context.WithTimeout(ctx, sendWithin)
	defer done()
	return process.Run(ctx, p.Command, process.Streams{In: bytes.NewReader(append(b, '\n'))})
}

// Secret implements Sender: what a program of the account is given, others can read.
func (p program) Secret(context.Context) error {
	return errors.New("other programs in your account can read what a command gets; use ntfy or a webhook")
}
