package calllog

import (
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Bounds of the pictures that are kept to look at.
const (
	keptPictures     = 32
	keptPictureBytes = 32 << 20 // of base64
)

// pictures are the newest pictures in results. They are in memory only: what is written
// down has their hashes.
type pictures struct {
	mu      sync.Mutex
	version uint64
	list    []snapshot.Picture // newest first
}

// add takes the pictures out of a result.
func (p *pictures) add(c *snapshot.Call, images []redact.Image) {
	var found []snapshot.Picture
	for _, i := range images {
		if i.Data != "" {
			found = append(found, snapshot.Picture{
				Call: c.ID, Index: len(found), Server: c.Server, Tool: c.Tool, Agent: c.AgentName, Time: time.Now(), MIME: i.MIME, Data: i.Data,
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
func (l *Log) Pictures() ([]snapshot.Picture, uint64) {
	l.pictures.mu.Lock()
	defer l.pictures.mu.Unlock()
	return l.pictures.list, l.pictures.version
}
