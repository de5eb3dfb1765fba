package catalogue

import (
	"encoding/json"
	"strings"
	"testing"
)

// Clients reject a whole list for one of these.
func TestWhatClientsRejectIsMendedOrSkipped(t *testing.T) {
	for name, tt := range map[string]struct{ given, want string }{
		"fine":                    {`{"name":"x","inputSchema":{"type":"object","properties":{"a":{"default":[],"enum":[]}},"required":["a"]}}`, ""},
		"properties":              {`{"name":"x","inputSchema":{"type":"object","properties":[]}}`, `{"name":"x","inputSchema":{"type":"object","properties":{}}}`},
		"properties within":       {`{"name":"x","inputSchema":{"type":"object","properties":{"properties":{"type":"object","properties": [ ]}}}}`, `{"name":"x","inputSchema":{"type":"object","properties":{"properties":{"type":"object","properties":{}}}}}`},
		"definitions":             {`{"name":"x","inputSchema":{"type":"object","$defs":[],"items":[]}}`, `{"name":"x","inputSchema":{"type":"object","$defs":{},"items":[]}}`},
		"no schema":               {`{"name":"x","inputSchema":[]}`, `{"name":"x","inputSchema":{"type":"object"}}`},
		"true":                    {`{"name":"x","inputSchema":{"properties":{"a":true,"b":false}}}`, `{"name":"x","inputSchema":{"type":"object","properties":{"a":{},"b":{"not":{}}}}}`},
		"result":                  {`{"name":"x","inputSchema":{"type":"object"},"outputSchema":{"type":"array","definitions":[]}}`, `{"name":"x","inputSchema":{"type":"object"},"outputSchema":{"type":"array","definitions":{}}}`},
		"other members":           {`{"name":"x","title":7,"inputSchema":{"type":"object"},"outputSchema":[],"annotations":[],"icons":{},"_meta":[],"execution":[],"later":[]}`, `{"name":"x","inputSchema":{"type":"object"},"later":[]}`},
		"annotations":             {`{"name":"x","inputSchema":{"type":"object"},"annotations":{"title":null,"readOnlyHint":"yes","openWorldHint":false,"x":[]}}`, `{"name":"x","inputSchema":{"type":"object"},"annotations":{"openWorldHint":false,"x":[]}}`},
		"properties are a list":   {`{"name":"x","inputSchema":{"type":"object","properties":["a"]}}`, "skipped: its schema's properties are not an object"},
		"properties are a text":   {`{"name":"x","inputSchema":{"type":"object","properties":"a"}}`, "skipped: its schema's properties are not an object"},
		"a property is a text":    {`{"name":"x","inputSchema":{"type":"object","properties":{"a":"string"}}}`, "skipped: the schema of its argument a is not an object"},
		"arguments are a list":    {`{"name":"x","inputSchema":{"type":"array"}}`, `skipped: its arguments are not an object but "array"`},
		"required is a flag":      {`{"name":"x","inputSchema":{"type":"object","required":true}}`, "skipped: its schema's required is not a list of names"},
		"required has no names":   {`{"name":"x","inputSchema":{"type":"object","required":[1]}}`, "skipped: its schema's required is not a list of names"},
		"the schema is a text":    {`{"name":"x","inputSchema":"object"}`, "skipped: its schema is not an object"},
		"the schema is a full []": {`{"name":"x","inputSchema":[{}]}`, "skipped: its schema is not an object"},
	} {
		tools, notes := Read([]json.RawMessage{json.RawMessage(tt.given), json.RawMessage(`{"name":"y"}`)})
		c := New(Listing{Tools: tools, Notes: notes}, Verdict{}, Options{Bare: true})
		if reason, skipped := strings.CutPrefix(tt.want, "skipped: "); skipped {
			if len(c.Tools) != 1 || len(c.Notes) != 1 || c.Notes[0] != (Note{"x", "skipped: " + reason}) {
				t.Errorf("%s: %d tools, notes %+v", name, len(c.Tools), c.Notes)
			}
			continue
		}
		if tt.want == "" {
			tt.want = tt.given
		}
		if len(c.Tools) != 2 || string(c.Tools[0].JSON()) != tt.want || string(c.Tools[0].Raw) != tt.given {
			t.Errorf("%s: %+v\nwant %s", name, c.Tools, tt.want)
		}
	}
}

// The deck announces no tasks, so a client that reads this could not call the tool.
func TestAToolThatRunsOnlyAsATaskIsListedLikeAnyOther(t *testing.T) {
	for given, want := range map[string]string{
		`{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}`:        `{"name":"x","inputSchema":{"type":"object"}}`,
		`{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"required","y":1}}`:  `{"name":"x","inputSchema":{"type":"object"},"execution":{"y":1}}`,
		`{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}`:        `{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}`,
		`{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"forbidden","y":1}}`: `{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"forbidden","y":1}}`,
	} {
		tools, _ := Read([]json.RawMessage{json.RawMessage(given)})
		for runs, want := range map[bool]string{true: want, false: given} {
			c := New(Listing{Tools: tools}, Verdict{}, Options{Bare: true, RunsTasks: runs})
			if got := string(c.Tools[0].JSON()); got != want || string(c.Tools[0].Raw) != given {
				t.Errorf("mcpdeck runs tasks %v: %s, want %s", runs, got, want)
			}
		}
	}
}
