package transport_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router/routertest"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport/transporttest"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func TestIDsAreEchoedByteForByte(t *testing.T) {
	c := transporttest.Connect(t, routertest.Start(t, transporttest.NewFixture()))
	c.Initialize()
	for _, id := range []string{`1`, `"1"`, `1152921504606846977`, `-3`, `1.50`, `"a\u00e9\"b"`, `5`, `"5"`} {
		c.Send(transporttest.Call(id, "echo", `{"text":"x"}`))
		if m := c.Next(); string(m.ID) != id {
			t.Errorf("sent id %s, got %s", id, m.ID)
		}
	}
}

func TestAnUnknownToolIsAnsweredWithAHint(t *testing.T) {
	c := transporttest.Connect(t, routertest.Start(t, transporttest.NewFixture()))
	c.Initialize()
	c.Send(transporttest.Call("1", "ecko", `{}`))
	if m := c.Next(); m.Error == nil || m.Error.Code != -32602 || m.Error.Message != `unknown tool "ecko"; did you mean "echo"?` {
		t.Errorf("got %+v", m.Error)
	}
}

func TestProgressComesBeforeItsResult(t *testing.T) {
	c := transporttest.Connect(t, routertest.Start(t, transporttest.NewFixture()))
	c.Initialize()
	const rounds = 1000
	room := make(chan struct{}, 16) // fewer than the calls of one agent that may wait
	go func() {
		for i := range rounds {
			room <- struct{}{}
			line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"steps","_meta":{"progressToken":%d},"arguments":{}}}`+"\n", i, i)
			if _, err := c.Conn.Write([]byte(line)); err != nil {
				return
			}
		}
	}()
	seen := map[string]int{}
	for results := 0; results < rounds; {
		m := c.Next()
		if m.Method == "notifications/progress" {
			var p struct{ ProgressToken json.RawMessage }
			if err := json.Unmarshal(m.Params, &p); err != nil {
				t.Fatal(err)
			}
			seen[string(p.ProgressToken)]++
			continue
		}
		results++
		<-room
		if m.Error != nil || seen[string(m.ID)] != 5 {
			t.Fatalf("result %s came after %d of 5 progress notifications: %s %v", m.ID, seen[string(m.ID)], m.Result, m.Error)
		}
	}
}

func TestCancelSuppressesTheAnswer(t *testing.T) {
	f := transporttest.NewFixture()
	c := transporttest.Connect(t, routertest.Start(t, f))
	c.Initialize()
	cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"5"}}`
	c.Send(transporttest.Call(`5`, "block", `{}`), transporttest.Call(`"5"`, "block", `{}`), cancel) // right behind it
	c.Send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}`)
	testwait.Until(t, "one stops", func() bool { return f.Stopped.Load() == 1 })
	c.Send(transporttest.Call(`9`, "echo", `{"text":"after"}`))
	if m := c.Next(); string(m.ID) != `9` {
		t.Fatalf("a cancelled call was answered: %+v", m)
	}
	close(f.Release)
	if m := c.Next(); string(m.ID) != `5` || m.Error != nil {
		t.Fatalf("5 and \"5\" were mixed up: %+v", m)
	}
}

func TestBlockedCallsDelayNobodyAndAreLimited(t *testing.T) {
	f := transporttest.NewFixture()
	c := transporttest.Connect(t, routertest.Start(t, f))
	c.Initialize()
	for i := range 63 {
		c.Send(transporttest.Call(fmt.Sprint(100+i), "block", `{}`))
	}
	c.Send(transporttest.Call(`1`, "echo", `{"text":"through"}`))
	if m := c.Next(); string(m.ID) != `1` {
		t.Fatalf("got %s", m.ID)
	}
	c.Send(transporttest.Call(`200`, "block", `{}`), transporttest.Call(`201`, "block", `{}`))
	if m := c.Next(); m.Error == nil || !strings.Contains(m.Error.Message, "limit 64") {
		t.Fatalf("want the error of a call over the limit, got %+v", m)
	}
	close(f.Release)
}

func TestAnnouncedRoots(t *testing.T) {
	c := transporttest.Connect(t, routertest.Start(t, transporttest.NewFixture()))
	c.Send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"tester","version":"1"}}}`)
	c.Next()
	c.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	m := c.Next()
	if m.Method != "roots/list" {
		t.Fatalf("got %+v", m)
	}
	// The first that is a project's folder counts.
	c.Send(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"roots":[{"uri":"https://example.com/x"},{"uri":"file:///"},{"uri":"file:///src/shop"},{"uri":"file:///src/other"}]}}`)
	testwait.For(t, "the folder", func() string { // it is taken in while calls go on
		c.Send(transporttest.Call(`1`, "who", `{}`))
		return string(c.Next().Result)
	}, func(got string) bool { return strings.Contains(got, "tester in /src/shop") })
}

// TestSlowReaderSlowsNobody has a client that asks for much and reads
// nothing, while another one works and the list of tools changes.
func TestSlowReaderSlowsNobody(t *testing.T) {
	t.Parallel()
	f := transporttest.NewFixture()
	h := routertest.Start(t, f)
	slow, quick := transporttest.Connect(t, h), transporttest.Connect(t, h)
	slow.Initialize()
	quick.Initialize()
	const asked = 40
	text := strings.Repeat("x", 64<<10)
	for i := range asked {
		slow.Send(transporttest.Call(fmt.Sprint(i+1), "echo", `{"text":"`+text+`"}`))
	}
	for i := range 600 { // more than a connection keeps of unread notifications
		f.Extra.Store(i%2 == 0)
		f.Events.Changed()
	}
	for i := range 200 {
		id := fmt.Sprint(1000 + i)
		quick.Send(transporttest.Call(id, "echo", `{"text":"quick"}`))
		for m := quick.Next(); string(m.ID) != id; m = quick.Next() {
			if m.Method == "" {
				t.Fatalf("got %s in place of %s", m.ID, id)
			}
		}
	}
	answers := map[string]bool{} // and the slow one loses none
	for len(answers) < asked {
		if m := slow.Next(); m.Method == "" {
			answers[string(m.ID)] = true
		}
	}
}

func TestBadLinesGetOneAnswerAndTheConnectionLives(t *testing.T) {
	tests := []struct {
		name, line string
		code       int
		id         string
	}{
		{"junk", `hello`, -32700, "null"},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, -32600, "null"},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, -32600, "null"},
		{"object id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600, "null"},
		{"wrong version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, -32600, "1"},
		{"key twice", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`, -32600, "1"},
		{"method in capitals is another key", `{"jsonrpc":"2.0","id":1,"Method":"ping"}`, -32600, "1"},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"nope"}`, -32601, "1"},
		{"unknown tool", transporttest.Call(`1`, "nope", `{}`), -32602, "1"},
		{"number", `7`, -32600, "null"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := transporttest.Connect(t, routertest.Start(t, transporttest.NewFixture()))
			c.Initialize()
			c.Send("", "\r", tt.line+"\r")
			m := c.Next()
			if m.Error == nil || m.Error.Code != tt.code || string(m.ID) != tt.id && !(tt.id == "null" && m.ID == nil) {
				t.Fatalf("got id %s error %+v, want %s %d", m.ID, m.Error, tt.id, tt.code)
			}
			c.Send(`{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"m"}}`) // nobody asked: ignored
			c.Send(transporttest.Call(`2`, "echo", `{"text":"alive"}`))
			if m := c.Next(); string(m.ID) != `2` {
				t.Fatalf("connection did not live on: %+v", m)
			}
		})
	}
}

func TestPanicIsAnErrorForTheAgent(t *testing.T) {
	c := transporttest.Connect(t, routertest.Start(t, transporttest.NewFixture()))
	c.Initialize()
	c.Send(transporttest.Call(`1`, "panic", `{}`))
	if m := c.Next(); !strings.Contains(string(m.Result), "internal error") || strings.Contains(string(m.Result), "boom") {
		t.Fatalf("got %s %+v", m.Result, m.Error)
	}
}

func TestADisabledToolAnswersWithASentence(t *testing.T) {
	f := transporttest.NewFixture()
	h := routertest.Start(t, f)
	c := transporttest.Connect(t, h)
	c.Initialize()
	c.Send(transporttest.Call(`1`, "extra_tool", `{}`))
	if m := c.Next(); !strings.Contains(string(m.Result), "extra mode is off") || !strings.Contains(string(m.Result), `"isError":true`) {
		t.Fatalf("got %s %+v", m.Result, m.Error)
	}
	f.Extra.Store(true)
	f.Events.Changed()
	if m := c.Next(); m.Method != "notifications/tools/list_changed" {
		t.Fatalf("got %+v", m)
	}
	c.Send(transporttest.Call(`2`, "extra_tool", `{}`))
	if m := c.Next(); !strings.Contains(string(m.Result), `"extra"`) {
		t.Fatalf("exactly one notification is wanted; got %+v", m)
	}
}

func TestListenTellsOfChanges(t *testing.T) {
	f := transporttest.NewFixture()
	c := transporttest.Connect(t, routertest.Start(t, f))
	listen := func(id, filter string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"subscriptions/listen","params":{"notifications":{%s},%s}}`, id, filter, transporttest.ModernMeta)
	}
	c.Send(listen(`"a"`, `"toolsListChanged":true`), listen(`2`, `"toolsListChanged":true,"promptsListChanged":true`), listen(`3`, `"promptsListChanged":true`))
	for range 3 {
		if m := c.Next(); m.Method != "notifications/subscriptions/acknowledged" {
			t.Fatalf("want the acknowledgement first, got %+v", m)
		}
	}
	change := func() {
		f.Extra.Store(!f.Extra.Load())
		f.Events.Changed()
	}
	change()
	for _, id := range []string{`"a"`, `2`} {
		m := c.Next()
		if m.Method != "notifications/tools/list_changed" || !strings.Contains(string(m.Params), `"io.modelcontextprotocol/subscriptionId":`+id) {
			t.Fatalf("want a copy tagged %s, got %s %s", id, m.Method, m.Params)
		}
	}
	c.Send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	c.Send(`{"jsonrpc":"2.0","id":4,"method":"server/discover","params":{` + transporttest.ModernMeta + `}}`)
	if m := c.Next(); string(m.ID) != `4` || !strings.Contains(string(m.Result), "Be kind.") {
		t.Fatalf("got %+v %s", m, m.Result)
	}
	change()
	c.Send(`{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{` + transporttest.ModernMeta + `}}`)
	if m := c.Next(); string(m.ID) != `5` {
		t.Fatalf("nothing may come after the cancel; got %s %s", m.Method, m.Params)
	}
}

func TestTwoHostsDoNotMix(t *testing.T) {
	f1, f2 := transporttest.NewFixture(), transporttest.NewFixture()
	c1, c2 := transporttest.Connect(t, routertest.Start(t, f1)), transporttest.Connect(t, routertest.Start(t, f2))
	c1.Initialize()
	c2.Initialize()
	for range 50 {
		f1.Extra.Store(!f1.Extra.Load())
		f1.Events.Changed()
	}
	for range 50 {
		if m := c1.Next(); m.Method != "notifications/tools/list_changed" {
			t.Fatalf("got %+v", m)
		}
	}
	c2.Send(transporttest.Call(`1`, "who", `{}`))
	if m := c2.Next(); !strings.Contains(string(m.Result), "tester in /deck") {
		t.Fatalf("the other host's notification arrived, or the caller is wrong: %+v %s", m, m.Result)
	}
}

func TestConnectionsLeaveNoGoroutines(t *testing.T) {
	h := routertest.Start(t, transporttest.NewFixture())
	warm := transporttest.Connect(t, h)
	warm.Initialize()
	before := runtime.NumGoroutine()
	var gone []*transporttest.Client
	for range 200 {
		c := transporttest.Connect(t, h)
		c.Initialize()
		c.Send(transporttest.Call(`1`, "block", `{}`))
		c.Conn.Close()
		gone = append(gone, c)
	}
	for _, c := range gone {
		if err := <-c.Done; err != nil && !strings.Contains(err.Error(), "closed pipe") {
			t.Fatal(err)
		}
		c.Done <- nil
	}
	if !testwait.Holds(func() bool { return runtime.NumGoroutine() <= before }) {
		buf := make([]byte, 1<<16)
		t.Fatalf("%d goroutines before, %d after\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
	}
	if n := len(h.Snapshot().Agents); n == 0 {
		t.Fatal("the first connection should still be listed")
	}
}

func TestLargeRequestsInFlightAreBounded(t *testing.T) {
	f := transporttest.NewFixture()
	h, err := router.New(router.Options{Version: "test", Servers: []backend.Server{f}, Limits: admission.Limits{AgentHeld: 1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	h.Start()
	t.Cleanup(func() { _ = h.Stop(context.Background()) })
	c := transporttest.Connect(t, h)
	c.Initialize()
	large := `{"text":"` + strings.Repeat("x", 600<<10) + `"}`
	c.Send(transporttest.Call(`1`, "block", large), transporttest.Call(`2`, "echo", large))
	if m := c.Next(); string(m.ID) != "2" || m.Error == nil || m.Error.Code != rpc.CodeBusy {
		t.Fatalf("got %+v", m)
	}
	close(f.Release)
	if m := c.Next(); string(m.ID) != "1" || m.Error != nil {
		t.Fatalf("got %+v", m)
	}
	for range 3 { // what was answered is not held any more
		c.Send(transporttest.Call(`3`, "echo", large))
		if m := c.Next(); string(m.ID) != "3" || m.Error != nil {
			t.Fatalf("got %+v", m.Error)
		}
	}
}

func TestARequestOverTheLimitEndsWithAnError(t *testing.T) {
	c := transporttest.Connect(t, routertest.Start(t, transporttest.NewFixture()))
	c.Initialize()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		c.Send(`{"jsonrpc":"2.0","params":{"name":"echo","arguments":{"text":"` + strings.Repeat("x", rpc.MaxLine) + `"}},"method":"tools/call","id":9}`)
	}()
	if m := c.Next(); string(m.ID) != "9" || m.Error == nil || m.Error.Code != rpc.CodeInvalid {
		t.Errorf("got id %s, %+v", m.ID, m.Error)
	}
	<-sent
	c.Send(transporttest.Call("10", "echo", `{"text":"x"}`))
	if m := c.Next(); string(m.ID) != "10" || m.Error != nil {
		t.Errorf("the next: id %s, %+v", m.ID, m.Error)
	}
}
