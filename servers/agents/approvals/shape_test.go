package approvals_test

import (
	"fmt"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
)

func TestALineIsComparedWithTheShapesOfItsKind(t *testing.T) {
	shapes := approvals.Shapes{
		{Name: "asks", When: "type=asks|begs", In: "data", Fields: "id string, mode string?=a b|c, list[].label string", Also: "at number"},
		{Name: "asks you", When: "type=asks data.tool=you", Fields: "data.input any, data.flag boolean"},
	}
	for _, tt := range []struct{ name, line, want, err string }{
		{"as it should be", `{"type":"begs","data":{"id":"1","mode":"a b","list":[{"label":"x"}],"at":1,"more":{}}}`, "[asks] []", "<nil>"},
		{"another kind", `{"type":"other"}`, "[] []", "<nil>"},
		{"no JSON", `{`, "[] []", "<nil>"},
		{"a field less", `{"type":"asks","data":{"list":[],"at":1}}`, "[asks] [asks: field id missing]", "asks: field id missing"},
		{"a field less that the deck can do without", `{"type":"asks","data":{"id":"1","list":[]}}`, "[asks] [asks: field at missing]", "<nil>"},
		{"null", `{"type":"asks","data":{"id":null,"mode":null,"list":[],"at":1}}`, "[asks] [asks: field id missing]", "asks: field id missing"},
		{"another type", `{"type":"asks","data":{"id":7,"list":"x","at":1}}`, "[asks] [asks: field id is number, not string asks: field list is string, not array]", "asks: field id is number, not string"},
		{"in one of several", `{"type":"asks","data":{"id":"1","list":[{"label":"x"},{}],"at":1}}`, "[asks] [asks: field list[].label missing]", "asks: field list[].label missing"},
		{"a new value", `{"type":"asks","data":{"id":"1","mode":"d","list":[],"at":1}}`, `[asks] [asks: field mode has a new value "d"]`, "<nil>"},
		{"of two kinds", `{"type":"asks","data":{"tool":"you","id":"1","list":[],"at":1,"flag":true}}`, "[asks asks you] [asks you: field data.input missing]", "asks you: field data.input missing"},
		{"without the object that has the fields", `{"type":"asks"}`, "[asks] [asks: field id missing asks: field list missing asks: field at missing]", "asks: field id missing"},
	} {
		kinds, differ := shapes.Compare([]byte(tt.line))
		if got, err := fmt.Sprint(kinds, differ), fmt.Sprint(shapes.Err([]byte(tt.line))); got != fmt.Sprint(tt.want) || err != tt.err {
			t.Errorf("%s: %s, %s", tt.name, got, err)
		}
	}
}
