package mcpserver

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
)

// cursor says where the next page of an answer begins.
type cursor struct {
	// Tool and Args bind it to the call, Source to what was answered from.
	Tool   string `json:"t"`
	Args   string `json:"a"`
	Source string `json:"s"`
	// At counts whole items; Node and Code are places inside a large bundle, Node
	// also one inside a large folder.
	At   int `json:"n"`
	Node int `json:"d,omitempty"`
	Code int `json:"c,omitempty"`
	// Later says that a page with the answer's head was given.
	Later bool `json:"l,omitempty"`
}

// argsKey names the arguments that a cursor is bound to.
func argsKey(args ...any) string {
	return digest(fmt.Sprintf("%q", args))
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// pager cuts answers into pages.
type pager struct {
	key                    []byte
	maxTokens, bundleBytes int
}

func newPager(maxTokens, bundleBytes int) pager {
	p := pager{make([]byte, 32), maxTokens, bundleBytes}
	_, _ = rand.Read(p.key) // never fails
	return p
}

// more is the end of a page of an answer.
type more struct {
	Truncated  bool   `json:"truncated,omitempty"`
	NextCursor string `json:"nextCursor,omitempty"`
}

// goesOn is the end of a page that others follow.
func (p pager) goesOn(next cursor) more { return more{true, p.seal(next)} }

// seal writes a cursor so that nobody but this process can make one.
func (p pager) seal(c cursor) string {
	data, err := json.Marshal(c)
	if err != nil {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(append(p.sign(data), data...))
}

const signatureBytes = 16

func (p pager) sign(data []byte) []byte {
	mac := hmac.New(sha256.New, p.key)
	mac.Write(data)
	return mac.Sum(nil)[:signatureBytes]
}

// open reads a cursor of this tool and these arguments; "" is the beginning.
func (p pager) open(text, tool, args string) (cursor, error) {
	if text == "" {
		return cursor{Tool: tool, Args: args}, nil
	}
	bad := problem.New(problem.BadCursor, "call again without cursor", "the cursor does not match these arguments")
	data, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(data) <= signatureBytes || !hmac.Equal(data[:signatureBytes], p.sign(data[signatureBytes:])) {
		return cursor{}, bad
	}
	var c cursor
	if json.Unmarshal(data[signatureBytes:], &c) != nil || c.Tool != tool || c.Args != args || c.At < 0 || c.Node < 0 || c.Code < 0 {
		return cursor{}, bad
	}
	return c, nil
}

// from reports whether an answer is what a cursor belongs to, if there is one.
func (c cursor) from(stamp string) error {
	if c.Source != "" && c.Source != stamp {
		return staleCursor()
	}
	return nil
}

func staleCursor() error {
	return problem.New(problem.CursorStale, "call again without cursor", "the data behind the earlier page has been replaced")
}

// budget is how many bytes an answer may have: a token counts as four bytes.
func (p pager) budget(maxTokens int) int {
	if maxTokens <= 0 || maxTokens > p.maxTokens {
		maxTokens = p.maxTokens
	}
	return maxTokens * 4
}

// cursorRoom is kept free in a page for its cursor and the words around it.
const cursorRoom = 512

// sizeOf is the length of a value as JSON.
func sizeOf(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		return 0
	}
	return len(data)
}

// fit takes whole items from at on while they fit into room; the first always
// fits. next is len(items) when nothing is left.
func fit[T any](items []T, at, room int) (page []T, next int) {
	at = min(at, len(items))
	next = at
	for next < len(items) {
		n := sizeOf(items[next]) + 1
		if n > room && next > at {
			break
		}
		room -= n
		next++
	}
	return items[at:next:next], next
}
