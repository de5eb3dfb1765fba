package rawjson

import (
	"bytes"
	"encoding/json"
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
		for i := range raw {
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
