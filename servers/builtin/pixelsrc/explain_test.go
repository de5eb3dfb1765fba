package pixelsrc

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestEveryExampleIsExplained(t *testing.T) {
	for _, name := range Examples() {
		src := New(Options{}).Parse(noContext(), Caller{}, Example(name))
		e, err := src.Explain(noContext(), nil, 0)
		if err != nil || !json.Valid([]byte(e.JSON)) {
			t.Errorf("%s: %v, %.100s", name, err, e.JSON)
		}
		for _, o := range src.Objects() {
			if o.Name != "" && !strings.Contains(e.Text, ": "+o.Name+"\n") {
				t.Errorf("%s: nothing is said of %s", name, o.Name)
			}
		}
	}
}
