package streamable

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

func TestEventsAreReadAsTheStandardSays(t *testing.T) {
	for name, tt := range map[string]struct{ stream, want string }{
		"one":                          {"data: a\n\n", `[|a|]`},
		"line ends of both kinds":      {"data: a\r\n\r\ndata:b\n\n", `[|a|] [|b|]`},
		"several lines":                {"data: a\ndata:  b\ndata\n\n", "[|a\n b\n|]"},
		"with a name and an id":        {"event: message\nid: 7\ndata: a\n\n", `[message|a|7]`},
		"an id stays":                  {"id: 7\ndata: a\n\ndata: b\n\n", `[|a|7] [|b|7]`},
		"an id alone counts":           {"id: 7\nretry: 20\n\ndata: a\n\n", `[|a|7]`},
		"an id is taken back":          {"id: 7\n\nid\ndata: a\n\n", `[|a|]`},
		"an id with NUL is none":       {"id: 7\n\nid: a\x00b\ndata: a\n\n", `[|a|7]`},
		"a name belongs to one":        {"event: x\n\ndata: a\n\n", `[|a|]`},
		"comments and unknown":         {": hello\nother: x\ndata: a\n\n", `[|a|]`},
		"not ended":                    {"id: 1\ndata: a\n\nid: 2\ndata: b\n", `[|a|1]`},
		"empty data":                   {"data\n\n", `[||]`},
		"nothing":                      {"", ``},
		"longer than what is buffered": {"data: " + strings.Repeat("x", 40000) + "\n\n", `[|` + strings.Repeat("x", 40000) + `|]`},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEvents(strings.NewReader(tt.stream), "")
			var got []string
			for {
				name, data, err := e.next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprintf("[%s|%s|%s]", name, data, e.last))
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("got %.200q, want %.200q", s, tt.want)
			}
			if strings.Contains(tt.stream, "retry") && e.retry != 20*time.Millisecond {
				t.Errorf("retry after %v", e.retry)
			}
		})
	}
}

func TestAnEventOverTheLimitIsSkipped(t *testing.T) {
	text := strings.Repeat("x", rpc.MaxLine/2+1)
	for name, tt := range map[string]struct{ stream, want string }{
		"in one line":        {`data: {"a":"` + text + text + `","id":7}`, `{"a":null,"id":7}`},
		"in several":         {`data: {"a":"` + text + `",` + "\n" + `data: "b":"` + text + `",` + "\ndata:\ndata:" + `"id":7}`, `{"a":null,"b":null,"id":7}`},
		"no message":         {"data: " + text + text, ""},
		"of an unknown name": {"what: " + text + text + "\ndata: 7", "7"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEvents(strings.NewReader("id: 1\n"+tt.stream+"\n\ndata: next\n\n"), "")
			if _, data, err := e.next(); errors.Is(err, rpc.ErrLineTooLong) == strings.HasPrefix(name, "of") || string(data) != tt.want || e.last != "1" {
				t.Fatalf("%.200s, %v, after %q", data, err, e.last)
			}
			if _, data, err := e.next(); err != nil || string(data) != "next" || e.heard != 2 {
				t.Errorf("then %.20q, %v, the event %d", data, err, e.heard)
			}
		})
	}
}

func TestOnlyThisMachineIsReachedWithoutTLS(t *testing.T) {
	for url, want := range map[string]bool{
		"http://localhost:1/mcp": true, "http://LOCALHOST": true, "http://127.0.0.1/": true, "http://127.9.9.9": true, "http://[::1]:80": true, "https://example.com": true,
		"http://localhost.example.com": false, "http://10.0.0.1": false, "http://[::ffff:10.0.0.1]": false, "http://user@example.com": false, "http://0.0.0.0": false,
		"file:///etc/passwd": false, "//host": false, "https://": false, "localhost:80": false,
	} {
		if _, err := Open(Options{URL: url}); (err == nil) != want {
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := Open(Options{URL: "http://10.0.0.1", AllowHTTP: true}); err != nil {
		t.Error(err)
	}
}

// A batch is a list of messages; a list in it is none.
func TestABatchHasNoBatchesInIt(t *testing.T) {
	stray := 0
	l := &link{conn: rpc.New(rpc.Options{Stray: func([]byte) { stray++ }})}
	l.take(rpc.Message{}, []byte(`[`+strings.Repeat(`[`, 5000)+`7,7,7`+strings.Repeat(`]`, 5000)+`,7]`))
	if stray != 2 {
		t.Errorf("%d messages were read", stray)
	}
}

func TestABatchThatIsNotJSONIsNoMessage(t *testing.T) {
	for _, line := range []string{"[", "[1", `["`, "[{", "[1,", `[{"a":`, "[]]"} {
		stray := ""
		l := &link{conn: rpc.New(rpc.Options{Stray: func(line []byte) { stray += string(line) }})}
		l.take(rpc.Message{}, []byte(line))
		if stray != line {
			t.Errorf("%q: %q is no message", line, stray)
		}
	}
}

// A stream of anybody's is read to its end, and what comes of it can be passed on.
func FuzzEvents(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "event: x\nid: 1\nretry: 5\ndata: {\"a\":\ndata: 1}\n\n", ":\r\n\r\n", "data"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		e := newEvents(strings.NewReader(string(stream)), "")
		for n := 0; ; n++ {
			_, data, err := e.next()
			if err != nil {
				return
			}
			if n > len(stream) {
				t.Fatal("more events than bytes")
			}
			whole := string(data)
			if line := flat(data); strings.ContainsAny(string(line), "\r\n") || json.Valid([]byte(whole)) && !json.Valid(line) {
				t.Fatalf("%q became %q", whole, line)
			}
			if strings.ContainsRune(e.last, 0) {
				t.Fatalf("id %q", e.last)
			}
		}
	})
}

// What a tool says of its arguments must not make a header that is none.
func FuzzHeaders(f *testing.F) {
	f.Add([]byte(`{"tools":[{"name":"t","inputSchema":{"properties":{"a":{"x-mcp-header":"A"},"b":{"properties":{"c":{"x-mcp-header":"C"}}}}}}]}`), []byte(`{"name":"t","arguments":{"a":"x\ny","b":{"c":7}}}`))
	f.Fuzz(func(t *testing.T, page, params []byte) {
		if !json.Valid(page) || !json.Valid(params) {
			return
		}
		h := http.Header{}
		for _, p := range toolParams(page) {
			modernHeaders(h, "v", rpc.Message{Method: "tools/call", Params: params}, p)
		}
		for name, values := range h {
			if !isToken(name) {
				t.Fatalf("the header %q", name)
			}
			for _, v := range values {
				if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' }) {
					t.Fatalf("%s: %q", name, v)
				}
			}
		}
	})
}
