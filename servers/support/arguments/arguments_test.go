package arguments

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
)

func TestKindsReadWhatModelsWrite(t *testing.T) {
	for _, tt := range []struct {
		kind      Kind
		got, want any
	}{
		{Text, "A b", "A b"},
		{Text, 1.0, nil},
		{Word, " A ", "a"},
		{Flag, true, true},
		{Flag, "true", nil},
		{Whole, 3.0, 3},
		{Whole, 1e12, 1_000_000_000},
		{Whole, 1.5, nil},
		{Whole, "3", nil},
		{Integer, " 3 ", 3},
		{Integer, "3.0", nil},
		{Number, 1.5, 1.5},
		{Pair, "16X8", [2]int{16, 8}},
		{Pair, []any{16.0, 8.0}, [2]int{16, 8}},
		{Pair, []any{16.0}, nil},
		{Pair, "16x", nil},
		{Pair, "0x1", nil},
		{Pair, "16x+1", nil},
		{Words, "a, b c", []string{"a", "b", "c"}},
		{Strings, "a, b", []string{"a, b"}},
		{Strings, []any{"a", "b"}, []string{"a", "b"}},
		{Strings, []any{"a", 1.0}, nil},
		{Raw, 1.0, 1.0},
		{Raw, nil, nil},
	} {
		if got := tt.kind.Read(tt.got); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("kind %d, %#v: got %#v, want %#v", tt.kind, tt.got, got, tt.want)
		}
	}
}

func TestSchemasSayWhatACallIsCheckedAgainst(t *testing.T) {
	l := List{
		{Name: "a", Required: true, Enum: []string{"x"}, Text: "<one>."},
		{Name: "b", Kind: Integer, Min: 1, Max: 9, Default: 2, Text: "Two."},
		{Name: "c", Kind: Pair, Text: "Three."},
		{Name: "d", Kind: Word, Enum: []string{"y"}, More: `"pattern":"z"`, Text: "Four."},
	}
	for _, tt := range []struct {
		style Style
		want  string
	}{
		{Style{Closed: true}, `{"type":"object","properties":{"a":{"type":"string","enum":["x"],"description":"<one>."},` +
			`"b":{"type":"integer","minimum":1,"maximum":9,"default":2,"description":"Two."},` +
			`"c":{"type":["array","string"],"items":{"type":"integer"},"description":"Three."},` +
			`"d":{"type":"string","enum":["y"],"pattern":"z","description":"Four."}},"required":["a"],"additionalProperties":false}`},
		{Style{Nullable: true}, `{"type":"object","properties":{"a":{"type":"string","enum":["x"],"description":"<one>."},` +
			`"b":{"type":["integer","null"],"minimum":1,"maximum":9,"default":2,"description":"Two."},` +
			`"c":{"type":["array","string","null"],"items":{"type":"integer"},"description":"Three."},` +
			`"d":{"type":["string","null"],"enum":["y",null],"pattern":"z","description":"Four."}},"required":["a"]}`},
	} {
		if got := string(l.Schema(tt.style)); got != tt.want {
			t.Errorf("%+v:\n got %s\nwant %s", tt.style, got, tt.want)
		}
	}
}

func TestACallIsReadUpToItsFirstFault(t *testing.T) {
	l := List{
		{Name: "name", Required: true, Max: 3},
		{Name: "size", Kind: Integer, Min: 1, Max: 9, Default: 2},
		{Name: "way", Kind: Word, Enum: []string{"up", "down"}},
	}
	say := func(f Fault) error { return fmt.Errorf("%s: %v: %v", f.Name, f.Got, f.Value) }
	for _, tt := range []struct {
		name string
		raw  any
		err  string
		size int
	}{
		{"nothing", nil, "name: <nil>: <nil>", 2},
		{"a list", []any{}, ": <nil>: <nil>", 2},
		{"null for what is required", map[string]any{"name": nil}, "name: <nil>: <nil>", 2},
		{"too long", map[string]any{"name": "abcd"}, "name: abcd: abcd", 2},
		{"all", map[string]any{"name": "", "size": "3", "way": "UP"}, "", 3},
		{"out of bounds", map[string]any{"name": "", "size": 10.0}, "size: 10: 10", 2},
		{"of another kind", map[string]any{"name": "", "size": true}, "size: true: <nil>", 2},
		{"not one of its values", map[string]any{"name": "", "size": 4.0, "way": "Left"}, "way: Left: left", 4},
		{"blank", map[string]any{"name": "", "way": " "}, "", 2},
	} {
		v, err := l.Read(tt.raw, say)
		if got := errText(err); got != tt.err || v.Int("size") != tt.size {
			t.Errorf("%s: got %q, size %d, want %q, %d", tt.name, got, v.Int("size"), tt.err, tt.size)
		}
	}
	harmless := func(f Fault) error {
		if f.Got == nil {
			return nil
		}
		return errors.New("no")
	}
	v, err := l.Read(map[string]any{"z": 1.0, "y": nil, "way": "down"}, harmless)
	if err != nil || v.Has("name") || v.String("way") != "down" || !reflect.DeepEqual(v.Unknown, []string{"y", "z"}) {
		t.Errorf("a fault that does no harm: got %+v, %v", v, err)
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestAFaultSaysWhatIsWantedInTheWordsOfTheKind(t *testing.T) {
	for want, kinds := range map[string][]Kind{
		"true or false": {Flag}, "an integer": {Whole, Integer}, "a number": {Number}, "a list of strings": {Words, Strings}, "a string": {Text, Word, Raw},
		`two integers [width, height], such as [16, 16], or "16x16"`: {Pair},
	} {
		for _, k := range kinds {
			if got := k.Want(); got != want {
				t.Errorf("kind %d: %s, want %s", k, got, want)
			}
		}
	}
}

func TestListsAndFlagsAreReadOrTheirDefaults(t *testing.T) {
	l := List{{Name: "names", Kind: Strings}, {Name: "words", Kind: Words, Default: []string{"x"}}, {Name: "all", Kind: Flag, Default: true}, {Name: "deep", Kind: Flag}}
	v, err := l.Read(map[string]any{"names": []any{"a", "b"}, "deep": true}, func(f Fault) error { return errors.New(f.Name) })
	if err != nil || !reflect.DeepEqual(v.Strings("names"), []string{"a", "b"}) || !reflect.DeepEqual(v.Strings("words"), []string{"x"}) || !v.Bool("all") || !v.Bool("deep") {
		t.Errorf("%v, %v, %v, %v, %v", v.Strings("names"), v.Strings("words"), v.Bool("all"), v.Bool("deep"), err)
	}
}
