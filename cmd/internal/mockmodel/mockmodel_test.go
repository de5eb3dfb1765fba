package mockmodel

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// says posts a request to the model and returns its answer.
func says(t *testing.T, s *Server, body string) string {
	t.Helper()
	r, err := http.Post(s.URL+"/v1/messages", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestATurnMayMakeSeveralCalls(t *testing.T) {
	s := New(t, "", Step{Tool: "a", Usage: Usage{In: 5, CacheRead: 6, CacheWrite: 7, Out: 8}}, Step{Tool: "b", Along: true}, Step{Tool: "a"})
	s.Script("HELPER", Step{Tool: "b"})
	tools := `"tools":[{"name":"a"},{"name":"b"}]`
	first := says(t, s, `{`+tools+`,"messages":[{"role":"user","content":"go"}]}`)
	for _, want := range []string{`"id":"call_1","input":{},"name":"a"`, `"id":"call_2","input":{},"name":"b"`, `"input_tokens":5`, `"cache_read_input_tokens":6`, `"cache_creation_input_tokens":7`, `"output_tokens":8`} {
		if !strings.Contains(first, want) {
			t.Errorf("no %s in %s", want, first)
		}
	}
	if other := says(t, s, `{`+tools+`,"messages":[{"role":"user","content":"HELPER"}]}`); !strings.Contains(other, `"id":"call_HELPER1"`) {
		t.Errorf("another conversation gets %s", other)
	}
	results := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_2","content":"two"},{"type":"tool_result","tool_use_id":"call_1","content":"one"}]}`
	if second := says(t, s, `{`+tools+`,"messages":[{"role":"user","content":"go"},`+results+`]}`); !strings.Contains(second, `"id":"call_3"`) {
		t.Errorf("then comes %s", second)
	}
	if seen := s.Seen(); seen[0].Result != `"one"` || seen[1].Result != `"two"` || seen[2].Result != "" || len(s.Bodies()) != 3 || !s.SeenOf("HELPER")[0].Called {
		t.Errorf("seen is %+v", seen)
	}
}

func TestAutoModeIsGivenItsVerdict(t *testing.T) {
	s := New(t, "")
	s.Judges("<block>yes</block>")
	judged := says(t, s, `{"system":"begin with <block>","messages":[{"role":"user","content":"go"}]}`)
	if other := says(t, s, `{"messages":[{"role":"user","content":"a title?"}]}`); !strings.Contains(judged, `\u003cblock\u003eyes`) || strings.Contains(other, `"judged"`) {
		t.Errorf("judged: %s, else %s", judged, other)
	}
}

// TestWhatTheModelWasAskedIsToldBeforeItAnswers has a test look while its own step holds up the answer.
func TestWhatTheModelWasAskedIsToldBeforeItAnswers(t *testing.T) {
	asked := ""
	s := New(t, "", Step{Tool: "a"})
	s.main.steps[0].Before = func() { asked = strings.Join(s.Bodies(), "") }
	says(t, s, `{"tools":[{"name":"a"}],"messages":[{"role":"user","content":"go"}]}`)
	if !strings.Contains(asked, `"go"`) || s.Last() == "" {
		t.Errorf("it was asked %q", asked)
	}
}
