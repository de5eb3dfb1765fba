package rawjson

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func testRule() *Rule {
	data := &Rule{}
	r := &Rule{Fold: true, Known: Names("name", "arguments", "task", "progressToken")}
	r.Inner, r.Rest = map[string]*Rule{"arguments": {Fold: true, Rest: data}}, r
	return r
}

func TestNamesThatReadersTakeForEachOtherAreRefused(t *testing.T) {
	tests := []struct {
		name, in string
		bad      bool
	}{
		{"as they should be", `{"name":"a","arguments":{"x":[{"y":1},{"y":1}]},"task":{"name":"b"}}`, false},
		{"another case beside it", `{"name":"a","Name":"b"}`, true},
		{"another case alone", `{"NAME":"b"}`, true},
		{"twice", `{"name":"a","name":"a"}`, true},
		{"twice by an escape", `{"name":"a","n\u0061me":"b"}`, true},
		{"the long s", `{"argument` + "\u017f" + `":{}}`, true},
		{"the long s by an escape", `{"argument\u017f":{}}`, true},
		{"the Kelvin sign", `{"progressTo` + "\u212a" + `en":1}`, true},
		{"the Kelvin sign in a nested object", `{"a":[{"tas` + "\u212a" + `":1}]}`, true},
		{"unknown names that fold alike", `{"x":1,"X":2}`, true},
		{"arguments that fold alike", `{"arguments":{"path":1,"Path":2}}`, true},
		{"arguments of any spelling", `{"arguments":{"Name":1}}`, false},
		{"data in arguments by case", `{"arguments":{"map":{"x":1,"X":2}}}`, false},
		{"data in arguments twice", `{"arguments":{"map":[{"x":1,"x":2}]}}`, true},
		{"many names", `{"arguments":{` + manyNames() + `}}`, false},
		{"many names and one twice", `{"arguments":{` + manyNames() + `,"n7":1}}`, true},
		{"a string that looks like names", `{"name":"\"name\":{\"name\""}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if !json.Valid([]byte(tt.in)) {
				t.Fatal("the test itself is not JSON")
			}
			if err := testRule().Check([]byte(tt.in)); (err != nil) != tt.bad {
				t.Errorf("error %v", err)
			}
		})
	}
}

func manyNames() string {
	var list []string
	for i := range 40 {
		list = append(list, `"n`+string(rune('0'+i%10))+strings.Repeat("x", i/10)+`":0`)
	}
	return strings.Join(list, ",")
}

// A nest of objects is read once, not once for each level.
func TestDeepNestsAreReadInOnePass(t *testing.T) {
	const deep = 9000
	in := []byte(strings.Repeat(`{"a":[`, deep) + strings.Repeat(`]}`, deep))
	rule := testRule()
	allocs := testing.AllocsPerRun(1, func() {
		if err := rule.Check(in); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 4*deep {
		t.Errorf("%.0f allocations for %d levels", allocs, deep)
	}
}

func FuzzFold(f *testing.F) {
	f.Add("arguments", "argument\u017f")
	f.Add("k", "\u212a")
	f.Add("Straße", "STRASSE")
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			return
		}
		if (Fold(a) == Fold(b)) != strings.EqualFold(a, b) {
			t.Fatalf("%q and %q fold to %q and %q", a, b, Fold(a), Fold(b))
		}
	})
}

// What a rule lets through means the same to encoding/json, which folds names and
// takes the last, as to a reader that does neither.
func FuzzNamesMeanTheSame(f *testing.F) {
	f.Add([]byte(`{"name":"a","Name":"b"}`))
	f.Add([]byte(`{"argument\u017f":{"x":1},"task":{"name":"c"}}`))
	f.Add([]byte(`{"name":"a","arguments":{"name":{"name":1}}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		if !json.Valid(in) || testRule().Check(in) != nil {
			return
		}
		var folding struct {
			Name      json.RawMessage `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
			Task      struct {
				Name json.RawMessage `json:"name"`
			} `json:"task"`
		}
		if json.Unmarshal(in, &folding) != nil {
			return // it is not such an object
		}
		exact, err := SplitObject(in)
		if err != nil {
			if string(in) == "null" || strings.TrimSpace(string(in)) == "null" {
				return
			}
			t.Fatalf("%q: %v", in, err)
		}
		task, _ := SplitObject(exact.Get("task"))
		for _, pair := range [][2]json.RawMessage{
			{folding.Name, exact.Get("name")}, {folding.Arguments, exact.Get("arguments")}, {folding.Task.Name, task.Get("name")},
		} {
			if string(pair[0]) != string(pair[1]) {
				t.Fatalf("%q is read as %q and as %q", in, pair[0], pair[1])
			}
		}
	})
}
