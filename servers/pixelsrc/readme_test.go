package pixelsrc

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeListsTheServer compares the page with what the server offers.
func TestReadmeListsTheServer(t *testing.T) {
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	var want []string
	for _, tool := range New(Options{}).Tools() {
		want = append(want, tool.Name)
	}
	for _, r := range append(Resources(), Templates()...) {
		want = append(want, r.URI)
	}
	for _, p := range Prompts() {
		want = append(want, p.Name)
	}
	for _, w := range want {
		if !strings.Contains(page, "`"+w+"`") {
			t.Errorf("the page lacks %s", w)
		}
	}
	for _, tool := range New(Options{}).Tools() {
		if !strings.Contains(guideFull(), tool.Name) {
			t.Errorf("the guide lacks %s", tool.Name)
		}
	}
}
