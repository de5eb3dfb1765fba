package upstream

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // for image sizes
	_ "image/jpeg" // for image sizes
	_ "image/png"  // for image sizes
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// ImageFact describes one image in a result.
type ImageFact struct {
	Type          string // "image/png"
	Width, Height int    // in pixels; 0 if the image format is unknown
	Bytes         int
}

func (f ImageFact) String() string {
	if f.Width == 0 {
		return f.Type + ", " + humanize.Bytes(f.Bytes)
	}
	return fmt.Sprintf("%s, %d×%d, %s", f.Type, f.Width, f.Height, humanize.Bytes(f.Bytes))
}

// Picture is the most recent image that a call returned.
type Picture struct {
	ImageFact
	Tool string // original name
	Time time.Time
	data string // base64
}

// Image decodes the picture, which may be slow.
func (p Picture) Image() (image.Image, error) {
	img, _, err := image.Decode(base64.NewDecoder(base64.StdEncoding, strings.NewReader(p.data)))
	if err != nil {
		return nil, fmt.Errorf("read picture of %s: %w", p.Tool, err)
	}
	return img, nil
}

const lookEvery = 20 * time.Millisecond // between looks at calls that have ended

// callLog counts the calls, and holds the most recent picture.
type callLog struct {
	mu         sync.Mutex
	ok, failed int
	picture    Picture
}

// record notes how a call has ended, and the picture that it has brought.
func (c *call) record(o Outcome) {
	picture := Picture{}
	var blocks []json.RawMessage
	if bytes.Contains(o.Raw, []byte(`"image"`)) {
		blocks = o.Result.Content()
	}
	for _, raw := range blocks {
		if fact, data, ok := imageFact(raw); ok {
			picture = Picture{ImageFact: fact, Tool: c.tool.Original, Time: time.Now(), data: data}
		}
	}
	c.card.calls.add(!c.withdrawn && !o.Lost && !o.Deadline && !o.Result.IsError, picture)
	c.card.lookSoon()
}

// lookSoon has everybody look again, once for the calls that end at about the same time.
func (c *Card) lookSoon() {
	if c.lookDue.Swap(true) {
		return
	}
	time.AfterFunc(lookEvery, func() {
		defer recovery.Recover(c.opts.Name + " look")
		c.lookDue.Store(false)
		c.mu.Lock()
		look := c.events.Look
		c.mu.Unlock()
		c.hints.Send()
		tell(look)
	})
}

func (l *callLog) add(ok bool, picture Picture) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ok {
		l.ok++
	} else {
		l.failed++
	}
	if picture.data != "" {
		l.picture = picture
	}
}

// imageFact parses an image block.
func imageFact(raw json.RawMessage) (ImageFact, string, bool) {
	o, err := rawjson.SplitObject(raw)
	if err != nil || o.Str("type") != "image" {
		return ImageFact{}, "", false
	}
	data := o.Str("data")
	f := ImageFact{Type: sanitize.Cut(sanitize.Line(o.Str("mimeType")), 40), Bytes: base64.StdEncoding.DecodedLen(len(data)) - strings.Count(data[max(0, len(data)-2):], "=")}
	if c, _, err := image.DecodeConfig(base64.NewDecoder(base64.StdEncoding, strings.NewReader(data))); err == nil {
		f.Width, f.Height = c.Width, c.Height
	}
	return f, data, true
}

// SavePicture writes the most recent picture to a new file that only its owner can read.
func (c *Card) SavePicture(path string) error {
	c.calls.mu.Lock()
	data := c.calls.picture.data
	c.calls.mu.Unlock()
	if data == "" {
		return errors.New("save picture: no call has brought one yet")
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return fmt.Errorf("save picture: %w", err)
	}
	if err := file.Write(path, raw, file.Options{New: true}); err != nil {
		return fmt.Errorf("save picture: %w", err)
	}
	return nil
}
