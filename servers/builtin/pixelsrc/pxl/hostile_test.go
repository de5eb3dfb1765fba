package pxl

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// repeat joins n texts made by f.
func repeat(n int, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(f(i))
	}
	return b.String()
}

// hostileDocuments are texts below the size limit that ask for as much as they can.
func hostileDocuments() map[string]string {
	big := `size: [2048, 2048], palette: {a: "#f008"}`
	return map[string]string{
		"huge rect":  sprite(4, 4, `a: {rect: [0, 0, 2000000000, 2000000000]}`),
		"huge parts": sprite(4, 4, `a: {ellipse: [0, 0, 32767, 32767]}, b: {line: [[0, 0], [32767, 1], [0, 2]]}, c: {polygon: [[0, 0], [32767, 32767], [0, 32767]]}`),
		"far parts":  sprite(4, 4, `a: {ellipse: [0, 0, 2000000000, 2]}, b: {line: [[0, 0], [2000000000, 1]]}`),
		"many lines": sprite(4, 4, `a: {line: [`+strings.Repeat("[0,0],[32767,32767],", 40_000)+`]}`),
		"many edges": sprite(4096, 1024, `a: {polygon: [`+repeat(60_000, func(i int) string { return fmt.Sprintf("[%d,%d],", i%4096, i%2*32767) })+`]}`),
		"many regions of all pixels": `{type: "sprite", name: "s", ` + big + `, regions: {` +
			repeat(20_000, func(i int) string { return fmt.Sprintf("a%d: {rect: [0,0,2048,2048]},", i) }) + `}}`,
		"jitter": `{type: "sprite", name: "s", ` + big + `, regions: {` + repeat(5_000, func(i int) string {
			return fmt.Sprintf("a%d: {rect: [0,0,2048,2048], jitter: {x: [-9,9], y: [-9,9]}},", i)
		}) + `}}`,
		"rotations":     `{type: "sprite", name: "s", ` + big + `, regions: {a: {rect: [0,0,2048,2048], transform: "` + strings.Repeat("rotate(33) ", 64) + `"}}}`,
		"thick strokes": `{type: "sprite", name: "s", ` + big + `, regions: {a: {stroke: [0,0,2048,2048], round: 1000, thickness: 2000000000}}}`,
		"fills":         `{type: "sprite", name: "s", ` + big + `, regions: {a: {points: [[0,0]], repeat: [1024,1024], spacing: [1,1]}, ` + repeat(3_000, func(i int) string { return fmt.Sprintf(`b%d: {fill: "inside(a)"},`, i) }) + `}}`,
		"transforms":    `{type: "sprite", name: "s", ` + big + `, regions: {a: {rect: [0,0,9,9]}}, transform: [` + strings.Repeat(`"mirror-h",`, 50_000) + `]}`,
		"outlines":      `{type: "sprite", name: "s", ` + big + `, regions: {a: {points: [[0,0]], repeat: [1024,1024], spacing: [1,1]}}, transform: [` + strings.Repeat(`"outline:0",`, 50_000) + `]}`,
		"scales":        sprite(4, 4, `a: {points: [[0, 0]]}`, `transform: ["scale:1e30,1e30", "tile:2000000000x2000000000", "pad:2000000000", "skew-x:88.9"]`),
		"many sprites": repeat(6_000, func(i int) string {
			return fmt.Sprintf(`{type:"sprite",name:"s%d",size:[2048,2048],palette:{},regions:{}}`+"\n", i)
		}),
		"composition of all": repeat(3_000, func(i int) string {
			return fmt.Sprintf(`{type:"sprite",name:"s%d",size:[2048,2048],palette:{},regions:{}}`+"\n", i)
		}) +
			`{type: "composition", name: "c", size: [9, 9], sprites: {` + repeat(3_000, func(i int) string { return fmt.Sprintf(`k%d: "s%d",`, i, i) }) + `}, layers: []}`,
		"cells": `{type:"sprite",name:"s",` + big + `,regions:{a:{rect:[0,0,2048,2048]}}}` + "\n" + `{type: "composition", name: "c", size: [2048, 2048], sprites: {x: "s"}, layers: [{blend: "overlay", opacity: 0.5, map: ["` +
			strings.Repeat("x", 500_000) + `"]}]}`,
		"fill cells": `{type:"sprite",name:"s",` + big + `,regions:{a:{rect:[0,0,2048,2048]}}}` + "\n" + `{type: "composition", name: "c", size: [2048, 2048], sprites: {x: "s"}, layers: [` + strings.Repeat(`{fill: "x", blend: "add"},`, 20_000) + `]}`,
		"nesting":    sprite(4, 4, `a: `+strings.Repeat(`{union: [`, 60)+`{rect: [0,0,4,4]}`+strings.Repeat(`]}`, 60)),
		"towers": repeat(40, func(i int) string {
			return fmt.Sprintf(`{type: "composition", name: "c%d", size: [64, 64], sprites: {x: "c%d"}, layers: [{map: ["%s"]}]}`+"\n", i, i+1, strings.Repeat("x", 60))
		}),
		"variables":     `{type: "palette", name: "p", colors: {` + repeat(60, func(i int) string { return fmt.Sprintf(`"--v%d": "var(--v%d) var(--v%d)",`, i, i+1, i+1) }) + `"--v60": "x", a: "var(--v0)"}}` + sprite(1, 1, ``) + `{type: "sprite", name: "t", size: [1, 1], palette: "p", regions: {}}`,
		"ramps":         `{type: "palette", name: "p", colors: {}, ramps: {` + repeat(10_000, func(i int) string { return fmt.Sprintf(`r%d: {base: "#888", steps: 256},`, i) }) + `}}` + `{type: "sprite", name: "t", size: [1, 1], palette: "p", regions: {}}`,
		"keyframes":     sprite(2048, 2048, `a: {rect: [0,0,2048,2048]}`) + `{type: "animation", name: "n", duration: 4000000000, keyframes: {from: {sprite: "s", transform: "rotate(1) scale(2)"}, to: {transform: "rotate(300) translate(4000, 0)"}}}`,
		"cycles":        sprite(2048, 2048, `a: {rect: [0,0,2048,2048]}`) + `{type: "animation", name: "n", sprite: "s", palette_cycle: [` + repeat(200, func(i int) string { return fmt.Sprintf(`{tokens: ["a", "b", "c"], duration: %d},`, 1009+2*i) }) + `]}`,
		"attachments":   sprite(512, 512, `a: {rect: [0,0,512,512]}`) + `{type: "animation", name: "n", frames: [` + strings.Repeat(`"s",`, 300) + `], attachments: [` + strings.Repeat(`{name: "x", anchor: [0, 0], chain: ["s", "s", "s"]},`, 10_000) + `]}`,
		"state rules":   `{type: "sprite", name: "s", ` + big + `, regions: {` + repeat(6_000, func(i int) string { return fmt.Sprintf("a%d: {points: [[0,0]]},", i) }) + `}}{type: "state-rules", name: "r", rules: {` + repeat(8_000, func(i int) string { return fmt.Sprintf(`".x[token=a%d]": {"drop-shadow": "1 1"},`, i) }) + `}}`,
		"relationships": `{type: "palette", name: "p", colors: {a: "#f00", b: "#0f0"}, relationships: {` + repeat(12_000, func(i int) string { return fmt.Sprintf(`a%d: {type: "derives-from", target: "b"},`, i) }) + `}}{type: "sprite", name: "s", size: [1024, 1024], palette: "p", regions: {a: {rect: [0,0,512,1024]}, b: {rect: [512,0,512,1024]}}}`,
		"sources": repeat(10_000, func(i int) string {
			return fmt.Sprintf(`{type:"sprite",name:"s%d",source:"s%d",palette:{}}`+"\n", i, i+1)
		}),
		"variant tower": sprite(1, 1, `a: {points: [[0, 0]]}`) + repeat(3_000, func(i int) string {
			return fmt.Sprintf(`{type:"variant",name:"v%d",base:"v%d",palette:{}}`+"\n", i, i+1)
		}),
		"unknown names":  `{type: "composition", name: "c", size: [9, 9], sprites: {` + repeat(30_000, func(i int) string { return fmt.Sprintf(`k%d: "name%d",`, i, i) }) + `}, layers: []}`,
		"unknown keys":   `{type: "sprite", name: "s", size: [1, 1], palette: {}, regions: {a: {` + repeat(60_000, func(i int) string { return fmt.Sprintf(`key%d: 1,`, i) }) + `}}}`,
		"unknown tokens": `{type: "sprite", name: "s", size: [1, 1], palette: {` + repeat(10_000, func(i int) string { return fmt.Sprintf(`k%d: "red",`, i) }) + `}, regions: {` + repeat(10_000, func(i int) string { return fmt.Sprintf(`name%d: {},`, i) }) + `}}`,
		"unknown refs":   sprite(1, 1, repeat(20_000, func(i int) string { return fmt.Sprintf(`n%d: {fill: "inside(x%d)"},`, i, i) })),
	}
}

// exceeding names the hostile documents of which something is left out for an eighth of the budget.
const exceeding = " thick strokes, many lines, many edges, keyframes, many regions of all pixels, jitter, rotations, fills, transforms, outlines, many sprites, composition of all, cells, fill cells, ramps, cycles, attachments,"

// TestHostileDocuments draws documents that ask for too much: each must end, within
// bounds of memory that are told here, and say what was left out. It works on an
// eighth of the budget, which takes an eighth of the time.
func TestHostileDocuments(t *testing.T) {
	for name, src := range hostileDocuments() {
		t.Run(name, func(t *testing.T) {
			if len(src) > MaxSource {
				t.Fatalf("%d bytes are cut at the limit", len(src))
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			d := Parse([]byte(src), Options{})
			d.divide = 8
			list := d.Check()
			checked := len(list)
			if limited := slices.ContainsFunc(list, func(x Diagnostic) bool { return x.Code == CodeLimit }); limited != strings.Contains(exceeding, " "+name+",") {
				t.Errorf("told of a limit: %v", limited)
			}
			took := time.Since(start)
			if name == "state rules" {
				if _, err := d.Render(RenderOptions{AllStates: true}); err != nil {
					t.Error(err)
				}
			}
			runtime.ReadMemStats(&after)
			const most = 512 // a document may make the engine allocate, in MB
			allocated := (after.TotalAlloc - before.TotalAlloc) >> 20
			t.Logf("%v, %d diagnostics, %d MB allocated, %d MB in use", took.Round(time.Millisecond), checked, allocated, after.Sys>>20)
			if allocated > most {
				t.Errorf("got %d MB allocated, want at most %d", allocated, most)
			}
		})
	}
}
