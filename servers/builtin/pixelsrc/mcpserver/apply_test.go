package mcpserver

import (
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
)

// opaque counts the pixels that a source draws, magenta ones too.
func opaque(t *testing.T, source string) int {
	t.Helper()
	res, err := pxl.Parse([]byte(source), pxl.Options{}).Render(pxl.RenderOptions{})
	if err != nil {
		t.Fatalf("%v: %s", err, source)
	}
	n := 0
	for i := 3; i < len(res.Image().Pix); i += 4 {
		if res.Image().Pix[i] > 0 {
			n++
		}
	}
	return n
}

// TestApplyingSuggestionsLosesNoPixels applies what is suggested to sources
// where two mendings could come into each other's way.
func TestApplyingSuggestionsLosesNoPixels(t *testing.T) {
	const palette = `palette: {body: "#f00", other: "#0f0"}`
	one := func(regions string) string {
		return `{type: "sprite", name: "s", size: [8, 8], ` + palette + `, regions: {` + regions + `}}`
	}
	for name, source := range map[string]string{
		"two tokens for one":        one(`bodi: {rect: [0, 0, 2, 2]}, bodu: {rect: [4, 4, 2, 2]}`),
		"a token that is used":      one(`body: {rect: [0, 0, 2, 2]}, bodi: {rect: [4, 4, 2, 2]}`),
		"a token that is named":     one(`bodi: {stroke: [0, 0, 6, 6]}, other: {fill: "inside(bodi)"}`),
		"two fields for one":        one(`body: {rec: [0, 0, 2, 2], rct: [4, 4, 4, 4], points: [[0, 0]]}`),
		"a shape over another":      one(`body: {rect: [0, 0, 6, 6], pionts: [[0, 0]]}`),
		"a type over another":       one(`body: {rect: [0, 0, 6, 6]}`) + "\n" + `{type: "sprit", name: "s", size: [1, 1], ` + palette + `, regions: {}}`,
		"a token in other brackets": one(`"{bodi}": {rect: [0, 0, 2, 2]}, "{bodu}": {rect: [4, 4, 2, 2]}`),
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t)
			res := r.ok("pixelsrc_suggest", args{"source": source, "apply": true})
			fixed := ""
			for _, b := range res.Content {
				if strings.HasPrefix(b.Text, "{type:") {
					fixed = b.Text
				}
			}
			if fixed == "" {
				t.Fatalf("no source in %s", res.text())
			}
			if got, want := opaque(t, fixed), opaque(t, source); got < want {
				t.Errorf("%d pixels of %d are left: %s", got, want, fixed)
			}
		})
	}
}

// TestASuggestedSizeHoldsAllThatIsDrawn has shapes whose reach only drawing tells.
func TestASuggestedSizeHoldsAllThatIsDrawn(t *testing.T) {
	for _, region := range []string{
		`path: "M0,0 L9,0 L9,9 Z"`, `rect: [0, 0, 2, 2], repeat: [3, 3]`, `line: [[0, 0], [4, 4]], thickness: 3`,
		`rect: [0, 0, 2, 2], transform: "translate(5, 5)"`,
	} {
		source := `{type: "sprite", name: "s", palette: {body: "#f00"}, regions: {body: {` + region + `}}}`
		r := start(t)
		var fixed string
		for _, b := range r.ok("pixelsrc_suggest", args{"source": source, "apply": true}).Content {
			if strings.HasPrefix(b.Text, "{") && strings.Contains(b.Text, "type:") {
				fixed = b.Text
			}
		}
		large := strings.Replace(source, "palette:", "size: [64, 64], palette:", 1)
		if got, want := opaque(t, fixed), opaque(t, large); got != want {
			t.Errorf("%s: %d pixels of %d with %s", region, got, want, fixed)
		}
	}
}

// TestAnArgumentThatACallDidNotComeToIsNotIgnored ends a call before it reads
// all of its arguments.
func TestAnArgumentThatACallDidNotComeToIsNotIgnored(t *testing.T) {
	r := start(t)
	res := r.call("pixelsrc_render", args{"path": "none.pxl", "scale": 4, "sprite": "x", "all_states": true})
	if text := res.text(); strings.Contains(text, "Ignored") {
		t.Error(text)
	}
}

func TestNamesAreFoundWhateverTheirBracesAndCase(t *testing.T) {
	source := `{type: "sprite", name: "Hero", size: [2, 1], palette: {Skin: "#f00"}, regions: {"{skim}": {points: [[0, 0]]}}}`
	r := start(t)
	if text := r.ok("pixelsrc_validate", args{"source": source}).text(); !strings.Contains(text, "did you mean Skin?") {
		t.Errorf("validate: %s", text)
	}
	r.bad("pixelsrc_render", args{"source": source, "sprite": "{hero}"}, "Did you mean 'Hero'?")
}
