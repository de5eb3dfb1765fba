package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// A child that writes to nobody's liking must not bring the reader down.
func FuzzTake(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":"1","result":{}}`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"1","progress":1}}`,
		`{"jsonrpc":"2.0","id":"1","error":{"code":-32603,"message":"m"}}`, `[]`, `{"jsonrpc":"2.0","id":null,"error":7}`,
		`{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}`, `{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":[]}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		heard, said := io.Pipe()
		hears, says := io.Pipe()
		ended := make(chan struct{})
		p := &process.Child{In: said, Out: hears, Err: io.NopCloser(strings.NewReader("")), Exited: ended, Code: func() string { return "" }}
		p.Kill = sync.OnceFunc(func() { heard.Close(); says.Close(); close(ended) })
		p.Terminate = p.Kill
		lines := rpc.NewLines(heard, rpc.MaxLine)
		answer := func(result string) {
			if _, err := lines.Next(); err != nil {
				t.Error(err)
			}
			_, _ = io.WriteString(says, result+"\n") // else the other side says so
		}
		recovery.Go("child", func() {
			answer(`{"jsonrpc":"2.0","id":"1","result":{"protocolVersion":"2025-11-25"}}`)
			_, _ = lines.Next() // it is initialized
			answer(`{"jsonrpc":"2.0","id":"2","result":{"tools":[]}}`)
		})
		c := New(Options{
			Name: "git", Era: child.Legacy, Start: func(process.Command) (*process.Child, error) { return p, nil },
			Elicit: func(context.Context, Elicitation) (Elicited, error) { return Elicited{Action: "cancel"}, nil },
		})
		a := attempt{card: c}
		_, err := a.open(t.Context(), c.main, From{})
		l := a.child
		if err != nil {
			t.Fatal(err)
		}
		defer func() { p.Kill(); <-l.Gone() }()
		if _, err := l.Start(t.Context(), "tools/call", func(string) rawjson.Object { return nil }, child.NewSteps(func(child.Progress) {}).Step); err != nil {
			t.Fatal(err)
		}
		recovery.Go("child", func() {
			_, _ = says.Write(slices.Concat(line, []byte("\n"+`{"jsonrpc":"2.0","id":"the last","method":"ping"}`+"\n"))) // the end of the test ends it
		})
		for {
			b, err := lines.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !json.Valid(b) {
				t.Fatalf("%q answered with %q", line, b)
			}
			if bytes.Contains(b, []byte(`"id":"the last"`)) {
				return
			}
		}
	})
}
