package cards

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
)

// What a server at a URL offers is shown as that of a program is, and the session that
// showed it is ended.
func TestAServerIsTriedByItsURL(t *testing.T) {
	var mu sync.Mutex
	var got []string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body) // none will do
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		_ = json.Unmarshal(b, &m) // the same
		mu.Lock()
		got = append(got, r.Method+" "+m.Method+" "+r.Header.Get("X-Key"))
		mu.Unlock()
		result := ""
		switch m.Method {
		case "initialize":
			w.Header().Set("Mcp-Session-Id", "one")
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"far","version":"3"},"instructions":"Look."}`
		case "tools/list":
			result = `{"tools":[{"name":"see","description":"Sees.","inputSchema":{"type":"object"}}]}`
		case "server/discover":
			w.WriteHeader(http.StatusBadRequest)
			return
		default:
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}))
	defer web.Close()
	c, _, err := settings.Card{URL: web.URL, Headers: map[string]string{"X-Key": "${env:KEY}"}}.Complete("far")
	if err != nil {
		t.Fatal(err)
	}
	tried, err := Try(t.Context(), c, Machine{Environ: []string{"KEY=k"}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if tried.Server != "far" || tried.Version != "3" || !slices.Equal(tried.Tools, []string{"see"}) || tried.Context != len("Look.seeSees.{`type`:`object`}") {
		t.Errorf("got %+v", tried)
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Contains(got, "DELETE  k") {
		t.Errorf("the session is left open: %q", got)
	}
	if _, err := Try(t.Context(), c, Machine{}); err == nil || err.Error() != "it needs ${env:KEY}" {
		t.Errorf("without its variable: %v", err)
	}
}
