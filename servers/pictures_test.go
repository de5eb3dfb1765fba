package servers

import (
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

func TestPicturesAreKeptInBounds(t *testing.T) {
	h := &Host{}
	result := func(data ...string) *mcp.CallToolResult {
		r := &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent("a text")}}
		for _, d := range data {
			r.Content = append(r.Content, mcp.NewImageContent(d, "image/png"))
		}
		return r
	}
	h.pictures.add(&Call{ID: 1}, nil)
	h.pictures.add(&Call{ID: 1}, result())
	if list, version := h.Pictures(); len(list) != 0 || version != 0 {
		t.Errorf("%d pictures without any", len(list))
	}
	h.pictures.add(&Call{ID: 2, Tool: "shot", AgentName: "codex"}, result("aaaa", "bbbb"))
	list, version := h.Pictures()
	if len(list) != 2 || version != 1 || list[1].Data != "bbbb" || list[1].Index != 1 || list[0].Agent != "codex" || list[0].MIME != "image/png" {
		t.Errorf("pictures %+v, version %d", list, version)
	}
	for id := range uint64(50) {
		h.pictures.add(&Call{ID: 10 + id}, result("cccc"))
	}
	if list, _ = h.Pictures(); len(list) != keptPictures || list[0].Call != 59 {
		t.Errorf("%d pictures are kept, the newest of call %d", len(list), list[0].Call)
	}
	big := strings.Repeat("x", keptPictureBytes/2+1)
	h.pictures.add(&Call{ID: 100}, result(big))
	h.pictures.add(&Call{ID: 101}, result(big))
	if list, _ = h.Pictures(); len(list) != 1 || list[0].Call != 101 {
		t.Errorf("%d pictures are kept beside large ones", len(list))
	}
}
