package pxl

import (
	"fmt"
	"strings"
	"testing"
	"time"
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
		{name: "a rectangle beyond 32 bits", src: sprite(4, 2, `a: {rect: [-3000000000, 0, 6000000000, 1]}`), documented: "aaaa / ...."},
		{name: "one that ends on the canvas", src: sprite(4, 1, `a: {rect: [-3000000000, 0, 3000000002, 0xFFFFFFFFFF]}`), documented: "aa.."},
		{name: "a stroke beyond 32 bits", src: sprite(4, 2, `a: {stroke: [-3000000000, 1, 6000000000, 6000000000]}`), documented: ".... / aaaa"},
		{name: "a path", src: sprite(4, 4, `a: {path: "M -1e5 -1e5 L 1e5 -1e5 L 1e5 1e5 L -1e5 1e5 Z"}`), documented: full},
		{name: "a path beyond 32 bits", src: sprite(4, 2, `a: {path: "M -9e9,-9e9 H 9e9 V 0 H -9e9 Z"}`), documented: "aaaa / ...."},
		{name: "a rectangle moved in from afar", src: sprite(4, 2, `a: {rect: [-100000, 0, 2, 1], transform: "translate(100001, 1)"}`), documented: ".... / .aa."},
		{name: "moved out and in again", src: sprite(4, 2, `a: {rect: [1, 0, 2, 1], transform: "translate(-3000000000, 0) translate(3000000000, 0)"}`), documented: ".aa. / ...."},
		{name: "points moved in from afar", src: sprite(4, 2, `a: {points: [[90000, 90000], [90002, 90001]], transform: "translate(-90000, -90000)"}`), documented: "a... / ..a."},
		{name: "a path moved in from afar", src: sprite(4, 2, `a: {path: "M 50000 0 h 3 v 1 h -3 Z", transform: "translate(-50000, 0)"}`), documented: "aaaa / aaaa"},
		{name: "an ellipse moved in and turned", src: sprite(3, 3, `a: {circle: [-70000, 1, 1], transform: "translate(70001) flip-x"}`), documented: ".a. / aaa / .a."},
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
		`line: [[-9000, 0], [-8000, 0]], thickness: 5`, `rect: [3000000000, 0, 4, 4]`, `rect: [0, 0, 4, 4], transform: "translate(100000, 0)"`,
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

// TestNumbersThatCannotHoldAreTold has durations and paces of which another than the one
// written holds, and some that hold as they are.
func TestNumbersThatCannotHoldAreTold(t *testing.T) {
	for more, row := range map[string]struct {
		each time.Duration
		told string
	}{
		`duration: "abc"`:  {100 * time.Millisecond, `"abc" is not a duration`},
		`duration: ""`:     {100 * time.Millisecond, `"" is not a duration`},
		`duration: "-5ms"`: {100 * time.Millisecond, `"-5ms" is not a duration`},
		`duration: "700s"`: {700 * time.Second, "a frame stands for 700 s; a GIF shows it for at most 655.35"},
		`duration: 655360`: {655360 * time.Millisecond, "a GIF shows it for at most 655.35"},
		`duration: 655350`: {655350 * time.Millisecond, ""},
		`duration: 0xFF`:   {255 * time.Millisecond, ""},
		`duration: "1.5s"`: {1500 * time.Millisecond, ""},
		`fps: 7.5`:         {133 * time.Millisecond, ""},
		`fps: 0`:           {100 * time.Millisecond, "fps must be above 0"},
		`fps: -0x3`:        {100 * time.Millisecond, "fps must be above 0"},
		`tags: {t: {start: 0, end: 0, fps: 7.5}}`: {133 * time.Millisecond, ""},
		`tags: {t: {start: 0, end: 0, fps: 0}}`:   {100 * time.Millisecond, "fps must be above 0"},
	} {
		d := Parse([]byte(sprite(4, 4, `a: {rect: [0,0,1,1]}`)+"\n"+`{type: "animation", name: "x", frames: ["s", "s"], `+more+`}`), Options{})
		o := RenderOptions{Kind: KindAnimation}
		if strings.Contains(more, "tags") {
			o.Tag = "t"
		}
		res, err := d.Render(o)
		if err != nil {
			t.Errorf("%s: %v", more, err)
			continue
		}
		told := fmt.Sprint(append(d.Diagnostics(), res.Diagnostics...))
		if got := res.Frames[0].Duration; got != row.each {
			t.Errorf("%s: each frame stands for %v, not %v", more, got, row.each)
		}
		if row.told == "" && told != "[]" || !strings.Contains(told, row.told) {
			t.Errorf("%s: told %s", more, told)
		}
	}
}
