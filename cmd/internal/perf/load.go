//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// client makes requests and waits for their answers, from several goroutines.
type client interface {
	request(method, params string) ([]byte, error)
	notify(method string) error
	close()
}

const initParams = `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"perf","version":"1"}}`

// shake does the handshake and lists the tools.
func shake(c client) error {
	if _, err := c.request("initialize", initParams); err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	if err := c.notify("notifications/initialized"); err != nil {
		return err
	}
	b, err := c.request("tools/list", "{}")
	if err == nil && !bytes.Contains(b, []byte(`"tools"`)) {
		err = fmt.Errorf("list tools: %s", b)
	}
	return err
}

// pipe is a server behind a stream of lines: a process, or a connection.
type pipe struct {
	*rpc.Conn
	in   io.Closer
	wait func()
}

func startProcess(env []string, args ...string) (*pipe, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(cmd.Environ(), env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return newPipe(in, out, func() {
		t := time.AfterFunc(3*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		t.Stop()
	}), nil
}

func newPipe(in io.WriteCloser, out io.Reader, wait func()) *pipe {
	p := &pipe{rpc.New(rpc.Options{Name: "perf"}), in, wait}
	p.Begin(in, out)
	return p
}

func (p *pipe) request(method, params string) ([]byte, error) {
	return p.Call(context.Background(), method, json.RawMessage(params))
}

func (p *pipe) notify(method string) error {
	p.Say(rpc.Message{Method: method})
	return nil
}

func (p *pipe) close() {
	p.in.Close()
	p.wait()
}

// web is a server behind streamable HTTP.
type web struct {
	url, token, session string
	http                *http.Client
	next                atomic.Int64
}

func newWeb(url, token string) *web {
	return &web{url: url, token: token, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

func (w *web) post(body string) ([]byte, error) {
	req, err := http.NewRequest(http.MethodPost, w.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+w.token)
	if w.session != "" {
		req.Header.Set("Mcp-Session-Id", w.session)
	}
	resp, err := w.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("HTTP %d: %s", resp.StatusCode, b)
	}
	if w.session == "" {
		w.session = resp.Header.Get("Mcp-Session-Id")
	}
	return b, err
}

func (w *web) request(method, params string) ([]byte, error) {
	return w.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, w.next.Add(1), method, params))
}

func (w *web) notify(method string) error {
	_, err := w.post(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q}`, method))
	return err
}

func (w *web) close() { w.http.CloseIdleConnections() }

// echoes makes n calls of an echo tool from several callers and returns how
// long each took and all together.
func echoes(c client, tool string, n, callers, size int) (each []time.Duration, all time.Duration, err error) {
	text := strings.Repeat("x", size)
	params := fmt.Sprintf(`{"name":%q,"arguments":{"text":%q}}`, tool, text)
	var mu sync.Mutex
	var wg sync.WaitGroup
	start := time.Now()
	for range callers {
		wg.Go(func() {
			took := make([]time.Duration, 0, n/callers)
			for range n / callers {
				t := time.Now()
				b, cerr := c.request("tools/call", params)
				if cerr == nil && !bytes.Contains(b, []byte("xxxx")) {
					cerr = fmt.Errorf("no echo: %.200s", b)
				}
				if cerr != nil {
					mu.Lock()
					err = cerr
					mu.Unlock()
					return
				}
				took = append(took, time.Since(t))
			}
			mu.Lock()
			each = append(each, took...)
			mu.Unlock()
		})
	}
	wg.Wait()
	return each, time.Since(start), err
}

// at is the quantile q of d.
func at(d []time.Duration, q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[min(len(d)-1, int(q*float64(len(d))))]
}
