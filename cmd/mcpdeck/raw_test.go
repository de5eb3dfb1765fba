//go:build linux

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
)

// raw is a client that keeps what it is told byte by byte.
type raw struct {
	t      *testing.T
	modern bool
	name   string // that it introduces itself by; "" for some
	last   int
	post   func(id int, method, params string) []byte // the answer to a request; to a notification, which has id 0, nil
	end    func()

	url  string              // of one over HTTP
	head func(*http.Request) // says who asks
}

// hello greets in the era. It returns what the server says of itself.
func (r *raw) hello(capabilities string) []byte {
	r.t.Helper()
	if r.modern {
		return r.ask("server/discover", "")
	}
	said := r.ask("initialize", `"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"clientInfo":{"name":"`+cmp.Or(r.name, "raw")+`","version":"1"}`)
	r.post(0, "notifications/initialized", "{}")
	return said
}

// ask sends a request, with the members of its params, and returns the result or
// error as it was written.
func (r *raw) ask(method, members string) []byte {
	r.t.Helper()
	if r.modern {
		members = strings.Trim(members+","+modern, ",")
	}
	r.last++
	var answer struct{ Result, Error json.RawMessage }
	line := r.post(r.last, method, "{"+members+"}")
	if err := json.Unmarshal(line, &answer); err != nil || answer.Result == nil && answer.Error == nil {
		r.t.Fatalf("%s is answered with %.300q, %v", method, line, err)
	}
	if answer.Error != nil {
		return append([]byte("error "), answer.Error...)
	}
	return answer.Result
}

// overLines is a client of what reads and writes lines.
func overLines(t *testing.T, modern bool, in io.WriteCloser, out *bufio.Reader, end func()) *raw {
	t.Helper()
	r := &raw{t: t, modern: modern, end: end}
	r.post = func(id int, method, params string) []byte {
		t.Helper()
		head := ""
		if id > 0 {
			head = fmt.Sprintf(`"id":%d,`, id)
		}
		if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0",%s"method":%q,"params":%s}`+"\n", head, method, params); err != nil {
			t.Fatal(err)
		}
		for id > 0 {
			line, err := out.ReadBytes('\n')
			if err != nil {
				t.Fatalf("%s: no answer: %v", method, err)
			}
			var m struct {
				ID     json.RawMessage
				Method string
			}
			if json.Unmarshal(line, &m) == nil && string(m.ID) == strconv.Itoa(id) && m.Method == "" {
				return line
			}
		}
		return nil
	}
	return r
}

// rawProgram is a client of a program.
func rawProgram(t *testing.T, modern bool, c *exec.Cmd) *raw {
	t.Helper()
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	end := func() {
		_ = c.Process.Kill() // it may have ended
		_ = c.Wait()
	}
	t.Cleanup(end)
	return overLines(t, modern, in, bufio.NewReader(out), end)
}

// waysIn are the clients of a view in an era, by their transport; without names it is
// the view of all servers.
func waysIn(d *driver, modern bool, names ...string) map[string]*raw {
	d.t.Helper()
	conn, err := net.Dial("unix", filepath.Join(d.home, ".local/state/mcpdeck/run/deck.sock"))
	if err != nil {
		d.t.Fatal(err)
	}
	welcome, out, err := transport.Greet(conn, transport.Hello{Servers: names, Cwd: d.project})
	if err != nil || welcome.Error != "" {
		d.t.Fatal(err, welcome.Error)
	}
	return map[string]*raw{
		"stdio":  rawProgram(d.t, modern, d.command(append([]string{"mcp"}, names...)...)),
		"socket": overLines(d.t, modern, conn, out, func() { conn.Close() }),
		"HTTP":   d.overHTTP(modern, strings.Join(append([]string{"/mcp"}, names...), "/")),
	}
}

func (d *driver) overHTTP(modern bool, path string) *raw {
	d.t.Helper()
	token, err := os.ReadFile(filepath.Join(d.home, ".local/state/mcpdeck/run/token"))
	if err != nil {
		d.t.Fatal(err)
	}
	address := d.address
	if address == "" {
		address = d.http()
	}
	r, session, version := &raw{t: d.t, modern: modern, end: func() {}, url: "http://" + address + path}, "", "2025-11-25"
	if modern {
		version = "2026-07-28"
	}
	r.head = func(req *http.Request) {
		for name, value := range map[string]string{
			"Authorization": "Bearer " + strings.TrimSpace(string(token)), "Mcp-Protocol-Version": version, "Mcp-Session-Id": session,
		} {
			if value != "" {
				req.Header.Set(name, value)
			}
		}
	}
	r.post = func(id int, method, params string) []byte {
		d.t.Helper()
		head := ""
		if id > 0 {
			head = fmt.Sprintf(`"id":%d,`, id)
		}
		req, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, r.url, strings.NewReader(`{"jsonrpc":"2.0",`+head+`"method":"`+method+`","params":`+params+`}`))
		if err != nil {
			d.t.Fatal(err)
		}
		r.head(req)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Mcp-Method", method)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			d.t.Fatal(err)
		}
		defer resp.Body.Close()
		if s := resp.Header.Get("Mcp-Session-Id"); s != "" {
			session = s
		}
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			d.t.Fatal(err)
		}
		if i := bytes.LastIndex(b, []byte("data: ")); strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") && i >= 0 {
			b = b[i+len("data: "):]
		}
		return b
	}
	return r
}
