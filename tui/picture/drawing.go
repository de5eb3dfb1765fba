package picture

import (
	"container/list"
	"fmt"
	"strings"
)

func (g *Gallery) key(s Spec) string { return keyFor(s, g.caps) }

func keyFor(s Spec, c Caps) string {
	return fmt.Sprintf("%dx%d %s %d %dx%d %v\x00%s", s.Cols, s.Rows, c.Mode, c.Depth, c.CellW, c.CellH, s.Smooth, s.Key)
}

// sameBox reports whether two keys differ only in their pixels.
func sameBox(a, b string) bool {
	one, _, _ := strings.Cut(a, "\x00")
	other, _, _ := strings.Cut(b, "\x00")
	return one == other
}

// hold fills the cells that a strip is drawn over. A space would do while the picture is
// shown, but when it is removed, spaces would be no change and nothing would erase it.
const hold = "\u00a0"

// drawingOf renders a picture for the mode in c.
func drawingOf(s Spec, key string, c Caps) *drawing {
	d := &drawing{key: key}
	wayOf(c.Mode).draw(d, s.Make(), s, c)
	d.bytes = len(d.payload.data)
	for _, line := range d.lines {
		d.bytes += len(line)
	}
	for _, strip := range d.strips {
		d.bytes += len(strip)
	}
	return d
}

// cache holds the most recently used drawings, up to limit bytes.
type cache struct {
	limit, bytes int
	order        list.List // of *drawing, most recently used first
	byKey        map[string]*list.Element
}

func (c *cache) get(key string) *drawing {
	e := c.byKey[key]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*drawing)
}

func (c *cache) put(d *drawing) {
	if c.byKey == nil {
		c.byKey = map[string]*list.Element{}
	}
	if e := c.byKey[d.key]; e != nil {
		c.bytes -= e.Value.(*drawing).bytes
		c.order.Remove(e)
	}
	c.byKey[d.key] = c.order.PushFront(d)
	c.bytes += d.bytes
	for c.bytes > c.limit && c.order.Len() > 1 {
		e := c.order.Back()
		old := e.Value.(*drawing)
		c.bytes -= old.bytes
		delete(c.byKey, old.key)
		c.order.Remove(e)
	}
}

func (c *cache) clear() {
	c.order.Init()
	c.byKey, c.bytes = nil, 0
}
