package file_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

func TestWholeLinesArePassedOnWithTheirPlaces(t *testing.T) {
	type line struct {
		text string
		at   int64
	}
	long := strings.Repeat("x", 200<<10) // more than is read at a time
	tests := []struct {
		name, text        string
		from, to, longest int64
		want              []line
		n                 int64
	}{
		{"all", "a\nbc\n", 0, 5, 10, []line{{"a", 0}, {"bc", 2}}, 5},
		{"the rest is still being written", "a\nbc", 0, 4, 10, []line{{"a", 0}}, 2},
		{"from a place on", "a\nbc\nd\n", 2, 7, 10, []line{{"bc", 2}, {"d", 5}}, 5},
		{"up to a place in a line", "a\nbc\nd\n", 0, 4, 10, []line{{"a", 0}}, 2},
		{"without the space around", " a \r\n", 0, 5, 10, []line{{"a", 0}}, 5},
		{"an empty one", "\nb\n", 0, 3, 10, []line{{"", 0}, {"b", 1}}, 3},
		{"one that is too long", "a\nabcdefghijk\nb\n", 0, 16, 10, []line{{"a", 0}, {"too long", 2}, {"b", 14}}, 16},
		{"one that is too long and still being written", "a\nabcdefghijk", 0, 13, 10, []line{{"a", 0}, {"too long", 2}}, 13},
		{"one over the buffer", "a\n" + long + "\nb\n", 0, 5 + 200<<10, 1 << 20, []line{{"a", 0}, {long, 2}, {"b", 3 + 200<<10}}, 5 + 200<<10},
		{"two over the buffer", long + "\n" + long + "y\n", 0, 3 + 400<<10, 1 << 20, []line{{long, 0}, {long + "y", 1 + 200<<10}}, 3 + 400<<10},
		{"one over the buffer that is too long", long + "\nb\n", 0, 3 + 200<<10, 100 << 10, []line{{"too long", 0}, {"b", 1 + 200<<10}}, 3 + 200<<10},
		{"nothing", "", 0, 0, 10, nil, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []line
			n, err := file.Lines(strings.NewReader(tt.text), tt.from, tt.to, tt.longest, func(text []byte, at int64) {
				if text == nil {
					text = []byte("too long")
				}
				got = append(got, line{string(text), at})
			})
			if err != nil || n != tt.n || !slices.Equal(got, tt.want) {
				t.Errorf("got %.100v, %d bytes, %v; want %.100v, %d bytes", got, n, err, tt.want, tt.n)
			}
		})
	}
}

// failing reads one line and then fails, as a disk does.
type failing struct{ error }

func (f failing) ReadAt(b []byte, _ int64) (int, error) { return copy(b, "a\nb"), f.error }

func TestLinesBeforeAFailureCount(t *testing.T) {
	broken := errors.New("disk I/O error")
	var got []string
	n, err := file.Lines(failing{broken}, 0, 100, 10, func(text []byte, _ int64) { got = append(got, string(text)) })
	if !errors.Is(err, broken) || n != 2 || !slices.Equal(got, []string{"a"}) {
		t.Errorf("got %q, %d bytes, %v", got, n, err)
	}
}
