//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/decktest"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// stream opens the stream of what the deck tells a client over HTTP by itself.
func (r *raw) stream() io.ReadCloser {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.url, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	r.head(req)
	req.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		r.t.Fatalf("listen: %v, %+v", err, resp)
	}
	return resp.Body
}

// overWeb is an agent over HTTP. Its messages are those of all its streams.
func overWeb(d *driver, path string) *agent {
	d.t.Helper()
	r := d.overHTTP(false, path)
	r.hello("{}")
	in, out := io.Pipe()
	a := &agent{decktest.NewAgent(d.t, out), d.t}
	hear := func(stream io.ReadCloser) {
		defer stream.Close()
		for s := bufio.NewReader(stream); ; {
			line, err := s.ReadBytes('\n')
			var m map[string]any
			if json.Unmarshal(bytes.TrimPrefix(line, []byte("data: ")), &m) == nil {
				a.Lines <- m
			}
			if err != nil {
				return
			}
		}
	}
	go hear(r.stream())
	go func() {
		for s := bufio.NewScanner(in); s.Scan(); {
			req, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, r.url, strings.NewReader(s.Text()))
			if err != nil {
				return
			}
			r.head(req)
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			go func() {
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					a.Lines <- map[string]any{"junk": err.Error()}
					return
				}
				hear(resp.Body)
			}()
		}
	}()
	d.t.Cleanup(func() { out.Close() })
	return a
}

// heard takes messages until one fits, and returns it with those before it.
func (a *agent) heard(what string, fits func(m map[string]any) bool) (before []map[string]any, m map[string]any) {
	a.t.Helper()
	for limit := time.After(testwait.Patience); ; before = append(before, m) {
		select {
		case m = <-a.Lines:
			answered := m["id"] == withdrawn && (m["result"] != nil || a.Cmd != nil) // over HTTP, there must be some response
			if m == nil || m["junk"] != nil || answered {
				a.t.Fatalf("%s: %v after %v", what, m, before)
			}
			if fits(m) {
				return before, m
			}
		case <-limit:
			a.t.Fatalf("%s: not within %v; heard %v", what, testwait.Patience, before)
		}
	}
}

// told tells whether a message is a notification with such a text in it.
func told(method, text string) func(map[string]any) bool {
	return func(m map[string]any) bool {
		return m["method"] == "notifications/"+method && strings.Contains(fmt.Sprint(m["params"]), text)
	}
}

// asks sends a request, and returns its result with what was heard before it.
func (a *agent) asks(method, params string) (before []map[string]any, result map[string]any) {
	a.t.Helper()
	a.Last++
	id := float64(a.Last)
	a.Send(a.Last, method, params)
	before, m := a.heard(method, func(m map[string]any) bool { return m["id"] == id && m["method"] == nil })
	if result, _ = m["result"].(map[string]any); result == nil {
		a.t.Errorf("%s %s: %v", method, params, m)
	}
	return before, result
}

const (
	document  = "demo://resource/static/document/features.md"
	withdrawn = "withdrawn" // id of a call
)

// passes holds that an agent has of a server all that the server has, beside what the
// server says itself.
func passes(t *testing.T, name string, a *agent, own *raw) {
	t.Helper()
	same := func(method, params, ownParams string) {
		t.Helper()
		var want map[string]any
		if err := json.Unmarshal(own.ask(method, ownParams), &want); err != nil {
			t.Fatal(err)
		}
		if _, got := a.asks(method, "{"+params+"}"); !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %.2000s\nwant %.2000s", method, fmt.Sprint(got), fmt.Sprint(want))
		}
	}
	for tool, args := range map[string]string{
		"get-tiny-image": `{}`, "get-resource-links": `{"count":4}`, "get-structured-content": `{"location":"Chicago"}`,
		"get-annotated-message": `{"messageType":"error","includeImage":true}`, "get-sum": `{"a":1,"b":2}`,
	} {
		args = `,"arguments":` + args
		same("tools/call", `"name":"`+name+"_"+tool+`"`+args, `"name":"`+tool+`"`+args)
	}
	same("resources/list", "", "")
	if _, r := a.asks("resources/templates/list", "{}"); strings.Count(fmt.Sprint(r), "uriTemplate:demo://resource/dynamic/") != 2 {
		t.Errorf("templates: %v", r)
	}
	same("resources/read", `"uri":"`+document+`"`, `"uri":"`+document+`"`)
	if _, r := a.asks("resources/read", `{"uri":"demo://resource/dynamic/text/7"}`); !strings.Contains(fmt.Sprint(r), "Resource 7: This is a plaintext resource") {
		t.Errorf("the resource of a template is %v", r)
	}
	args := `,"arguments":{"department":"Engineering","name":"Alice"}`
	same("prompts/get", `"name":"`+name+`_completable-prompt"`+args, `"name":"completable-prompt"`+args)
	_, r := a.asks("completion/complete", `{"ref":{"type":"ref/prompt","name":"`+name+`_completable-prompt"},"argument":{"name":"department","value":"E"}}`)
	if got := fmt.Sprint(r["completion"]); !strings.Contains(got, "values:[Engineering]") {
		t.Errorf("a prompt's argument is completed to %v", got)
	}

	steps, r := a.asks("tools/call", `{"name":"`+name+`_trigger-long-running-operation","arguments":{"duration":0.3,"steps":3},"_meta":{"progressToken":"steps"}}`)
	var progress []string
	step := func(m map[string]any) bool {
		p, _ := m["params"].(map[string]any)
		is := told("progress", "steps")(m) && p["total"] == 3.0
		if is {
			progress = append(progress, fmt.Sprint(p["progress"]))
		}
		return is
	}
	for _, m := range steps {
		step(m)
	}
	if a.Cmd == nil { // two streams over HTTP, of which either may be read first
		for len(progress) < 3 {
			a.heard("progress on the other stream", step)
		}
		slices.Sort(progress)
	}
	if fmt.Sprint(progress) != "[1 2 3]" || !strings.Contains(fmt.Sprint(r), "completed") {
		t.Errorf("progress %v before %v", progress, r)
	}

	_, r = a.asks("tools/call", `{"name":"`+name+`_simulate-research-query","arguments":{"topic":"tea"}}`)
	if !strings.Contains(fmt.Sprint(r), "# Research Report: tea") {
		t.Errorf("what runs as a task alone answers %v", r)
	}
}

// cancels starts what takes long, withdraws it, and holds that another call is answered.
func cancels(t *testing.T, name string, a *agent) {
	t.Helper()
	a.Send(strconv.Quote(withdrawn), "tools/call", `{"name":"`+name+`_trigger-long-running-operation","arguments":{"duration":600,"steps":6000},"_meta":{"progressToken":"long"}}`)
	a.heard("that it runs", told("progress", "long"))
	a.Send(nil, "notifications/cancelled", `{"requestId":"`+withdrawn+`"}`)
	if _, r := a.asks("tools/call", `{"name":"`+name+`_echo","arguments":{"message":"still here"}}`); !strings.Contains(fmt.Sprint(r), "Echo: still here") {
		t.Errorf("after another was withdrawn, a call says %v", r)
	}
}

// TestAllOfARealServerPassesThroughTheDeck uses a server that has all of the protocol,
// as a program and over HTTP, by agents over both, and answers its forms by keys.
func TestAllOfARealServerPassesThroughTheDeck(t *testing.T) {
	t.Parallel()
	server := realtest.ServerOf(t, "everything")
	d := newDriver(t)
	d.choosePort()
	opened := filepath.Join(d.home, "opened")
	for _, browser := range []string{"xdg-open", "sensible-browser", "x-www-browser"} { // which nothing may start
		if err := os.WriteFile(filepath.Join(d.home, browser), []byte("#!/bin/sh\ntouch "+opened+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	d.path = d.home + ":" + filepath.Dir(server.Command[0]) + ":" + d.path
	far := farServer(d, server)
	command, err := json.Marshal(server.Command)
	if err != nil {
		t.Fatal(err)
	}
	d.turnedOn("everything", "mode = 'on'\ncommand = "+string(command)+"\n")
	d.turnedOn("shared", "mode = 'on'\nshare = 'deck'\ncommand = "+string(command)+"\n")
	d.turnedOn("far", "mode = 'on'\nurl = '"+far+"'\n")
	w := d.window("--port", d.port(), "--page", "servers")
	w.wide()
	w.shows(d, "shared")

	// The user takes longer to answer than any library of a client or of HTTP waits.
	answering := map[string]*agent{}
	for _, name := range []string{"everything", "far"} {
		a := d.relay(name)
		a.Handshake("claude")
		d.until("the tools of "+name, func() bool { return a.lists(name + "_trigger-elicitation-request") })
		a.Send(`"form"`, "tools/call", `{"name":"`+name+`_trigger-elicitation-request","arguments":{}}`)
		answering[name] = a
	}
	w.shows(d, "Inbox ◆2")
	asked := time.Now()
	for _, name := range []string{"everything", "far"} {
		agents := map[string]*agent{"stdio": d.relay(name), "HTTP": overWeb(d, "/mcp/"+name)}
		agents["stdio"].Handshake("codex")
		for way, a := range agents {
			t.Run(name+" by an agent over "+way, func(t *testing.T) {
				own := rawProgram(t, false, exec.Command(server.Command[0], server.Command[1:]...))
				defer own.end()
				own.hello(deckDeclares)
				passes(t, name, a, own)
				cancels(t, name, a)
			})
		}
		t.Run(name+" of two agents", func(t *testing.T) { apart(t, name, agents["stdio"], agents["HTTP"]) })
	}
	t.Run("a server of two agents", func(t *testing.T) {
		a, b := d.relay("shared"), overWeb(d, "/mcp/shared")
		a.Handshake("claude")
		apart(t, "shared", a, b)
	})
	time.Sleep(time.Until(asked.Add(45 * time.Second))) // the user takes longer than most programs wait
	fills(d, w, answering)
	for name, a := range answering {
		opens(d, w, name, a)
	}
	if _, err := os.Stat(opened); err == nil {
		t.Error("the page was opened")
	}
}

// fills answers the forms that the calls of agents wait for, by the names of their
// servers.
func fills(d *driver, w *window, agents map[string]*agent) {
	d.t.Helper()
	w.key("I")
	for range agents {
		w.shows(d, "String*")
		time.Sleep(time.Second) // keys right after a form came are not meant for it
		open := steady(func() bool { return strings.Contains(w.screen(), "enter next") })
		if !open() { // the first one
			w.keyed("\r", open)
		}
		heading := regexp.MustCompile(`━ (\S+) · .*for claude · form\?`).FindStringSubmatch(w.screen())
		if heading == nil || agents[heading[1]] == nil {
			d.t.Fatalf("no form of a server:\n%s", w.screen())
		}
		name, a := heading[1], agents[heading[1]]
		w.key("Ana\r1\x13")
		_, m := a.heard("the answer to the form of "+name, func(m map[string]any) bool { return m["id"] == "form" })
		for _, want := range []string{"- Name: Ana", "- Agreed to terms: true", "- Favorite Integer: 42"} {
			if got := fmt.Sprint(m); !strings.Contains(got, want) {
				d.t.Errorf("%s has no %q of the form: %s", name, want, got)
			}
		}
	}
}

// opens has a server ask for a page to be opened, and says that it was.
func opens(d *driver, w *window, name string, a *agent) {
	d.t.Helper()
	a.Send(`"page"`, "tools/call", `{"name":"`+name+`_trigger-url-elicitation","arguments":{"url":"https://sign-in.example.com/`+name+`","elicitationId":"x"}}`)
	d.until("the screen asks for the page", steady(func() bool {
		return strings.Contains(w.screen(), "Open this page")
	}))
	page := func() bool {
		return strings.Contains(w.screen(), "https://sign-in.example.com/"+name) && strings.Contains(w.screen(), "1 Yes")
	}
	if !page() { // the form that was answered before keeps the list on the screen
		w.keyed("\r", page)
	}
	w.keyed("1", func() bool { return !page() })
	_, m := a.heard("the answer to the page of "+name, func(m map[string]any) bool { return m["id"] == "page" })
	if got := fmt.Sprint(m); !strings.Contains(got, "User completed the URL elicitation flow") {
		d.t.Errorf("%s is told %s", name, got)
	}
}

// apart holds that two agents of a server have each its own level of the log and its own
// subscriptions.
func apart(t *testing.T, name string, a, b *agent) {
	t.Helper()
	a.asks("logging/setLevel", `{"level":"info"}`)
	b.asks("logging/setLevel", `{"level":"error"}`)
	var other []map[string]any                                                    // that the second agent is told
	for _, do := range []string{"resources/subscribe", "resources/unsubscribe"} { // the server logs it as information
		more, _ := b.asks(do, `{"uri":"`+document+`"}`)
		other = append(other, more...)
	}
	before, _ := a.asks("resources/subscribe", `{"uri":"`+document+`"}`)
	a.hears(before, "the log", told("message", "Subscribe"))
	before, _ = a.asks("tools/call", `{"name":"`+name+`_toggle-subscriber-updates","arguments":{}}`)
	a.hears(before, "that it has changed", told("resources/updated", document))
	for _, tool := range []string{"echo", "toggle-subscriber-updates", "echo"} {
		more, _ := b.asks("tools/call", `{"name":"`+name+"_"+tool+`","arguments":{"message":"hi"}}`)
		other = append(other, more...)
	}
	for _, m := range other {
		if m["method"] == "notifications/message" || m["method"] == "notifications/resources/updated" {
			t.Errorf("the other is told %v", m)
		}
	}
}

// hears waits for a message unless it was heard before.
func (a *agent) hears(before []map[string]any, what string, fits func(m map[string]any) bool) {
	a.t.Helper()
	if !slices.ContainsFunc(before, fits) {
		a.heard(what, fits)
	}
}

// farServer runs a server's program as a server over HTTP, and returns its URL.
func farServer(d *driver, s realtest.Server) (url string) {
	d.t.Helper()
	address := freePort(d)
	_, port, _ := net.SplitHostPort(address)
	c := exec.Command(s.Command[0], append(s.Command[1:], "streamableHttp")...)
	c.Env = []string{"HOME=" + d.home, "PATH=" + d.path, "PORT=" + port}
	if err := c.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { d.kill(c) })
	d.until("the server listens", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return "http://" + address + "/mcp"
}
