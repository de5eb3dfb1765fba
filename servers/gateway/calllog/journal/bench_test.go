package journal

import (
	"path/filepath"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/redact"
)

// BenchmarkInsert is the writer's work for one call of a full batch.
func BenchmarkInsert(b *testing.B) {
	s, err := openDisk(b.Context(), Options{Path: filepath.Join(b.TempDir(), "journal.db")})
	if err != nil {
		b.Fatal(err)
	}
	defer s.close()
	n := 0
	for b.Loop() {
		b.StopTimer()
		items := make([]item, batchCalls)
		for i := range items {
			n++
			items[i].call, items[i].body = call(n)
		}
		b.StartTimer()
		if err := s.insert(b.Context(), 1, items); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(n), "µs/call")
}

// BenchmarkRedact is what happens to the bodies of one small call.
func BenchmarkRedact(b *testing.B) {
	_, body := call(1)
	for b.Loop() {
		redact.Rules{}.Body(redact.Kind{Abridge: "content"}, false, body.Args)
		redact.Rules{}.Body(redact.Kind{Abridge: "content"}, true, body.Result)
	}
}
