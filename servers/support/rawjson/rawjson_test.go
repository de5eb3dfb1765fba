package rawjson

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	tests := []struct {
		name, in string
		keys     []string
		values   []string
		bad      bool
	}{
		{"empty", `{}`, nil, nil, false},
		{"spaces", " { \"a\" : 1 , \"b\" : [ 1, {\"c\":\"}\"} ] } ", []string{"a", "b"}, []string{"1", `[ 1, {"c":"}"} ]`}, false},
		{"strings with quotes", `{"a":"x\"y\\","b":"\\\\"}`, []string{"a", "b"}, []string{`"x\"y\\"`, `"\\\\"`}, false},
		{"escaped key", `{"\u0061":null}`, []string{"a"}, []string{"null"}, false},
		{"case is kept apart", `{"Name":"x","name":"y"}`, []string{"Name", "name"}, []string{`"x"`, `"y"`}, false},
		{"big number untouched", `{"n":9007199254740993}`, []string{"n"}, []string{"9007199254740993"}, false},
		{"duplicate", `{"a":1,"a":2}`, nil, nil, true},
		{"duplicate by escape", `{"a":1,"\u0061":2}`, nil, nil, true},
		{"duplicate of many", `{` + manyNames() + `,"n7":1}`, nil, nil, true},
		{"array", `[1]`, nil, nil, true},
		{"broken", `{"a":`, nil, nil, true},
		{"nothing", ``, nil, nil, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, err := Parse([]byte(tt.in))
			if (err != nil) != tt.bad {
				t.Fatalf("error %v", err)
			}
			if len(o) != len(tt.keys) {
				t.Fatalf("got %d members, want %d", len(o), len(tt.keys))
			}
			for i, m := range o {
				if m.Key != tt.keys[i] || string(m.Value) != tt.values[i] {
					t.Errorf("member %d: got %s: %s", i, m.Key, m.Value)
				}
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":[{"c":"\\\""}],"d":{"e":null}}`))
	f.Add([]byte(` {"":"","x":-1e9} `))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for i := range len(raw) + 1 {
			if end := End(raw, i); end < i || end > len(raw) {
				t.Fatalf("%q: the value at %d ends at %d", raw, i, end)
			}
		}
		o, err := Parse(raw)
		if err != nil {
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatalf("%q: we read it, encoding/json does not: %v", raw, err)
		}
		if len(o) != len(want) {
			t.Fatalf("%q: got %d members, want %d", raw, len(o), len(want))
		}
		for _, m := range o {
			if !bytes.Equal(m.Value, want[m.Key]) {
				t.Fatalf("%q: member %q: got %q, want %q", raw, m.Key, m.Value, want[m.Key])
			}
			if list, ok := SplitArray(m.Value); ok {
				var elements []json.RawMessage
				if err := json.Unmarshal(m.Value, &elements); err != nil || len(elements) != len(list) {
					t.Fatalf("%q: %d elements, want %d", m.Value, len(list), len(elements))
				}
			}
		}
	})
}

// FuzzEach has what is no JSON taken apart as well: somehow, but to its end.
func FuzzEach(f *testing.F) {
	for _, raw := range []string{`{`, `[`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `[1,`, `[}`, `[,`, `{]`, `{"a":}`, `[1 2]`} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		at := 0
		_, err := Each(raw, func(p Part) {
			if p.From < at || p.To <= p.From || p.To > len(raw) {
				t.Fatalf("%q: a part goes from %d to %d", raw, p.From, p.To)
			}
			at = p.To
		})
		if err != nil && json.Valid(raw) && raw[space(raw, 0)] == '[' {
			t.Errorf("%q: %v", raw, err)
		}
	})
}

// FuzzText holds the short way for plain strings against the long one.
func FuzzText(f *testing.F) {
	for _, s := range []string{`"plain"`, `"a\nb"`, "\"\xff\"", `"`, `""`, `"a"b"`, "\"\x01\"", `"größer"`, `"\u00e9"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := Text(raw)
		var want string
		wantErr := json.Unmarshal(raw, &want)
		if len(raw) == 0 || raw[0] != '"' {
			return // another kind of value, or space before it
		}
		if got != want && err == nil || (err == nil) != (wantErr == nil) {
			t.Errorf("%q: got %q, %v; want %q, %v", raw, got, err, want, wantErr)
		}
	})
}

func TestAnObjectIsPutTogetherAgain(t *testing.T) {
	for in, want := range map[string]string{
		` { "b" : 1.0 , "a" : [ 1e2 ] } `: `{"b":1.0,"a":[ 1e2 ]}`, `{}`: `{}`, `{"\u00e9<":"\u00e9"}`: `{"é<":"\u00e9"}`,
	} {
		o, err := Parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(o.JSON()); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestManyMembersAreAllTakenApart(t *testing.T) {
	o, err := Parse([]byte(`{` + manyNames() + `}`))
	if err != nil || len(o) != 40 {
		t.Errorf("%d members, %v", len(o), err)
	}
}

func TestMembersAreReadAsWhatTheyAre(t *testing.T) {
	o, err := Parse([]byte(`{"null":null,"text":"a\u00e9\n","yes":true,"no":false,"one":1,"word":"true"}`))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]struct {
		some, str string
		flag      bool
	}{
		"null": {}, "missing": {}, "text": {`"a\u00e9\n"`, "aé\n", false}, "yes": {"true", "", true}, "no": {"false", "", false},
		"one": {"1", "", false}, "word": {`"true"`, "true", false},
	} {
		if some, str, flag := string(o.Some(key)), o.Str(key), o.Flag(key); some != want.some || str != want.str || flag != want.flag {
			t.Errorf("%s: %q, %q, %v", key, some, str, flag)
		}
	}
}

// What most messages have costs no memory of its own in each.
func TestUsualWordsAreKeptOnce(t *testing.T) {
	for _, word := range []string{
		"jsonrpc", "id", "method", "params", "result", "error", "name", "arguments", "_meta", "content", "type", "text", "isError", "tools/call",
	} {
		raw := Quote(word)
		var got string
		if n := testing.AllocsPerRun(10, func() { got, _ = Text(raw) }); n > 0 || got != word {
			t.Errorf("%s: %q takes %.0f allocations", word, got, n)
		}
	}
}

func TestQuotedTextIsReadAsItWas(t *testing.T) {
	for text, want := range map[string]string{
		"": `""`, "plain": `"plain"`, `a"b\`: `"a\"b\\"`, "<&>": `"<&>"`, "é\n": `"é\n"`, "\xff": `"\ufffd"`,
	} {
		if got := string(Quote(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestDepthAndLongestStringAreMeasured(t *testing.T) {
	for raw, want := range map[string][2]int{
		`1`: {0, 0}, `"four"`: {0, 4}, `{}`: {1, 0}, `[[],[{}]]`: {3, 0}, `{"a":"[[[{","longer":1}`: {1, 6}, `["\"[","x"]`: {1, 3},
		`[`: {1, 0}, strings.Repeat("[", 1e6): {1e6, 0},
	} {
		if levels, longest := Measure([]byte(raw)); levels != want[0] || longest != want[1] {
			t.Errorf("%.40s: %d levels, %d bytes", raw, levels, longest)
		}
	}
}

func TestChangedObjectsKeepTheirOtherMembers(t *testing.T) {
	const text = `{"a":1.0,"b":[2],"c":"3"}`
	o, err := SplitObject([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for want, got := range map[string]Object{
		`{"a":1.0,"b":true,"c":"3"}`:       o.With("b", json.RawMessage("true")),
		`{"a":1.0,"b":[2],"c":"3","d":{}}`: o.With("d", json.RawMessage("{}")),
		`{"b":[2]}`:                        o.Without("a", "c", "x"),
		`{"a":1.0,"c":"3"}`:                o.Only("c", "x", "a"),
		text:                               o,
	} {
		if string(got.JSON()) != want {
			t.Errorf("%s, want %s", got.JSON(), want)
		}
	}
}

func TestOnlyBrokenLinesAreJoined(t *testing.T) {
	for text, want := range map[string]string{
		`{"a" : 1.0}`: `{"a" : 1.0}`, "{\"a\" :\r\n 1.0}": `{"a":1.0}`, "{\n": "{\n", "": "",
	} {
		if got := OneLine([]byte(text)); string(got) != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
