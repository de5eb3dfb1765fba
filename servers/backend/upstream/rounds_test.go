package upstream_test

import (
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/fake"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport/transporttest"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// newer plays a test with agents of the newer era, over each carrier.
func newer(t *testing.T, s stage, play func(t *testing.T, a transporttest.Talker)) {
	t.Helper()
	for name, open := range map[string]func() transporttest.Talker{
		"stdio":  func() transporttest.Talker { return transporttest.OverStream(t, s.host, router.ViewSpec{}, false) },
		"socket": func() transporttest.Talker { return transporttest.OverStream(t, s.host, router.ViewSpec{}, true) },
		"http":   func() transporttest.Talker { return transporttest.OverHTTP(t, s.host, "/") },
	} {
		t.Run(name+" agent", func(t *testing.T) { play(t, open()) })
	}
}

// can adds to params, in _meta, what an agent of the newer era can answer.
func can(params, capabilities string) string {
	return strings.Replace(transporttest.With(params, true), `clientCapabilities":{}`, `clientCapabilities":`+capabilities, 1)
}

const everything = `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}}}`

// resultOf sends a request with these params and returns its result.
func resultOf(t *testing.T, a transporttest.Talker, method, params string) (result rawjson.Object, whole string) {
	t.Helper()
	got := a.Say(t, method, params, "5")
	whole = got[len(got)-1]
	m, err := rawjson.Parse([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	result, _ = rawjson.SplitObject(m.Get("result")) // missing in an error
	return result, whole
}

// required is what a result asks of an agent, in order, and the state to send back.
func required(t *testing.T, result rawjson.Object, whole string) (requests rawjson.Object, state string) {
	t.Helper()
	if result.Str("resultType") != "input_required" {
		t.Fatalf("got %s", whole)
	}
	requests, err := rawjson.SplitObject(result.Get("inputRequests"))
	if err != nil {
		t.Fatal(err)
	}
	return requests, string(result.Get("requestState"))
}

func TestAnAgentOfTheNewerEraIsAskedByAResult(t *testing.T) {
	own(t, func(t *testing.T, s stage) {
		t.Helper()
		newer(t, s, func(t *testing.T, a transporttest.Talker) {
			t.Helper()
			for tool, want := range map[string]string{
				"ask":    `{"method":"elicitation/create","params":{"message":"Your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}`,
				"url":    `{"method":"elicitation/create","params":{"mode":"url","elicitationId":"e-1","url":"https://example.org/sign-in?a=b","message":"Please sign in."}}`,
				"sample": `{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1.0}}`,
			} {
				requests, state := asksFor(t, a, `{"name":"one_`+tool+`","_meta":{}}`)
				if len(requests) != 1 || string(requests[0].Value) != want {
					t.Fatalf("%s: it is asked %s, want %s", tool, requests.JSON(), want)
				}
				const answer = `{"z":1.0,"later":"<\u00e9>"}`
				_, whole := resultOf(t, a, "tools/call", can(`{"name":"one_`+tool+`","inputResponses":{"`+requests[0].Key+`":`+answer+`},"requestState":`+state+`,"_meta":{}}`, everything))
				if quoted := strings.Trim(string(rawjson.Quote(answer)), `"`); !strings.Contains(whole, quoted) || !strings.Contains(whole, `"resultType":"complete"`) {
					t.Errorf("%s: got %s, want %s in it", tool, whole, answer)
				}
			}
		})
	})
}

// asksFor returns what a call asks of an agent that can answer everything.
func asksFor(t *testing.T, a transporttest.Talker, params string) (rawjson.Object, string) {
	t.Helper()
	result, whole := resultOf(t, a, "tools/call", can(params, everything))
	return required(t, result, whole)
}

func TestAnAgentOfTheNewerEraIsAskedNoMoreThanItAnswers(t *testing.T) {
	own(t, func(t *testing.T, s stage) {
		t.Helper()
		newer(t, s, func(t *testing.T, a transporttest.Talker) {
			t.Helper()
			for tool, want := range map[string]string{"url": `{\"action\":\"decline\"}`, "sample": "the agent does not answer such requests"} {
				_, whole := resultOf(t, a, "tools/call", can(`{"name":"one_`+tool+`","_meta":{}}`, `{"elicitation":{}}`))
				if !strings.Contains(whole, want) && !strings.Contains(whole, "-32601") {
					t.Errorf("%s: got %s", tool, whole)
				}
			}
		})
	})
}

func TestAStateIsOfUseToItsRequestAlone(t *testing.T) {
	s := on(t, &fake.Server{NoModern: true}, false, upstream.Options{OnDemand: true, Share: upstream.ShareSession, ElicitAgent: true})
	a, b := transporttest.OverStream(t, s.host, router.ViewSpec{}, true), transporttest.OverStream(t, s.host, router.ViewSpec{}, true)
	requests, state := asksFor(t, a, `{"name":"one_ask","_meta":{}}`)
	rest := `,"inputResponses":{"` + requests[0].Key + `":{"action":"cancel"}},"requestState":` + state + `,"_meta":{}}`
	for name, got := range map[string]func() (rawjson.Object, string){
		"another agent": func() (rawjson.Object, string) {
			return resultOf(t, b, "tools/call", can(`{"name":"one_ask"`+rest, everything))
		},
		"another tool": func() (rawjson.Object, string) {
			return resultOf(t, a, "tools/call", can(`{"name":"one_echo"`+rest, everything))
		},
		"another request": func() (rawjson.Object, string) {
			return resultOf(t, a, "prompts/get", can(`{"name":"one_greet"`+rest, everything))
		},
	} {
		if result, whole := got(); result != nil || !strings.Contains(whole, "-32602") {
			t.Errorf("%s: got %s", name, whole)
		}
	}
	if _, whole := resultOf(t, a, "tools/call", can(`{"name":"one_ask"`+rest, everything)); !strings.Contains(whole, `{\"action\":\"cancel\"}`) {
		t.Errorf("its own: got %s", whole)
	}
	if _, whole := resultOf(t, a, "tools/call", can(`{"name":"one_ask"`+rest, everything)); !strings.Contains(whole, "-32602") {
		t.Errorf("again: got %s", whole)
	}
}

// An agent that repeats its call without answering is asked again.
func TestAnAgentThatDoesNotAnswerIsAskedAgain(t *testing.T) {
	s := on(t, &fake.Server{NoModern: true}, false, upstream.Options{OnDemand: true, Share: upstream.ShareSession, ElicitAgent: true})
	a := transporttest.OverStream(t, s.host, router.ViewSpec{}, true)
	requests, state := asksFor(t, a, `{"name":"one_ask","_meta":{}}`)
	again, same := asksFor(t, a, `{"name":"one_ask","inputResponses":{"other":{}},"requestState":`+state+`,"_meta":{}}`)
	if string(again.JSON()) != string(requests.JSON()) || same != state {
		t.Errorf("asked %s, then %s", requests.JSON(), again.JSON())
	}
}

// A server of the newer era can be shared: each request says what its agent can answer.
func TestAgentsThatShareAServerOfTheNewerEraAreAskedByIt(t *testing.T) {
	for _, share := range []upstream.Share{upstream.ShareAuto, upstream.ShareProject, upstream.ShareDeck} {
		t.Run(string(share), func(t *testing.T) {
			f := &fake.Server{NoLegacy: true}
			s := on(t, f, false, upstream.Options{OnDemand: true, Share: share, ElicitAgent: true})
			a := transporttest.OverStream(t, s.host, router.ViewSpec{}, true)
			if requests, _ := asksFor(t, a, `{"name":"one_ask","_meta":{}}`); len(requests) != 1 {
				t.Errorf("asked %s", requests.JSON())
			}
			resultOf(t, a, "tools/call", can(`{"name":"one_echo","_meta":{}}`, `{}`))
			var told []bool
			for _, r := range f.Seen() {
				if r.Method == "tools/call" {
					told = append(told, strings.Contains(r.Line, `"elicitation":{"form":{},"url":{}}`))
				}
			}
			if len(told) != 2 || !told[0] || told[1] {
				t.Errorf("the server was told of what the agent answers: %v", told)
			}
		})
	}
}
