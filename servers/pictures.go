package servers

import (
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// Bounds of the pictures that are kept to look at.
const (
	keptPictures     = 32
	keptPictureBytes = 32 << 20 // of base64
)

// Picture is a picture in the result of a call.
type Picture struct {
	Call   uint64
	Index  int // among the pictures of the call
	Server string
	Tool   string
	Agent  string // name, for people
	Time   time.Time
	MIME   string
	Data   string // base64, as it was sent
}

// pictures are the newest pictures in results. They are in memory only: what is written
// down has their hashes.
type pictures struct {
	mu      sync.Mutex
	version uint64
	list    []Picture // newest first
}

// add takes the pictures out of a result.
func (p *pictures) add(c *Call, r *mcp.CallToolResult) {
	if r == nil {
		return
	}
	var found []Picture
	for _, content := range r.Content {
		if i, ok := content.(mcp.ImageContent); ok && i.Data != "" {
			found = append(found, Picture{
				Call: c.ID, Index: len(found), Server: c.Server, Tool: c.Tool, Agent: c.AgentName, Time: time.Now(), MIME: i.MIMEType, Data: i.Data,
			})
		}
	}
	if len(found) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version++
	list := append(found, p.list...)
	bytes := 0
	for i := range list {
		if bytes += len(list[i].Data); i == keptPictures || bytes > keptPictureBytes && i > 0 {
			list = list[:i]
			break
		}
	}
	p.list = list
}

// Pictures are the newest pictures in the results of calls, the newest first, and a
// number that rises when there are others. The list must not be changed.
func (h *Host) Pictures() ([]Picture, uint64) {
	h.pictures.mu.Lock()
	defer h.pictures.mu.Unlock()
	return h.pictures.list, h.pictures.version
}
