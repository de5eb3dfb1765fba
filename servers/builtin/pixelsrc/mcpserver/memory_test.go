package mcpserver

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// What many imports at once take is what those that run at once take, not what all
// that were asked for would.
func TestManyImportsTakeTheMemoryOfAFew(t *testing.T) {
	noise := image.NewNRGBA(image.Rect(0, 0, 120, 120))
	seed := uint32(1)
	for i := range noise.Pix {
		seed = seed*1664525 + 1013904223
		if noise.Pix[i] = byte(seed >> 24); i%4 == 3 {
			noise.Pix[i] = 255
		}
	}
	var file bytes.Buffer
	if err := png.Encode(&file, noise); err != nil {
		t.Fatal(err)
	}
	m := handling(pixelsrc.Options{})
	m.limit = time.Hour
	h, err := router.New(router.Options{
		Servers: []backend.Server{m.inDeck("1")}, Limits: admission.Limits{Slots: 3, AgentQueue: 100},
	})
	if err != nil {
		t.Fatal(err)
	}
	h.Start()
	v, err := h.View(router.ViewSpec{})
	if err != nil {
		t.Fatal(err)
	}
	agent := h.Connect(snapshot.Caller{Transport: "unix", Client: "x"}, nil)
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{
		"name": "pixelsrc_import", "arguments": map[string]any{"image": base64.StdEncoding.EncodeToString(file.Bytes()), "max_colors": 16},
	}})
	if err != nil {
		t.Fatal(err)
	}
	// peak is the most memory in use while so many calls are answered.
	peak := func(calls int) uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		base, most := stats.HeapAlloc, uint64(0)
		var over atomic.Bool
		watched := make(chan struct{})
		go func() {
			defer close(watched)
			var s runtime.MemStats
			for !over.Load() {
				runtime.ReadMemStats(&s)
				most = max(most, s.HeapAlloc)
				time.Sleep(time.Millisecond) // between two looks, which stop the world
			}
		}()
		var all sync.WaitGroup
		for range calls {
			all.Go(func() {
				m, bad := rpc.Rules{}.Decode(line)
				if bad != nil {
					t.Error(bad)
					return
				}
				reply := v.Route(agent, backend.Parse(line, m))(t.Context())
				if reply.Error != nil || !strings.Contains(string(reply.Result), "content") || strings.Contains(string(reply.Result), "busy") {
					t.Errorf("%.300s %s", reply.Result, reply.Error)
				}
			})
		}
		all.Wait()
		over.Store(true)
		<-watched
		return most - min(base, most)
	}
	one := uint64(0)
	for range 5 { // the watching may miss what is in use for a moment only
		one = max(one, peak(1))
	}
	if many := peak(16); many > 7*one {
		t.Errorf("16 imports at once took %d KiB, one takes %d", many>>10, one>>10)
	}
}
