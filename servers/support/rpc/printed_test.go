package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// TestAnAnswerOverSeveralLinesEndsItsRequest, and what only looks like one ends none.
func TestAnAnswerOverSeveralLinesEndsItsRequest(t *testing.T) {
	pretty := func(line string) string {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		b, _ := json.MarshalIndent(v, "", "  ") // it was JSON
		return string(b)
	}
	answer := pretty(`{"jsonrpc":"2.0","id":"2","result":{"content":[{"type":"text","text":"{\n}"}]}}`)
	long := pretty(`{"jsonrpc":"2.0","id":"2","result":{"a":"` + strings.Repeat("x", 10*keptOutline) + `"}}`)
	for name, r := range map[string]struct {
		lines string
		fails string // ids of the three that wait
	}{
		"a result":                      {answer, "2"},
		"an error":                      {pretty(`{"jsonrpc":"2.0","id":"2","error":{"code":-32603,"message":"no"}}`), "2"},
		"with Windows' line ends":       {strings.ReplaceAll(answer, "\n", "\r\n"), "2"},
		"one that is long":              {long, "2"},
		"behind a log":                  {"loading\n" + answer, "2"},
		"behind a log that never ends":  {"{\n  \"level\": \"info\",\n" + answer, "2"},
		"two":                           {answer + "\n" + pretty(`{"jsonrpc":"2.0","id":"1","result":{}}`), "12"},
		"the answer follows":            {answer + "\n" + `{"jsonrpc":"2.0","id":"2","result":{}}`, ""},
		"a message comes between":       {strings.Replace(answer, "\n", "\n"+`{"jsonrpc":"2.0","method":"a"}`+"\n", 1), ""},
		"it does not end":               {strings.TrimSuffix(answer, "}"), ""},
		"a request that was logged":     {pretty(`{"jsonrpc":"2.0","id":"2","method":"tools/call","params":{"result":1}}`), ""},
		"a log":                         {pretty(`{"level":"info","id":"2","result":{"a":1}}`), ""},
		"a log of an answer":            {pretty(`{"level":"info","message":{"jsonrpc":"2.0","id":"2","result":{}}}`), ""},
		"a list of answers":             {pretty(`[{"jsonrpc":"2.0","id":"2","result":{}}]`), ""},
		"another version":               {pretty(`{"jsonrpc":"1.0","id":"2","result":{}}`), ""},
		"no version":                    {pretty(`{"id":"2","result":{}}`), ""},
		"neither a result nor an error": {pretty(`{"jsonrpc":"2.0","id":"2"}`), ""},
		"a number that is no id":        {pretty(`{"jsonrpc":"2.0","id":2,"result":{}}`), ""},
		"an id of nobody's":             {pretty(`{"jsonrpc":"2.0","id":"9","result":{}}`), ""},
		"two ids":                       {"{\n\"jsonrpc\": \"2.0\",\n\"id\": \"2\",\n\"id\": \"1\",\n\"result\": {}\n}", ""},
		"a text that goes on":           {strings.Replace(answer, "text\": \"", "text\": \"\n", 1), ""},
		"indented as a whole":           {"  " + strings.ReplaceAll(answer, "\n", "\n  "), ""},
		"no JSON behind a brace":        {"{\n" + strings.Repeat("a } b\n", 3), ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, _ := startProgram(t, Options{})
				waits := []*Request{start(t, c, "x", nil), start(t, c, "x", nil), start(t, c, "x", nil)}
				for line := range strings.SplitSeq(r.lines, "\n") {
					c.Hear([]byte(line))
				}
				testwait.Pass(2 * loggedFirst)
				fails := ""
				for _, w := range waits {
					select {
					case a := <-w.Reply:
						if errors.Is(a.Err, ErrSeveralLines) {
							fails += w.ID
						} else if a.Err != nil {
							t.Errorf("request %s: %v", w.ID, a.Err)
						}
					default:
					}
				}
				if fails != r.fails {
					t.Errorf("requests %q failed, want %q", fails, r.fails)
				}
			})
		})
	}
}

// TestWhatIsPrintedWithoutEndTakesNoMemory has a server print an object that never ends.
func TestWhatIsPrintedWithoutEndTakesNoMemory(t *testing.T) {
	var p printed
	p.take([]byte("{"))
	for i := range 100_000 {
		p.take(fmt.Appendf(nil, `"key%d": {"a": [1, 2, "%s"]},`, i, strings.Repeat("x", 100)))
	}
	if kept := cap(p.outline.out) + cap(p.outline.member); kept > 2*(keptOutline+keptMember) {
		t.Errorf("it keeps %d bytes", kept)
	}
}
