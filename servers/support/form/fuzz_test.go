package form

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// Whatever the schema and the input: nothing panics, what comes out is JSON, reading it
// gives the same, and where no problem was found the library finds none either.
func FuzzForm(f *testing.F) {
	f.Add(trip, "Rome", uint8(3), `{"who":{"name":"Ana"},"by":"foot","z":1}`)
	f.Add(`{"properties":{"n":{"type":"integer","minimum":0,"default":3,"title":"N"},"next":{"$ref":"#"}}}`, "7", uint8(1), `{"n":1e3}`)
	f.Add(`{"properties":{"a":{"anyOf":[{"type":"number"},{"type":"null"}]},"b":{"type":"array","items":{"enum":["x",1,null,{"a":1}]}}},"required":["a"]}`, "-1.5", uint8(200), `{"b":["x","x"]}`)
	f.Add(`{"oneOf":[{"$ref":"#/$defs/a"},{"allOf":[{"$ref":"#"}]}],"$defs":{"a":{"properties":{"p":{"type":"string","pattern":"^.$"}}}}}`, "é", uint8(9), `{"p":"q"}`)
	f.Add("\x01\x05\x08\x02\x03\x07\x04", "a", uint8(0), `{}`)
	f.Fuzz(func(t *testing.T, schema, text string, choice uint8, raw string) {
		if !json.Valid([]byte(schema)) {
			g := grower{seed: schema}
			schema = `{"$defs":{"a":` + g.schema(0) + `,"b":` + g.schema(0) + `},"properties":{"x":` + g.schema(0) + `,"y":` + g.schema(0) + `},"required":["x"]}`
		}
		for _, prefill := range []bool{false, true} {
			form, err := Parse(json.RawMessage(schema), Options{Prefill: prefill})
			if err != nil {
				return
			}
			v := form.New()
			for range 3 { // each round fills in what the one before has opened
				for i, field := range form.Fields(v) {
					if i == 50 {
						break
					}
					fillIn(field, text, int(choice)+i)
				}
			}
			held(t, form, v)
			if v, err := form.Read(json.RawMessage(raw)); err == nil {
				held(t, form, v)
			}
		}
	})
}

// grower makes schemas of bytes.
type grower struct {
	seed string
	at   int
}

func (g *grower) pick(n int) int {
	if g.at >= len(g.seed) {
		return 0
	}
	g.at++
	return int(g.seed[g.at-1]) % n
}

func (g *grower) schema(depth int) string {
	scalars := []string{
		`{"type":"string"}`, `{"type":"integer","default":1}`, `{"type":"number","maximum":9}`, `{"type":"boolean"}`, `{"enum":["x",1,null,{"a":1}]}`,
		`{"const":"k"}`, `{"type":["string","null"],"maxLength":3}`, `{}`, `{"type":"array","items":{"enum":["p","q"]},"minItems":1}`,
		`{"oneOf":[{"const":"a","title":"A"},{"const":"b","title":"A"}]}`, `{"type":"string","format":"email"}`, `true`, `{"type":["integer","string"]}`,
	}
	if depth > 3 {
		return scalars[g.pick(len(scalars))]
	}
	switch g.pick(8) {
	case 0:
		return `{"type":"object","properties":{"m":` + g.schema(depth+1) + `,"n":` + g.schema(depth+1) + `},"required":["n"]}`
	case 1:
		return `{"type":"array","items":` + g.schema(depth+1) + `}`
	case 2:
		return `{"oneOf":[` + g.schema(depth+1) + `,` + g.schema(depth+1) + `]}`
	case 3:
		return `{"anyOf":[` + g.schema(depth+1) + `,{"type":"null"}]}`
	case 4:
		return `{"$ref":"#/$defs/` + []string{"a", "b"}[g.pick(2)] + `","title":"T"}`
	case 5:
		return `{"allOf":[` + g.schema(depth+1) + `]}`
	}
	return scalars[g.pick(len(scalars))]
}

// Schemas of all shapes in one run, since fuzzing is not done with each.
func TestSchemasOfAllShapes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 600 {
		seed := make([]byte, 40)
		for i := range seed {
			seed[i] = byte(r.IntN(256))
		}
		g := grower{seed: string(seed)}
		schema := `{"$defs":{"a":` + g.schema(0) + `,"b":` + g.schema(0) + `},"properties":{"x":` + g.schema(0) + `,"y":` + g.schema(0) + `},"required":["x"]}`
		form := parsed(t, schema, Options{Prefill: n%2 == 0})
		v := form.New()
		for range 3 {
			for i, field := range form.Fields(v) {
				fillIn(field, []string{"7", "a", `{"a":1}`, ""}[r.IntN(4)], r.IntN(200)+i)
			}
		}
		held(t, form, v)
		if t.Failed() {
			t.Fatal(schema)
		}
	}
}

func fillIn(f Field, text string, choice int) {
	switch {
	case f.Role == Added:
		if n, more := f.Entries(); more && n < 2 {
			f.Add()
		}
	case f.Role == Extra || choice%7 == 6:
		f.Clear()
	case choice%11 == 10:
		f.SetNull()
	case f.Closed():
		f.Open()
	case f.Kind() == Choice || f.Kind() == Variant:
		f.Choose(choice % len(f.Shape.Options))
	case f.Kind() == Several:
		f.Toggle(choice % len(f.Shape.Options))
	default:
		f.SetText(text)
	}
	f.Words()
	f.Suggested()
}

func held(t *testing.T, form *Form, v *Value) {
	t.Helper()
	raw := form.JSON(v)
	if !json.Valid(raw) || raw[0] != '{' {
		t.Fatalf("not an object: %s", raw)
	}
	problems, err := form.Check(v)
	if err == nil && len(problems) == 0 {
		if schema, err := form.checker(); err == nil {
			var doc any
			d := json.NewDecoder(strings.NewReader(string(raw)))
			d.UseNumber()
			if d.Decode(&doc) == nil && schema.Validate(doc) != nil {
				t.Errorf("no problem was found with %s", raw)
			}
		}
	}
	again, err := form.Read(raw)
	if err != nil {
		t.Fatalf("%s cannot be read: %v", raw, err)
	}
	if got := form.JSON(again); string(got) != string(raw) {
		t.Errorf("read again: %s\nwas: %s", got, raw)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the same values written otherwise would look like others
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	var back Value
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if got := form.JSON(&back); string(got) != string(raw) {
		t.Errorf("stored and loaded: %s\nwas: %s", got, raw)
	}
}
