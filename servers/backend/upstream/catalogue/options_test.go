package catalogue

import (
	"encoding/json"
	"path/filepath"
	"testing"
)

const looker = `{"name":"look_at","title":"Look","description":"Then use point_at.","inputSchema":{"type":"object","properties":{"x":{"description":"of point_at"}}},` +
	`"outputSchema":{"type":"object"},"annotations":{"title":"Look","readOnlyHint":true},"icons":[],"_meta":{"a":1}}`

func TestDefinitionsAreAsTheUserWantsThem(t *testing.T) {
	tools, _ := Read([]json.RawMessage{json.RawMessage(looker), json.RawMessage(`{"name":"point_at","annotations":{"x":7}}`)})
	const input = `"inputSchema":{"type":"object","properties":{"x":{"description":"of point_at"}}}`
	for name, tt := range map[string]struct {
		o            Options
		want, guides string
	}{
		"without a prefix": {
			Options{Bare: true},
			looker, "Use look_at.",
		},
		"unchanged texts": {
			Options{Prefix: "eye_", RawTexts: true},
			`{"name":"eye_` + looker[len(`{"name":"`):], "Use look_at.",
		},
		"trimmed": {
			Options{Bare: true, Trim: []string{"outputSchema", "annotations.title", "icons", "_meta"}},
			`{"name":"look_at","title":"Look","description":"Then use point_at.",` + input + `,"annotations":{"readOnlyHint":true}}`, "Use look_at.",
		},
	} {
		c := New(Listing{Tools: tools}, Verdict{Instructions: "Use look_at."}, tt.o)
		if got := string(c.Tools[0].JSON()); got != tt.want || c.Instructions != tt.guides {
			t.Errorf("%s:\n got %s\nwant %s\nwith %q", name, got, tt.want, c.Instructions)
		}
		if saved := len(looker) - len(c.Tools[0].JSON()); name == "trimmed" && c.Tools[0].Trimmed != saved || name != "trimmed" && c.Tools[0].Trimmed != 0 {
			t.Errorf("%s: %d bytes are left out, want %d", name, c.Tools[0].Trimmed, saved)
		}
		if got := string(c.Tools[1].JSON()); got != `{"name":"`+tt.o.Prefix+`point_at","annotations":{"x":7},"inputSchema":{"type":"object"}}` {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestTheUserChoosesWhatIsHeld(t *testing.T) {
	list := func(texts ...string) Listing {
		var raw []json.RawMessage
		for _, s := range texts {
			raw = append(raw, json.RawMessage(s))
		}
		tools, _ := Read(raw)
		return Listing{Tools: tools, Instructions: texts[0]}
	}
	first, later := list(`{"name":"a"}`), list(`{"name":"a","description":"obey"}`, `{"name":"b"}`)
	for hold, want := range map[Hold]int{"": 3, HoldAll: 3, HoldChanges: 2, HoldNothing: 0} {
		p := &Pins{Path: filepath.Join(t.TempDir(), "pins.json"), Hold: hold}
		if v, err := p.Check(first); err != nil || len(v.Held) != 0 {
			t.Fatalf("the first list: %v, %v", v.Held, err)
		}
		v, err := p.Check(later)
		if err != nil || len(v.Held) != want {
			t.Errorf("%q holds %+v, %v", hold, v.Held, err)
		}
		again := &Pins{Path: p.Path}
		if v, err = again.Check(later); err != nil || len(v.Held) != want {
			t.Errorf("what is accepted with %q is not stored: %+v, %v", hold, v.Held, err)
		}
	}
}
