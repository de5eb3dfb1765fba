package ask

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestParseQuestions(t *testing.T) {
	long := strings.Repeat("x", 70<<10)
	manyOptions := `[` + strings.TrimSuffix(strings.Repeat(`"o",`, 200), ",") + `]`
	tests := []struct {
		name, in string
		want     string // of the error; "" for none
		check    func(qs []Question) any
		is       any
	}{
		{"list in a string", `" [{\"question\":\"A?\"}] "`, "", func(q []Question) any { return len(q) }, 1},
		{"one object", `{"question":"A?"}`, "", func(q []Question) any { return q[0].Kind }, Text},
		{"string that is no JSON", `"nope"`, "questions is a string that is not a JSON list", nil, nil},
		{"other names", `[{"prompt":"A?","choices":["x","y"],"multiSelect":true}]`, "", func(q []Question) any {
			return fmt.Sprint(q[0].Question, len(q[0].Options), q[0].Multi)
		}, "A?2 true"},
		{"official name wins", `[{"text":"B?","question":"A?"}]`, "", func(q []Question) any { return q[0].Question }, "A?"},
		{"recommended: fraction of zero", `[{"question":"A?","options":["x","y"],"recommended":1.0}]`, "", rec, []int{1}},
		{"recommended: digits", `[{"question":"A?","options":["x","y"],"recommended":"1"}]`, "", rec, []int{1}},
		{"recommended: label", `[{"question":"A?","options":["x","y"],"recommended":"y"}]`, "", rec, []int{1}},
		{"recommended: label of digits wins over the index", `[{"question":"A?","options":["1","2","3"],"recommended":"2"}]`, "", rec, []int{1}},
		{"recommended: list for multi", `[{"question":"A?","multi":true,"options":["x","y","z"],"recommended":["z",0]}]`, "", rec, []int{0, 2}},
		{"recommended: list for single is ignored", `[{"question":"A?","options":["x","y"],"recommended":[1]}]`, "", rec, []int(nil)},
		{"recommended: out of range", `[{"question":"A?","options":["x","y"],"recommended":9}]`, "", rec, []int(nil)},
		{"recommended: negative", `[{"question":"A?","options":["x","y"],"recommended":-1}]`, "", rec, []int(nil)},
		{"recommended: fraction", `[{"question":"A?","options":["x","y"],"recommended":0.5}]`, "", rec, []int(nil)},
		{"recommended: null", `[{"question":"A?","options":["x","y"],"recommended":null}]`, "", rec, []int(nil)},
		{"recommended: label in brackets", `[{"question":"A?","options":["x","[Recommended] y"]}]`, "", rec, []int{1}},
		{"recommended: indexes count before other is taken out", `[{"question":"A?","options":["Other","x","y"],"recommended":2}]`, "", rec, []int{1}},
		{"ids are made up", `[{"question":"A?","id":"q2"},{"question":"B?"},{"question":"C?","id":" "}]`, "", func(q []Question) any {
			return q[0].ID + q[1].ID + q[2].ID
		}, "q2q3q4"},
		{"other goes", `[{"question":"A?","options":["x"," OTHER… ","y"]}]`, "", func(q []Question) any { return len(q[0].Options) }, 2},
		{"other stays", `[{"question":"A?","allowOther":false,"options":["x","other"]}]`, "", func(q []Question) any { return len(q[0].Options) }, 2},
		{"recommended other", `[{"question":"A?","options":["x","other"],"recommended":1}]`, "", func(q []Question) any { return q[0].OtherFirst }, true},
		{"CRLF", `[{"question":"A\r\nB\r\r\nC\rD","options":["a\r\nb"]}]`, "", func(q []Question) any {
			return q[0].Question + q[0].Options[0].Label
		}, "A\nB\nC\nDa\r\nb"},
		{"backslash n", `[{"question":"A\\nB"},{"question":"A\\nB\nC"}]`, "", func(q []Question) any { return q[0].Question + q[1].Question }, "A\nBA\\nB\nC"},
		{"no questions", `[]`, "questions must not be empty", nil, nil},
		{"questions absent", ``, "questions is missing: pass a list of 1 to 20 questions", nil, nil},
		{"21 questions", `[` + strings.TrimSuffix(strings.Repeat(`{"question":"A?"},`, 21), ",") + `]`, "too many questions: 21 (limit 20)", nil, nil},
		{"blank question", `[{"question":" "}]`, "question 1 (q1): has no question text", nil, nil},
		{"long question", `[{"question":"` + long + `"}]`, "question 1 (q1): question is longer than 8192 bytes", nil, nil},
		{"long description", `[{"question":"A?","description":"` + long + `"}]`, "question 1 (q1): description is longer than 65536 bytes", nil, nil},
		{"question that is no object", `[7]`, "question 1: is not an object", nil, nil},
		{"200 options", `[{"question":"A?","options":` + manyOptions + `}]`, "question 1 (q1): too many options: 200 (limit 50)", nil, nil},
		{"option without a label", `[{"id":"a","question":"A?"},{"id":"cache","question":"B?","options":["x","y",{"description":"d"}]}]`, "question 2 (cache): option 3 has no label", nil, nil},
		{"label twice", `[{"question":"A?","options":["x"," x "]}]`, `question 1 (q1): option 2 has the duplicate label "x"`, nil, nil},
		{"id twice", `[{"question":"A?","id":"a"},{"question":"B?","id":"a"}]`, `question 2: duplicate id "a"`, nil, nil},
		{"text with options", `[{"question":"A?","kind":"text","options":["x"]}]`, "", func(q []Question) any { return q[0].Kind }, Choice},
		{"nothing to answer with", `[{"question":"A?","kind":"choice","allowOther":false}]`, "question 1 (q1): has neither options nor free text, so it cannot be answered", nil, nil},
		{"min above max", `[{"question":"A?","multi":true,"options":["x","y","z"],"minSelect":3,"maxSelect":2}]`, "question 1 (q1): minSelect 3 is greater than maxSelect 2", nil, nil},
		{"min above options", `[{"question":"A?","multi":true,"options":["x"],"minSelect":2}]`, "question 1 (q1): minSelect 2 is greater than the number of options, 1", nil, nil},
		{"confirm", `[{"question":"A?","kind":"confirm","recommended":"No"}]`, "", func(q []Question) any { return fmt.Sprint(q[0].Options[1].Label, q[0].Recommended) }, "No[1]"},
		{"at most five problems", `[1,2,3,4,5,6,7]`, "question 1: is not an object; question 2: is not an object; question 3: is not an object; question 4: is not an object; question 5: is not an object; and 2 more", nil, nil},
		{"unknown fields", `[{"question":"A?","colour":"red"}]`, "", func(q []Question) any { return q[0].ID }, "q1"},
		{"duplicate keys: the last wins", `[{"question":"A?","question":"B?"}]`, "", func(q []Question) any { return q[0].Question }, "B?"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			qs, err := ParseQuestions(json.RawMessage(tt.in))
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Fatalf("error %q, want %q", got, tt.want)
			}
			if tt.check != nil && !reflect.DeepEqual(tt.check(qs), tt.is) {
				t.Errorf("got %#v, want %#v", tt.check(qs), tt.is)
			}
		})
	}
}

func rec(qs []Question) any { return qs[0].Recommended }

func FuzzParseQuestions(f *testing.F) {
	for _, s := range []string{`[]`, twoWays, `"[{\"question\":\"x\"}]"`, `[{"question":"A?","options":["x","other"],"recommended":[1],"multi":"true"}]`, `{"question":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		qs, err := ParseQuestions(raw)
		if err != nil {
			return
		}
		ids := map[string]bool{}
		for _, q := range qs {
			if q.ID == "" || ids[q.ID] || strings.TrimSpace(q.Question) == "" || q.Rows() == 0 {
				t.Fatalf("invalid question came through: %+v", q)
			}
			ids[q.ID] = true
		}
		d := NewDraft(qs)
		d.FirstOpen(qs)
		if n := len(d.Results(qs)); n != len(qs) {
			t.Fatalf("%d results for %d questions", n, len(qs))
		}
	})
}
