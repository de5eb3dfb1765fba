package pxl

import (
	"fmt"
	"strings"
	"testing"
)

// TestFarCoordinatesAreClipped draws shapes that reach far beyond the canvas and
// looks at the part that lies on it.
func TestFarCoordinatesAreClipped(t *testing.T) {
	const full = "aaaa / aaaa / aaaa / aaaa"
	rows := []pictureRow{
		{name: "a line", src: sprite(4, 2, `a: {line: [[-100000, 0], [100000, 0]]}`), documented: "aaaa / ...."},
		{name: "a slanted line", src: sprite(4, 4, `a: {line: [[-100000, -100000], [100000, 100000]]}`), documented: "a... / .a.. / ..a. / ...a"},
		{name: "a line as long as can be", src: sprite(4, 2, `a: {line: [[-2147483648, 1], [2147483647, 1]]}`), documented: ".... / aaaa"},
		{name: "a polygon", src: sprite(4, 4, `a: {polygon: [[-100000, -100000], [100000, -100000], [100000, 100000], [-100000, 100000]]}`), documented: full},
		{name: "a circle", src: sprite(4, 4, `a: {circle: [2, 2, 100000]}`), documented: full},
		{name: "the edge of a large circle", src: sprite(4, 1, `a: {circle: [-99998, 0, 100000]}`), documented: "aaa."},
		{name: "a rectangle", src: sprite(4, 4, `a: {rect: [-100000, -100000, 200000, 200000]}`), documented: full},
		{name: "a rounded rectangle", src: sprite(4, 4, `a: {rect: [-1000000000, -1000000000, 2000000000, 2000000000], round: 1000000000}`), documented: full},
		{name: "a thick line", src: sprite(4, 4, `a: {line: [[0, 0], [3, 0]], thickness: 12000}`), documented: full},
		{name: "a line as thick as can be", src: sprite(4, 4, `a: {line: [[0, 3], [3, 0]], thickness: 2147483647}`), documented: full},
		{name: "a huge outline", src: sprite(4, 4, `b: {points: [[1, 1]]}, a: {"auto-outline": "b", thickness: 9000}`), documented: "aaaa / abaa / aaaa / aaaa"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			res, err := Parse([]byte(r.src), Options{}).Render(RenderOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.ReplaceAll(drawText(res.Image(), legend(t, "")), "\n", " / "); got != r.documented {
				t.Errorf("got %s, want %s: %v", got, r.documented, res.Diagnostics)
			}
		})
	}
}

// TestWhatDrawsNothingIsTold holds that a shape off the canvas does not vanish
// without a word.
func TestWhatDrawsNothingIsTold(t *testing.T) {
	for _, region := range []string{
		`points: [[-9000, 0]]`, `line: [[-9000, 0], [-8000, 0]]`, `rect: [20000, 0, 4, 4]`, `circle: [0, 90000, 5]`,
		`line: [[-9000, 0], [-8000, 0]], thickness: 5`,
	} {
		d := Parse([]byte(sprite(4, 4, `a: {`+region+`}`)), Options{})
		res, err := d.Render(RenderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := codesOf(res.Diagnostics); got != "1:"+CodeBounds {
			t.Errorf("%s: got %q, want %q: %s", region, got, "1:"+CodeBounds, fmt.Sprint(res.Diagnostics))
		}
	}
}
