package child

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

const (
	unknown  = `{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"method not found"}}`
	sticky   = `{"jsonrpc":"2.0","id":ID,"error":{"code":-32022,"message":"connection is serving the 2026-07-28 protocol"}}`
	discover = `{"jsonrpc":"2.0","id":ID,"result":{"supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{"tools":{}},"instructions":"Look.","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fake","version":"3"}}}}`
)

// methods are what a fake was asked, without subscriptions.
func (f *fake) methods(t *testing.T) (all []string) {
	t.Helper()
	for {
		select {
		case line := <-f.got:
			o, err := rawjson.Parse([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			if m := o.Str("method"); m != "subscriptions/listen" {
				all = append(all, m)
			}
		default:
			return all
		}
	}
}

func TestTheEraIsWhatTheServerAnswersTo(t *testing.T) {
	legacy := []string{"initialize", "notifications/initialized", "tools/list", "tools/list"}
	for _, tt := range []struct {
		name                 string
		discover, initialize string // "": the usual answer of a legacy server; "-": none
		force, remembered    Era
		want                 Era // "": it fails
		asked                []string
		took                 time.Duration
	}{
		{name: "legacy", discover: unknown, want: Legacy, asked: slices.Concat([]string{"server/discover"}, legacy)},
		{name: "modern", discover: discover, initialize: sticky, want: Modern, asked: []string{"server/discover", "tools/list", "tools/list"}},
		{name: "modern, but not this revision", discover: strings.Replace(discover, "2026-07-28", "2027-01-01", 1), want: Legacy, asked: slices.Concat([]string{"server/discover"}, legacy)},
		{name: "silent to what it does not know", discover: "-", want: Legacy, asked: slices.Concat([]string{"server/discover"}, legacy), took: 5 * time.Second},
		{name: "silent to a handshake", discover: "-", initialize: "-", asked: []string{"server/discover", "initialize"}, took: 10 * time.Second},
		{name: "refuses both", discover: unknown, initialize: unknown, asked: []string{"server/discover", "initialize"}},
		{name: "forced to a handshake", discover: discover, force: Legacy, want: Legacy, asked: legacy},
		{name: "forced to none", discover: discover, force: Modern, want: Modern, asked: []string{"server/discover", "tools/list", "tools/list"}},
		{name: "forced to none, and knows none", discover: unknown, force: Modern, asked: []string{"server/discover"}},
		{name: "remembered", discover: discover, remembered: Legacy, want: Legacy, asked: legacy},
		{name: "remembered, but changed", discover: discover, initialize: sticky, remembered: Legacy, want: Modern, asked: []string{"initialize", "server/discover", "tools/list", "tools/list"}},
		{name: "remembered as modern", discover: unknown, remembered: Modern, want: Legacy, asked: slices.Concat([]string{"server/discover"}, legacy)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{answers: works()}
				f.answers["server/discover"] = strings.TrimPrefix(tt.discover, "-")
				if tt.initialize != "" {
					f.answers["initialize"] = strings.TrimPrefix(tt.initialize, "-")
				}
				o := options(f)
				o.Era, o.Remembered = tt.force, tt.remembered
				began := time.Now()
				c, _, err := Open(t.Context(), o)
				if took := time.Since(began); took != tt.took {
					t.Errorf("it took %v, want %v", took, tt.took)
				}
				if (err == nil) != (tt.want != "") {
					t.Fatalf("error %v, want era %q", err, tt.want)
				}
				if err == nil {
					if c.Era() != tt.want {
						t.Errorf("era %s, want %s", c.Era(), tt.want)
					}
					defer c.End()
				}
				synctest.Wait()
				if got := f.methods(t); !slices.Equal(got, tt.asked) {
					t.Errorf("it was asked %q, want %q", got, tt.asked)
				}
			})
		})
	}
}

// A server may take longer to start than one waits for what it may not know. What it
// answers first counts, and what it answers to the other is dropped.
func TestASlowServerIsGreetedOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		answers []string
		want    Era
	}{
		"modern and takes both": {[]string{discover, works()["initialize"]}, Modern},
		"modern and sticky":     {[]string{discover, sticky}, Modern},
		"legacy":                {[]string{unknown, works()["initialize"]}, Legacy},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{answers: works()}
				delete(f.answers, "initialize")
				o := options(f)
				o.Era = ""
				time.AfterFunc(7*time.Second, func() {
					for i, a := range tt.answers {
						f.says(strings.ReplaceAll(a, "ID", fmt.Sprintf(`"%d"`, i+1)))
					}
				})
				c, _, err := Open(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				defer c.End()
				if c.Era() != tt.want {
					t.Errorf("era %s, want %s", c.Era(), tt.want)
				}
			})
		})
	}
}

func TestAServerSaysWhoItIsInEitherEra(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for want, era := range map[string]Era{
			`2026-07-28 {"name":"fake","version":"3"} {"tools":{}} fake 3 true`: Modern,
			`2025-06-18 {"name":"fake","version":"2"}  fake 2 false`:            Legacy,
		} {
			f := &fake{answers: works()}
			f.answers["server/discover"] = discover
			o := options(f)
			o.Era = era
			c, _, err := Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			h := c.Hello()
			got := fmt.Sprintf("%s %s %s %s %s %v", h.Protocol, h.Server, h.Capabilities, c.Server, c.Version, h.Has("tools"))
			if got != want || c.Protocol != h.Protocol || !json.Valid(h.Result) {
				t.Errorf("it is known as %s, want %s", got, want)
			}
			c.End()
		}
	})
}

// What the server is told of a connection is the deck's, and the rest is untouched.
func TestRequestsFitTheEraOfTheServer(t *testing.T) {
	hop := `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"mcpdeck","version":"test"},"io.modelcontextprotocol/clientCapabilities":{"x":{}}`
	agents := `"io.modelcontextprotocol\/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{},"io.modelcontextprotocol/clientCapabilities":{"roots":{}}`
	for _, tt := range []struct{ params, legacy, modern string }{
		{"", "", `{"_meta":{HOP}}`},
		{`{"a": 1.0}`, `{"a":1.0}`, `{"a":1.0,"_meta":{HOP}}`},
		{`{"_meta":{"progressToken":"7"},"a":[1,  2]}`, `{"_meta":{"progressToken":"7"},"a":[1,  2]}`, `{"a":[1,  2],"_meta":{HOP,"progressToken":"7"}}`},
		{`{"_meta":{AGENTS,"t":9007199254740993},"a":{}}`, `{"a":{},"_meta":{"t":9007199254740993}}`, `{"a":{},"_meta":{HOP,"t":9007199254740993}}`},
		{`{"_meta":{AGENTS}}`, `{}`, `{"_meta":{HOP}}`},
		{`{"_meta":{"io.modelcontextprotocol/logLevel":"info"}}`, `{}`, `{"_meta":{HOP,"io.modelcontextprotocol/logLevel":"info"}}`},
		{`{"arguments":{"_meta":{AGENTS}}}`, `{"arguments":{"_meta":{AGENTS}}}`, `{"arguments":{"_meta":{AGENTS}},"_meta":{HOP}}`},
		{`{"_meta":{"progressToken":"7","mcpdeck/clientCapabilities":{"y":{}}}}`, `{"_meta":{"progressToken":"7","mcpdeck/clientCapabilities":{"y":{}}}}`, `{"_meta":{THISHOP,"progressToken":"7"}}`},
		{`{"_meta":7}`, `{"_meta":7}`, `{"_meta":7}`},
	} {
		fill := strings.NewReplacer("THISHOP", strings.Replace(hop, `{"x":{}}`, `{"y":{}}`, 1), "HOP", hop, "AGENTS", agents).Replace
		for era, want := range map[Era]string{Legacy: tt.legacy, Modern: tt.modern} {
			c := &Conn{o: Options{Capabilities: json.RawMessage(`{"x":{}}`)}, me: client("test"), era: era}
			params, _ := rawjson.SplitObject([]byte(fill(tt.params))) // nil for none
			if got := string(c.dress(params)); got != fill(want) {
				t.Errorf("%s, %s: got %s, want %s", era, tt.params, got, fill(want))
			}
		}
	}
}

func TestAServerWithoutToolsNeedNotListThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, tt := range map[string]struct {
			capabilities string
			fails        bool
		}{"has prompts": {`{"prompts":{}}`, false}, "has tools": {`{"tools":{}}`, true}} {
			f := &fake{answers: works()}
			f.answers["initialize"] = strings.Replace(f.answers["initialize"], `"serverInfo"`, `"capabilities":`+tt.capabilities+`,"serverInfo"`, 1)
			f.answers["tools/list"] = unknown
			c, tools, err := Open(t.Context(), options(f))
			if (err != nil) != tt.fails || len(tools) != 0 {
				t.Errorf("%s: %d tools, error %v", name, len(tools), err)
			}
			if err == nil {
				c.End()
			}
		}
	})
}

func TestAllKindsOfListsAreReadToTheirEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answers: works()}
		f.answers["prompts/list"] = `{"jsonrpc":"2.0","id":ID,"result":{"prompts":[1],"nextCursor":"a"}}`
		f.answers["resources/list"] = `{"jsonrpc":"2.0","id":ID,"result":{"resources":[1,2]}}`
		f.answers["resources/templates/list"] = `{"jsonrpc":"2.0","id":ID,"result":{}}`
		c, _, err := Open(t.Context(), options(f))
		if err != nil {
			t.Fatal(err)
		}
		defer c.End()
		for kind, want := range map[Kind]string{Prompts: "2 <nil>", Resources: "2 <nil>", Templates: "0 its template list has no resourceTemplates member"} {
			list, err := c.List(t.Context(), kind)
			if got := fmt.Sprint(len(list), " ", err); got != want {
				t.Errorf("%s: %s, want %s", kind.method, got, want)
			}
		}
	})
}

// Servers say right after the handshake that their tools have changed, some of them
// several times.
func TestAListIsFinalWhenItChangesNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answers: works()}
		o := options(f)
		o.Settle = true
		change := `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
		for _, at := range []time.Duration{200, 400, 600} {
			time.AfterFunc(at*time.Millisecond, func() { f.says(change) })
		}
		began := time.Now()
		c, _, err := Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer c.End()
		if took := time.Since(began); took != 900*time.Millisecond {
			t.Errorf("settled after %v", took)
		}
		if n := strings.Count(strings.Join(f.methods(t), " "), "tools/list"); len(c.Changed()) != 0 || n != 8 {
			t.Errorf("%d pages were read, %d changes are told again", n, len(c.Changed()))
		}
	})
}

func TestAListThatKeepsChangingIsTakenAsItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answers: works()}
		o := options(f)
		o.Settle = true
		for at := range 100 {
			time.AfterFunc(time.Duration(at+1)*100*time.Millisecond, func() { f.says(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`) })
		}
		began := time.Now()
		c, _, err := Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != settleLimit {
			t.Errorf("settled after %v", took)
		}
		testwait.Pass(time.Minute)
		c.End()
	})
}

// A change between the first list and the subscription would be told to nobody.
func TestChangesAreSubscribedToBeforeTheFirstList(t *testing.T) {
	f := &fake{answers: works()}
	f.answers["server/discover"] = discover
	o := options(f)
	o.Era = ""
	c, _, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.End()
	for _, want := range []string{"server/discover", "subscriptions/listen", "tools/list"} {
		if got := <-f.got; !strings.Contains(got, `"method":"`+want+`"`) {
			t.Errorf("it was asked %s, want %s", got, want)
		}
	}
}

func TestASubscriptionIsOpenedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answers: works()}
		f.answers["server/discover"], f.answers["subscriptions/listen"] = discover, ""
		o := options(f)
		o.Era = ""
		told := make(chan string, 10)
		o.Told = func(method string, _ json.RawMessage) { told <- method }
		c, _, err := Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer c.End()
		changes := c.Changed()
		subscribed := func(want string) string {
			t.Helper()
			for line := range f.got {
				m, bad := rpc.Rules{}.Decode([]byte(line))
				if bad != nil {
					t.Fatal(bad)
				}
				if m.Method == want {
					return string(m.ID) + " " + string(m.Params)
				}
			}
			return ""
		}
		acknowledge := func(id string) {
			f.says(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, id))
		}
		first, _, _ := strings.Cut(subscribed("subscriptions/listen"), " ")
		acknowledge(first)
		<-changes // what may have been missed, the lists were not held up by it
		f.says(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		<-changes
		f.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, first))
		began := time.Now()
		second, _, _ := strings.Cut(subscribed("subscriptions/listen"), " ")
		if took := time.Since(began); took != listenAgain || second == first {
			t.Errorf("opened again after %v as %s, before %s", took, second, first)
		}
		synctest.Wait()
		if len(changes) != 0 {
			t.Error("the lists are read again before the subscription is there")
		}
		acknowledge(second)
		<-changes
		c.Listen([]string{"a://b", `c"d`})
		third, params, _ := strings.Cut(subscribed("subscriptions/listen"), " ")
		if !strings.Contains(params, `"resourceSubscriptions":["a://b","c\"d"]}`) {
			t.Errorf("it is asked for %s", params)
		}
		synctest.Wait()
		if len(f.got) != 0 {
			t.Error("the one before ended first")
		}
		acknowledge(third)
		if got := subscribed("notifications/cancelled"); !strings.Contains(got, `"requestId":`+second) {
			t.Errorf("cancelled %s, want %s", got, second)
		}
	})
}

// Of a server that works on a call, silence proves nothing.
func TestAProgramThatWorksNeedNotAnswerPings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answers: works()}
		f.answers["ping"] = ""
		c, _, err := Open(t.Context(), options(f))
		if err != nil {
			t.Fatal(err)
		}
		c.Busy.Add(1)
		tick := time.NewTicker(time.Second)
		for range 600 {
			<-tick.C
			f.says(`{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`)
			for len(f.got) > 0 {
				<-f.got
			}
		}
		tick.Stop()
		select {
		case <-c.Gone():
			t.Fatal("it was ended")
		default:
		}
		<-c.Gone() // now it is silent
	})
}

func TestWhatTheServerRefusesIsTold(t *testing.T) {
	for err, want := range map[error]bool{
		&rpc.Error{Code: -32601}:                     true,
		&StatusError{Code: 405}:                      true,
		&StatusError{Code: 401}:                      false,
		&StatusError{Code: 500}:                      false,
		errors.New("x"):                              false,
		fmt.Errorf("x: %w", &StatusError{Code: 404}): true,
	} {
		if refused(err) != want {
			t.Errorf("%v: %v", err, !want)
		}
	}
	if got := (&StatusError{Code: 502, Text: "bad gateway"}).Error(); got != "HTTP status 502: bad gateway" {
		t.Error(got)
	}
}
