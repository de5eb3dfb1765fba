package form

import (
	"strings"
	"testing"
)

func TestWhatDoesNotFitASchemaIsSaidInItsWords(t *testing.T) {
	const schema = `{"type":"object","required":["city"],"properties":{"city":{"type":"string"},"days":{"$ref":"#/$defs/n"},"units":{"enum":["c","f"]}},` +
		`"additionalProperties":false,"$defs":{"n":{"type":"integer","maximum":9}}}`
	for raw, want := range map[string]string{
		`{"city":"Rome"}`:                       "",
		`{"city":"Rome","days":3,"units":"c"}`:  "",
		`{}`:                                    "missing property 'city'",
		`{"city":1,"days":"3"}`:                 "/city: got number, want string|/days: got string, want integer",
		`{"city":"Rome","days":10,"units":"k"}`: "/days: maximum: got 10, want 9|/units: value must be one of 'c', 'f'",
		`{"city":"Rome","town":1}`:              "additional properties 'town' not allowed",
		`[]`:                                    "got array, want object",
		`{`:                                     "",
	} {
		got := Against([]byte(schema), []byte(raw))
		for _, part := range strings.Split(want, "|") {
			if all := strings.Join(got, "|"); (want == "") != (all == "") || !strings.Contains(all, part) {
				t.Errorf("%s: got %q, want %q", raw, all, part)
			}
		}
	}
	for _, unusable := range []string{``, `[]`, `{"$ref":"https://other.example/schema"}`, `{"type":7}`} {
		if got := Against([]byte(unusable), []byte(`{}`)); got != nil {
			t.Errorf("the schema %s says %q", unusable, got)
		}
	}
	if got := Against([]byte(`{"items":{"type":"string"}}`), []byte(`[`+strings.Repeat("1,", 99)+`1]`)); len(got) != maxAgainst {
		t.Errorf("%d mistakes at once", len(got))
	}
}

func TestAMistakeInAListIsSaidWithItsPlace(t *testing.T) {
	const schema = `{"prefixItems":[{"type":"string"},{"type":"string"}],"items":{"type":"integer"}}`
	if got := Against([]byte(schema), []byte(`["a","b",3,"d"]`)); len(got) != 1 || got[0] != "/3: got string, want integer" {
		t.Errorf("got %q", got)
	}
}
