package form

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func parsed(t *testing.T, schema string, o Options) *Form {
	t.Helper()
	f, err := Parse(json.RawMessage(schema), o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// one is a form of one property x.
func one(t *testing.T, property string, o Options) *Form {
	t.Helper()
	return parsed(t, `{"type":"object","properties":{"x":`+property+`}}`, o)
}

// outline is the fields in short, a row each.
func outline(fields []Field) string {
	var b strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&b, "%s%s %s %s", strings.Repeat("  ", f.Depth), f.Name, f.Role, f.Kind())
		if f.Required {
			b.WriteString("!")
		}
		if f.Closed() {
			b.WriteString(" closed")
		}
		if w := f.Words(); w != "" {
			b.WriteString(" = " + w)
		}
		for _, o := range f.Shape.Options {
			b.WriteString(" | " + o.Title)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func at(t *testing.T, f *Form, v *Value, path string) Field {
	t.Helper()
	for _, field := range f.Fields(v) {
		if field.Path == path && field.Role != Added && field.Role != Extra {
			return field
		}
	}
	t.Fatalf("no field %s in\n%s", path, outline(f.Fields(v)))
	return Field{}
}

func TestPropertiesBecomeFields(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{
			"scalars", `{"properties":{"the_name":{"type":"string"},"n":{"type":"integer","title":"How many"},"ok":{"type":"boolean"}},"required":["n"]}`,
			"the name member text\nHow many member number!\nok member choice | Yes | No\n",
		},
		{
			"nullable", `{"properties":{"a":{"type":["string","null"]},"b":{"type":["boolean","null"]},"c":{"anyOf":[{"type":"integer"},{"type":"null"}],"title":"C"},"d":{"type":"string","nullable":true},"e":{"anyOf":[{"enum":["x"]},{"type":"null"}]}}}`,
			"a member text\nb member choice | Yes | No | null\nC member number\nd member text\ne member choice | x | null\n",
		},
		{
			"choices", `{"properties":{"a":{"enum":["x","y"],"enumNames":["Ex"," "]},"b":{"oneOf":[{"const":"a","title":"Ay"},{"const":2,"title":"Ay"}]},"c":{"const":7},"d":{"type":"array","items":{"anyOf":[{"const":"k"}]}},"e":{"type":"array","items":{"enum":["p","q"]}}}}`,
			"a member choice | Ex | y\nb member choice | Ay | Ay (2)\nc member choice | 7\nd member several | k\ne member several | p | q\n",
		},
		{
			"nested", `{"properties":{"at":{"type":"object","properties":{"street":{"type":"string"},"geo":{"properties":{"x":{"type":"number"}}}},"required":["street"]},"tags":{"type":"array","items":{"type":"string"}}}}`,
			"at member object\n  street member text!\n  geo member object\n    x member number\ntags member list\n  add add list\n",
		},
		{"references", `{"$ref":"#/$defs/r","$defs":{"r":{"properties":{"a":{"$ref":"#/$defs/p","title":"Mine"}}},"p":{"type":"string","title":"Theirs"}}}`, "Mine member text\n"},
		{"a single allOf", `{"properties":{"a":{"allOf":[{"$ref":"#/definitions/p"}],"description":"d"}},"definitions":{"p":{"enum":["x"]}}}`, "a member choice | x\n"},
		{
			"anything else", `{"properties":{"a":{},"b":true,"c":{"type":"object"},"d":{"type":["string","integer"]},"e":{"type":"mood"},"f":{"$ref":"http://x/y"},"g":{"type":"array"},"h":{"allOf":[{},{}]}}}`,
			"a member json\nb member json\nc member json\nd member json\ne member json\nf member json\ng member json\nh member json\n",
		},
		{
			"alternatives", `{"properties":{"a":{"oneOf":[{"type":"string"},{"type":"object","title":"Place","properties":{"x":{"type":"number"}}},{"$ref":"#/$defs/Other"}]}},"$defs":{"Other":{"type":"array","items":{}}}}`,
			"a member variant | string | Place | Other\n",
		},
		{"alternatives of the whole", `{"oneOf":[{"title":"A","properties":{"x":{"type":"string"}}},{"title":"B","properties":{"y":{"type":"string"}}}]}`, "kind member variant! | A | B\n"},
		{"a cycle", `{"properties":{"next":{"$ref":"#"},"v":{"type":"string"}}}`, "next member object\n  next member object closed\n  v member text\nv member text\n"},
		{"no fields", `{"type":"object"}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := parsed(t, tt.schema, Options{})
			if got := outline(f.Fields(f.New())); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

func TestWhatIsNoForm(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"no JSON", `{`, "not valid JSON"},
		{"no object", `[]`, "not a JSON object"},
		{"properties of another kind", `{"properties":[]}`, "not a JSON object"},
		{"a property of another kind", `{"properties":{"x":7}}`, "x: not a JSON object"},
		{"a name twice", `{"properties":{"x":{},"x":{}}}`, "duplicate"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Parse(json.RawMessage(tt.schema), Options{}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// A reference that leads to itself is followed as far as the user goes, six times.
func TestCyclesEnd(t *testing.T) {
	f := parsed(t, `{"properties":{"next":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}}}`, Options{})
	v, path := f.New(), "/next"
	for n := 1; ; n++ {
		field := at(t, f, v, path)
		if field.Kind() == JSON {
			if n != maxCycle+1 {
				t.Errorf("JSON at level %d", n)
			}
			break
		}
		field.Open()
		path += "/next"
	}
}

func TestWhatIsEnteredBecomesJSON(t *testing.T) {
	text := func(s string) func(Field) { return func(f Field) { f.SetText(s) } }
	choose := func(is ...int) func(Field) {
		return func(f Field) {
			for _, i := range is {
				if f.Kind() == Several {
					f.Toggle(i)
				} else {
					f.Choose(i)
				}
			}
		}
	}
	tests := []struct {
		name, property string
		enter          func(Field)
		want           string
		problem        string
	}{
		{"untouched", `{"type":"string","default":"d"}`, func(Field) {}, `{}`, ""},
		{"text", `{"type":"string"}`, text("a \"b\"\nc "), `{"x":"a \"b\"\nc "}`, ""},
		{"whole number beyond 2^53", `{"type":"integer"}`, text("9007199254740993"), `{"x":9007199254740993}`, ""},
		{"number", `{"type":"number"}`, text(" -1.50 "), `{"x":-1.50}`, ""},
		{"number beyond floats", `{"type":"number"}`, text("1e400"), `{"x":1e400}`, ""},
		{"no number", `{"type":"number"}`, text("many"), `{"x":"many"}`, `"many" is not a number`},
		{"no JSON number", `{"type":"number"}`, text("0x10"), `{"x":"0x10"}`, `"0x10" is not a number`},
		{"true is no number", `{"type":"number"}`, text("true"), `{"x":"true"}`, `"true" is not a number`},
		{"no whole number", `{"type":"integer"}`, text("1.5"), `{"x":1.5}`, "must be integer"},
		{"too small", `{"type":"integer","minimum":1}`, text("0"), `{"x":0}`, "0 is below 1"},
		{"too large", `{"type":"number","maximum":1.5}`, text("1.75"), `{"x":1.75}`, "1.75 is above 1.5"},
		{"too short", `{"type":"string","minLength":2}`, text("é"), `{"x":"é"}`, "it has 1 character; at least 2 are required"},
		{"too long", `{"type":"string","maxLength":1}`, text("éé"), `{"x":"éé"}`, "at most 1"},
		{"pattern", `{"type":"string","pattern":"^a+$"}`, text("b"), `{"x":"b"}`, `"b" does not match the pattern ^a+$`},
		{"mail", `{"type":"string","format":"email"}`, text("Ana <a@b.c>"), `{"x":"Ana <a@b.c>"}`, "not a valid email"},
		{"address", `{"type":"string","format":"uri"}`, text("b.c"), `{"x":"b.c"}`, "not a valid uri"},
		{"day", `{"type":"string","format":"date"}`, text("2026-02-30"), `{"x":"2026-02-30"}`, "not a valid date"},
		{"moment", `{"type":"string","format":"date-time"}`, text("noon"), `{"x":"noon"}`, "not a valid date-time"},
		{"a moment that is one", `{"type":"string","format":"date-time"}`, text("2026-02-28T12:00:00Z"), `{"x":"2026-02-28T12:00:00Z"}`, ""},
		{"yes", `{"type":"boolean"}`, choose(0), `{"x":true}`, ""},
		{"no", `{"type":"boolean"}`, choose(1), `{"x":false}`, ""},
		{"one", `{"oneOf":[{"const":"a","title":"Ay"},{"const":2,"title":"Bee"}]}`, choose(1), `{"x":2}`, ""},
		{"several in the order of the options", `{"type":"array","items":{"enum":["a","b","c"]}}`, choose(2, 0), `{"x":["a","c"]}`, ""},
		{"none of several", `{"type":"array","items":{"enum":["a","b"]}}`, choose(1, 1), `{"x":[]}`, ""},
		{"too few of several", `{"type":"array","items":{"enum":["a","b"]},"minItems":2}`, choose(1), `{"x":["b"]}`, "at least 2"},
		{"null", `{"type":["string","null"]}`, Field.SetNull, `{"x":null}`, ""},
		{"null where it may not be", `{"type":"string"}`, Field.SetNull, `{}`, ""},
		{"JSON", `{}`, text(" {\"a\":\n [1e400]} "), `{"x":{"a":[1e400]}}`, ""},
		{"no JSON", `{}`, text(`{`), `{"x":"{"}`, "not valid JSON: line 1"},
		{"cleared", `{"type":"string"}`, func(f Field) { f.SetText("a"); f.Clear() }, `{}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := one(t, tt.property, Options{})
			v := f.New()
			tt.enter(at(t, f, v, "/x"))
			if got := string(f.JSON(v)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			problems, err := f.Check(v)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case tt.problem == "" && len(problems) > 0, tt.problem != "" && len(problems) != 1:
				t.Errorf("problems: %+v", problems)
			case tt.problem != "" && (!strings.Contains(problems[0].Text, tt.problem) || problems[0].Path != "/x"):
				t.Errorf("problem %+v, want %q", problems[0], tt.problem)
			case tt.problem != "" && problems[0].Soft != strings.Contains(tt.property, "format"):
				t.Errorf("soft: %t", problems[0].Soft)
			}
		})
	}
}

const trip = `{"type":"object","properties":{
	"who":{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name"]},
	"stops":{"type":"array","items":{"type":"object","properties":{"town":{"type":"string"}},"required":["town"]},"maxItems":3},
	"by":{"oneOf":[{"type":"object","title":"Train","properties":{"kind":{"const":"train"},"class":{"type":"integer"}},"required":["kind","class"]},
		{"type":"object","title":"Car","properties":{"kind":{"const":"car"},"plate":{"type":"string"}},"required":["kind","plate"]},{"type":"string"}]}},
	"required":["who"]}`

func TestNestedFieldsListsAndAlternatives(t *testing.T) {
	f := parsed(t, trip, Options{})
	v := f.New()
	problems, _ := f.Check(v)
	if len(problems) != 1 || problems[0].Path != "/who/name" || problems[0].Text != "an answer is required" {
		t.Errorf("untouched: %+v", problems)
	}
	at(t, f, v, "/who/name").SetText("Ana")
	stops := at(t, f, v, "/stops")
	for i, town := range []string{"Rome", "Oslo", "Bern"} {
		stops.Add()
		at(t, f, v, fmt.Sprintf("/stops/%d/town", i)).SetText(town)
	}
	if _, more := at(t, f, v, "/stops").Entries(); more {
		t.Error("a fourth stop may be added")
	}
	at(t, f, v, "/stops/2").Move(-2)
	at(t, f, v, "/stops/1").Remove()
	by := at(t, f, v, "/by")
	by.Choose(1)
	at(t, f, v, "/by/plate").SetText("B 7")
	by.Choose(0)
	problems, _ = f.Check(v)
	if len(problems) != 2 || problems[0].Path != "/by/kind" || problems[1].Path != "/by/class" {
		t.Errorf("the alternative's: %+v", problems)
	}
	by.Choose(1)
	at(t, f, v, "/by/kind").Choose(0)
	want := `{"who":{"name":"Ana"},"stops":[{"town":"Bern"},{"town":"Oslo"}],"by":{"kind":"car","plate":"B 7"}}`
	if got := string(f.JSON(v)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if problems, err := f.Check(v); err != nil || len(problems) > 0 {
		t.Errorf("%+v %v", problems, err)
	}
}

func TestJSONIsReadIntoTheFields(t *testing.T) {
	tests := []struct{ name, raw, want string }{
		{"all", `{"who":{"name":"Ana","age":9007199254740993},"stops":[{"town":"Rome"}],"by":{"kind":"car","plate":"x"}}`, ""},
		{"an alternative of another kind", `{"who":{"name":""},"by":"foot"}`, ""},
		{"what has no field", `{"who":{"name":"a","shoe":1},"more":[1,2]}`, ""},
		{"what does not fit", `{"who":[],"stops":{"a":1},"by":7}`, ""},
		{"another order", `{"stops":[],"who":{"name":"a"}}`, `{"who":{"name":"a"},"stops":[]}`},
	}
	f := parsed(t, trip, Options{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := f.Read(json.RawMessage(tt.raw))
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" {
				tt.want = tt.raw
			}
			if got := string(f.JSON(v)); got != tt.want {
				t.Errorf("got %s\nwant %s\n%s", got, tt.want, outline(f.Fields(v)))
			}
		})
	}
	for _, raw := range []string{`{"a":1,}`, `[]`, `{"a":1,"a":2}`, ``} {
		if _, err := f.Read(json.RawMessage(raw)); err == nil {
			t.Errorf("%s was read", raw)
		}
	}
}

// MCP wants the defaults of a form to be its first values; a tool's are only shown.
func TestDefaultsAreSentWhereTheFormStartsWithThem(t *testing.T) {
	const schema = `{"properties":{"a":{"type":"string","default":"d"},"b":{"type":"integer","default":3},"c":{"type":"array","items":{"enum":["x","y"]},"default":["y"]},"d":{"type":"boolean"}}}`
	f := parsed(t, schema, Options{Prefill: true})
	v := f.New()
	if got := string(f.JSON(v)); got != `{"a":"d","b":3,"c":["y"]}` || !v.Empty() {
		t.Errorf("prefilled: %s, empty %t", got, v.Empty())
	}
	at(t, f, v, "/b").Clear()
	at(t, f, v, "/a").SetText("e")
	if got := string(f.JSON(v)); got != `{"a":"e","c":["y"]}` || v.Empty() {
		t.Errorf("changed: %s, empty %t", got, v.Empty())
	}
	f = parsed(t, schema, Options{})
	v = f.New()
	if got := string(f.JSON(v)); got != `{}` || at(t, f, v, "/c").Suggested() != "y" || at(t, f, v, "/a").Suggested() != "d" {
		t.Errorf("shown: %s", got)
	}
}

func TestSchemasThatCannotBeCheckedSaySo(t *testing.T) {
	wide := `{"a0":{}`
	for i := range 30 {
		wide += fmt.Sprintf(`,"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]}`, i+1, i, i)
	}
	for name, schema := range map[string]string{
		"another document": `{"properties":{"x":{"$ref":"file:///etc/passwd"}}}`,
		"a bad pattern":    `{"properties":{"x":{"type":"string","pattern":"(?=a)"}}}`,
		"a huge exponent":  `{"properties":{"x":{"type":"number","minimum":1e999999999}}}`,
		"endless ways":     `{"properties":{"x":{"$ref":"#/$defs/a30"}},"$defs":` + wide + `}}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := parsed(t, schema, Options{})
			if _, err := f.Check(f.New()); err == nil {
				t.Error("it was checked")
			}
		})
	}
	f := one(t, `{"type":"number"}`, Options{})
	v := f.New()
	at(t, f, v, "/x").SetText("1e999999999")
	if _, err := f.Check(v); err == nil {
		t.Error("a huge number was checked")
	}
}

func TestFieldsForSecretsAreFound(t *testing.T) {
	f := parsed(t, `{"properties":{"apiKey":{"type":"string"},"max_tokens":{"type":"integer"},"GITHUB_TOKEN":{"type":"string"},"a":{"type":"string","title":"Your password"},"b":{"type":"string","format":"password"},"secretary":{"type":"string"},"keyboard":{"type":"string"}}}`, Options{})
	if got := Secrets(f.Fields(f.New())); !slices.Equal(got, []string{"apiKey", "GITHUB TOKEN", "Your password", "b"}) {
		t.Errorf("got %q", got)
	}
}

// A change to a copy does not reach the original.
func TestCloneSharesNothing(t *testing.T) {
	f := parsed(t, trip, Options{})
	v, err := f.Read(json.RawMessage(`{"who":{"name":"Ana"},"stops":[{"town":"Rome"}],"by":{"kind":"car","plate":"x"},"more":1}`))
	if err != nil {
		t.Fatal(err)
	}
	before := string(f.JSON(v))
	c := v.Clone()
	for _, field := range f.Fields(c) {
		switch field.Role {
		case Added:
			field.Add()
		default:
			field.Clear()
		}
	}
	if after := string(f.JSON(v)); after != before {
		t.Errorf("before %s\nafter %s", before, after)
	}
}
