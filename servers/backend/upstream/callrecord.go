package upstream

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // for image sizes
	_ "image/jpeg" // for image sizes
	_ "image/png"  // for image sizes
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// CallFact describes one call that reached the child, without its contents.
type CallFact struct {
	Agent   string
	Tool    string // original name
	Started time.Time
	Wait    time.Duration // before it was sent
	Run     time.Duration
	Outcome string // "ok", "error", "lost", "deadline", "cancelled"
	In, Out int    // size in bytes of the arguments and of the result
	Images  []ImageFact
}

// ImageFact describes one image in a result.
type ImageFact struct {
	Type          string // "image/png"
	Width, Height int    // in pixels; 0 if the image format is unknown
	Bytes         int
}

func (f ImageFact) String() string {
	if f.Width == 0 {
		return fmt.Sprintf("%s, %d bytes", f.Type, f.Bytes)
	}
	return fmt.Sprintf("%s, %d×%d, %d bytes", f.Type, f.Width, f.Height, f.Bytes)
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

const keptCalls = 100

// callLog holds the facts of recent calls and the most recent picture.
type callLog struct {
	mu         sync.Mutex
	last       []CallFact
	ok, failed int
	picture    Picture
}

// record stores the facts of a finished call.
func (c *call) record(o Outcome, began time.Time) {
	f := CallFact{
		Agent: c.in.Agent, Tool: c.tool.Original, Started: c.arrived,
		Wait: began.Sub(c.arrived), Run: time.Since(began), In: len(c.in.Args), Out: len(o.Raw),
	}
	switch {
	case c.withdrawn:
		f.Outcome = "cancelled"
	case o.Lost:
		f.Outcome = "lost"
	case o.Deadline:
		f.Outcome = "deadline"
	case o.Result.IsError:
		f.Outcome = "error"
	default:
		f.Outcome = "ok"
	}
	picture := Picture{}
	for _, raw := range o.Result.Content {
		if fact, data, ok := imageFact(raw); ok {
			f.Images = append(f.Images, fact)
			picture = Picture{ImageFact: fact, Tool: c.tool.Original, Time: time.Now(), data: data}
		}
	}
	c.card.calls.add(f, picture)
	c.card.hints.Send()
	c.card.mu.Lock()
	look := c.card.events.Look
	c.card.mu.Unlock()
	tell(look)
}

func (l *callLog) add(f CallFact, picture Picture) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.last) >= 2*keptCalls {
		l.last = slices.Clone(l.last[len(l.last)-keptCalls+1:])
	}
	l.last = append(l.last, f)
	if f.Outcome == "ok" {
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
