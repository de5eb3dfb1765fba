package redact

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// lines reads a list of texts.
func lines(t *testing.T, name string) []string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(b)) {
		if !strings.HasPrefix(line, "# ") {
			out = append(out, strings.ReplaceAll(strings.TrimSuffix(line, "\n"), `\n`, "\n"))
		}
	}
	if len(out) < 200 {
		t.Fatalf("%s has %d texts", name, len(out))
	}
	return out
}

// kept are the ways in which a text is in a log, each with what is kept of it.
func kept(t *testing.T, text string) map[string]string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"x": []string{"see", text}})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{"Text": Rules{}.Text(text)}
	for name, kind := range map[string]Kind{"an argument": {}, "a picture's argument": {Colours: true}} {
		var got struct{ X []string }
		if err := json.Unmarshal(Rules{}.Body(kind, false, body), &got); err != nil || len(got.X) != 2 {
			t.Fatalf("%s of %s: %v", name, body, err)
		}
		out[name] = got.X[1]
	}
	if !json.Valid([]byte(text)) {
		out["between lines"] = strings.TrimSuffix(strings.TrimPrefix(Rules{}.Text("one\n"+text+"\ntwo"), "one\n"), "\ntwo")
	} else {
		out["a body"] = string(Rules{}.Body(Kind{}, false, json.RawMessage(text)))
		out["a picture's body"] = string(Rules{}.Body(Kind{Colours: true}, true, json.RawMessage(text)))
	}
	return out
}

func TestSecretsOfProjectsAreNotKept(t *testing.T) {
	secret := regexp.MustCompile(`«([^»]*)»`)
	for _, line := range lines(t, "secrets.txt") {
		text := secret.ReplaceAllString(line, "$1")
		for how, got := range kept(t, text) {
			for _, m := range secret.FindAllStringSubmatch(line, -1) {
				if strings.Contains(got, m[1]) {
					t.Errorf("%s keeps %q of %q", how, m[1], text)
				}
			}
		}
	}
}

func TestLinesOfProjectsAreKept(t *testing.T) {
	for _, text := range lines(t, "harmless.txt") {
		for how, got := range kept(t, text) {
			want := text
			if strings.HasSuffix(how, "body") {
				want = compact(text)
			}
			if got != want {
				t.Errorf("%s makes %q of %q", how, got, text)
			}
		}
	}
}

func compact(text string) string {
	var b strings.Builder
	inside := false
	for i := range len(text) {
		if text[i] == '"' {
			inside = !inside
		}
		if inside || text[i] != ' ' {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// TestAKeyOfAMemoryMayBeASecret holds that a caller who takes a secret for the key of what it
// remembers does not have it logged.
func TestAKeyOfAMemoryMayBeASecret(t *testing.T) {
	memory := Kind{Keep: []string{"action", "key"}}
	for _, key := range []string{hush, "ghp_0123456789abcdefghijklmnopqrstuvwxyz", "db_password=" + hush, "machine h.example.com login ada password " + hush} {
		for _, result := range []bool{false, true} {
			body, err := json.Marshal(map[string]any{"action": "read", "key": key, "structuredContent": map[string]any{"key": key, "found": false}})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(Rules{}.Body(memory, result, body)); strings.Contains(got, hush) || strings.Contains(got, "ghp_0") {
				t.Errorf("kept %s", got)
			}
		}
	}
	for _, key := range []string{"favourite-colour", "notes 2026-05-01", "user_42_prefs", "e2e"} {
		if got := string(Rules{}.Body(memory, false, json.RawMessage(`{"action":"read","key":"`+key+`"}`))); !strings.Contains(got, key) {
			t.Errorf("did not keep %s: %s", key, got)
		}
	}
}
