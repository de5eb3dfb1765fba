package wire

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/ask"
)

func TestFramesAreLinesThatComeAsTheyWereWritten(t *testing.T) {
	var b bytes.Buffer
	f := NewFrames(&b, &b)
	for n, req := range []Request{{Hello: &Hello{Versions: []int{Version}, Program: "1"}}, {Items: &Since{}}, {Answer: &Answer{Item: "a\nb"}}} {
		if err := f.Write(n, req, false); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(b.String(), "\n"); n != 3 {
		t.Errorf("3 frames are %d lines", n)
	}
	for n := range 3 {
		var req Request
		if conn, err := f.Read(&req); err != nil || conn != n {
			t.Errorf("frame %d is of connection %d, %v", n, conn, err)
		}
		if n == 2 && req.Answer.Item != "a\nb" {
			t.Errorf("an item's key came as %q", req.Answer.Item)
		}
	}
	if _, err := f.Read(&Request{}); !errors.Is(err, io.EOF) {
		t.Errorf("the stream ends with %v", err)
	}
}

func TestALineThatIsTooLongEndsALinkAndTakesNoMemory(t *testing.T) {
	r := io.MultiReader(strings.NewReader(`{"c":1,"l":"`), io.LimitReader(endless('x'), 2*maxLine))
	if _, err := NewFrames(r, nil).Read(&Request{}); err == nil {
		t.Error("it was read")
	}
}

type endless byte

func (e endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(e)
	}
	return len(b), nil
}

// FuzzFrames reads what another machine may send: nothing panics, and what is read is what is
// written again.
func FuzzFrames(f *testing.F) {
	for _, s := range []string{
		`{"c":1,"l":{"hello":{"versions":[1],"program":"1","key":"AAAA"}}}`, `{"c":-1,"end":true}`, `{"c":1,"l":null}`, `{"c":1,"l":{"items":{"version":18446744073709551615}}}`,
		`{"c":1,"l":{"items":{"open":[{"asked":"e30=","age":-1}],"ended":[{"id":1}]}}}`, `{"c":1,"l":{"answer":{"item":"x","body":"e30=","key":"","sign":""}}}`,
		`{"c":1,"l":{"sessions":{"spent":1e308,"now":"0001-01-01T00:00:00Z","sessions":[{"Since":"9999-12-31T23:59:59Z","Record":{"Steps":[{"Took":-1}]},"Usage":{"In":9223372036854775807}}]}}}`,
		"{", "\x00\n{}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, v := range []any{&Request{}, &Reply{}} {
			conn, err := NewFrames(bytes.NewReader(line), nil).Read(v)
			if err != nil {
				continue
			}
			if r, ok := v.(*Reply); ok {
				if r.Bound() != nil {
					continue
				}
				if r.Items != nil {
					for i := range r.Items.Open {
						_, _ = r.Items.Open[i].Read() // must not panic
					}
				}
			}
			var b bytes.Buffer
			if err := NewFrames(nil, &b).Write(conn, v, false); err != nil {
				t.Fatalf("what was read cannot be written: %v", err)
			}
			if again, err := NewFrames(&b, nil).Read(v); err != nil || again != conn {
				t.Fatalf("what was written is read as connection %d, %v", again, err)
			}
		}
	})
}

// FuzzAnswers changes an answer in any place: it must not be taken for the one that was signed.
func FuzzAnswers(f *testing.F) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	good, err := Sign(key, "HOST", KeyOf([]byte("asked")), Decision{Results: []ask.Result{{ID: "q", SelectedOptions: []string{"Yes"}}}})
	if err != nil {
		f.Fatal(err)
	}
	whole, err := json.Marshal(good)
	if err != nil {
		f.Fatal(err)
	}
	if _, err := good.Open("HOST"); err != nil {
		f.Fatal(err)
	}
	f.Add(3, byte(1), "HOST")
	f.Add(len(whole)-5, byte('"'), "HOST")
	f.Add(0, byte(0), "OTHER")
	f.Fuzz(func(t *testing.T, at int, change byte, host string) {
		b := bytes.Clone(whole)
		b[uint(at)%uint(len(b))] ^= change //nolint:gosec // any place will do
		var a Answer
		if json.Unmarshal(b, &a) != nil {
			return
		}
		same := a.Item == good.Item && bytes.Equal(a.Body, good.Body) && bytes.Equal(a.Key, good.Key) && bytes.Equal(a.Sign, good.Sign) && host == "HOST"
		if _, err := a.Open(host); (err == nil) != same {
			t.Errorf("%s for %q is opened with %v", b, host, err)
		}
	})
}

func TestAnItemThatAQueueCannotHaveIsNotRead(t *testing.T) {
	q := ask.Question{ID: "q", Kind: ask.Choice, Options: []ask.Option{{Label: "Yes"}}}
	twice, kind, far := q, q, q
	kind.Kind, far.Recommended = "dance", []int{1}
	for name, all := range map[string][]ask.Question{"none": nil, "one id twice": {q, twice}, "a kind that is unknown": {kind}, "an option that is not there": {far}} {
		asked, err := json.Marshal(Asked{Questions: all})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (&Item{Asked: asked}).Read(); err == nil {
			t.Errorf("%s: it was read", name)
		}
	}
	if _, err := (&Item{Asked: make([]byte, maxAsked+1)}).Read(); err == nil {
		t.Error("an item of any size is read")
	}
}
