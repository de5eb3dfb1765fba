package transport

import (
	"bytes"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

func FuzzHello(f *testing.F) {
	f.Add([]byte(`{"mcpdeck":1,"servers":["ask"],"cwd":"/x","pid":3}` + "\n"))
	f.Add([]byte("GET / HTTP/1.1\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		h, err := readHello(rpc.NewLines(bytes.NewReader(in), helloLimit))
		if err == nil && h.Mcpdeck != helloVersion {
			t.Fatalf("%q was taken as %+v", in, h)
		}
	})
}
