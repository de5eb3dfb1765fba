package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

// BenchmarkBody is the redaction of calls as agents make them.
func BenchmarkBody(b *testing.B) {
	edit, err := json.Marshal(map[string]any{"path": "src/a.ts", "old": "const a = 1;", "new": strings.Repeat("const { token, user } = useSession();\nif (a === b) { c = { d: e, f: \"g\" } }\n", 200)})
	if err != nil {
		b.Fatal(err)
	}
	result, err := json.Marshal(map[string]any{"content": []any{map[string]string{"type": "text", "text": strings.Repeat("src/auth/session.ts:12:5 level=info msg=\"loaded\" url=https://example.com/a?b=c — done…\n", 200)}}})
	if err != nil {
		b.Fatal(err)
	}
	small := json.RawMessage(`{"command":"go test -run TestX ./servers/...","timeout":1000,"description":"Run the tests"}`)
	for name, body := range map[string]json.RawMessage{"edit": edit, "result": result, "small": small} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				Rules{}.Body(Kind{}, false, body)
			}
		})
	}
}
