package pixelsrc

import (
	_ "embed" // for the descriptions of the tools
	"encoding/json"
	"maps"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/admission"
)

//go:embed tools.json
var toolsJSON []byte

// tools lists the tools by name, as tools.json describes them.
func tools() []Tool {
	// What draws, or keeps a picture and its colours, is Large; what only reads a
	// source is Medium.
	run := map[string]struct {
		work admission.Class
		do   func(*call) Answer
	}{
		"pixelsrc_analyze":  {admission.Large, runAnalyze},
		"pixelsrc_diff":     {admission.Large, runDiff},
		"pixelsrc_explain":  {admission.Large, runExplain},
		"pixelsrc_format":   {admission.Medium, runFormat},
		"pixelsrc_import":   {admission.Large, runImport},
		"pixelsrc_palettes": {admission.Small, runPalettes},
		"pixelsrc_prime":    {admission.Small, runPrime},
		"pixelsrc_render":   {admission.Large, runRender},
		"pixelsrc_scaffold": {admission.Medium, runScaffold},
		"pixelsrc_suggest":  {admission.Medium, runSuggest},
		"pixelsrc_validate": {admission.Large, runValidate},
	}
	var list []struct {
		Name, Title, Description string
		Schema                   json.RawMessage
	}
	if err := json.Unmarshal(toolsJSON, &list); err != nil {
		panic("tools.json: " + err.Error()) // a test holds that it does not
	}
	out := make([]Tool, len(list))
	for i, t := range list {
		var schema struct{ Properties map[string]any }
		if err := json.Unmarshal(t.Schema, &schema); err != nil {
			panic("tools.json: " + err.Error())
		}
		out[i] = Tool{t.Name, t.Title, t.Description, t.Schema, slices.Collect(maps.Keys(schema.Properties)), run[t.Name].work, run[t.Name].do}
	}
	return out
}

// Instructions tell an agent's model how to use the server.
const Instructions = "Pixel art as text: write .pxl source, look at the picture, improve it. " +
	"Call pixelsrc_prime with brief=true once to learn the format, write a source, then pixelsrc_render with scale 8 and look at the image. " +
	"pixelsrc_validate lists problems with lines, pixelsrc_suggest says how to mend them, pixelsrc_import turns a PNG into source. " +
	"Examples and palettes are resources: pixelsrc://example/coin, pixelsrc://palettes."
