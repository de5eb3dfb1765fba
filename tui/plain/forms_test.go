package plain

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/ask"
)

func TestAFormIsFilledInFieldByField(t *testing.T) {
	const schema = `{"type":"object","required":["name"],"properties":{
		"name":{"type":"string","title":"Name","minLength":2},"nights":{"type":"integer","default":3},
		"class":{"enum":["1","2"],"enumNames":["first class","second class"]},"quiet":{"type":"boolean"},
		"extras":{"type":"array","items":{"enum":["a","b","c"]}},
		"at":{"type":"object","properties":{"street":{"type":"string"}}},
		"stops":{"type":"array","items":{"type":"string"}},"token":{"type":"string"}}}`
	tests := []struct {
		name  string
		lines []string
		want  string
		said  []string
	}{
		{
			"every kind",
			[]string{"Ana", "9007199254740993", "second", "y", "1 3", "High St", `["Rome"]`, "/skip"},
			`{"name":"Ana","nights":9007199254740993,"class":"2","quiet":true,"extras":["a","c"],"at":{"street":"High St"},"stops":["Rome"]}`,
			[]string{"looks like a secret: token", "Field 1 of 8, required: Name", "now: 3; /skip keeps it", "2. second class", "Type JSON"},
		},
		{
			"what does not fit is asked again",
			[]string{"A", "Ana", "many", "7", "class", "2", "/skip", "/skip", "/skip", "[", "/skip", "/skip"},
			`{"name":"Ana","nights":7,"class":"2"}`,
			[]string{"at least 2 are required", `"many" is not a number`, "several options", "not valid JSON"},
		},
		{
			"back, and words that look like a command",
			[]string{"/text /etc", "/back", "Bo", "/skip", "/skip", "no", "/skip", "/skip", "/skip", "/skip"},
			`{"name":"Bo","nights":3,"quiet":false}`,
			[]string{"now: /etc"},
		},
		{
			"nothing is sent without what is required",
			[]string{"/skip", "/skip", "/skip", "/skip", "/skip", "/skip", "/skip", "/skip", "Ana", "/skip", "/skip", "/skip", "/skip", "/skip", "/skip", "/skip"},
			`{"name":"Ana","nights":3}`,
			[]string{"not sent: question \"form\": Name: an answer is required"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run(t, Options{}, func(s *talk) {
				qs, err := ask.FormQuestions("Which journey?", json.RawMessage(schema))
				if err != nil {
					t.Fatal(err)
				}
				c, err := s.queue.Open(ask.Request{Questions: qs, Local: true, From: ask.From{Client: "Trains"}})
				if err != nil {
					t.Fatal(err)
				}
				var said strings.Builder
				said.WriteString(s.said())
				for _, l := range tt.lines {
					said.WriteString(s.type_(l))
				}
				has(t, said.String(), tt.said...)
				select {
				case <-c.Done():
				default:
					t.Fatalf("nothing was sent:\n%s", said.String())
				}
				r, err := c.Reply()
				if err != nil || string(r.Results[0].Content) != tt.want {
					t.Errorf("got %s, %v\nwant %s", r.Results[0].Content, err, tt.want)
				}
			})
		})
	}
}
