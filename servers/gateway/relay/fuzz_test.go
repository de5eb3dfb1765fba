package relay

import (
	"testing"
)

func FuzzAnswerID(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":"a","result":{}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":`))
	f.Fuzz(func(_ *testing.T, line []byte) {
		_ = answerID(line) // must not panic on what is no JSON
	})
}
