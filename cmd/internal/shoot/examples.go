package main

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
)

const examplesName = "pixelsrc.png"

// shelves are the objects of the examples in the order in which they are shown: a row for
// each shelf, each object after the name of its example.
func shelves() [][][2]string {
	return [][][2]string{
		{
			{"hero", "hero"},
			{"hero", "hero_red"},
			{"slime", "slime"},
			{"robot", "robot"},
			{"mushroom", "mushroom"},
			{"chest", "closed"},
			{"chest", "open"},
			{"sword", "sword"},
			{"spaceship", "ship"},
			{"butterfly", "butterfly"},
			{"coin", "coin"},
			{"heart", "heart"},
		},
		{{"sunset", "sunset"}, {"city", "city"}, {"tileset", "meadow"}},
		{
			{"potion", "shelf"}, {"waterfall", "waterfall"}, {"campfire", "fire_1"}, {"fish", "school"}, {"gem", "gem"}, {"panel", "panel"}, {"walk_cycle", "step_1"},
		},
	}
}

// drawExamples draws the examples side by side.
func drawExamples(out string) error {
	const scale, gap, width = 4, 16, 960
	var rows [][]image.Image
	height := gap
	for _, shelf := range shelves() {
		var row []image.Image
		tallest := 0
		for _, o := range shelf {
			im, err := drawExample(o[0], o[1], scale)
			if err != nil {
				return fmt.Errorf("draw %s of %s: %w", o[1], o[0], err)
			}
			row = append(row, im)
			tallest = max(tallest, im.Bounds().Dy())
		}
		rows = append(rows, row)
		height += tallest + gap
	}
	whole := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(whole, whole.Bounds(), image.NewUniform(color.RGBA{0x2b, 0x2d, 0x3a, 0xff}), image.Point{}, draw.Src)
	y := gap
	for _, row := range rows {
		wide, tallest := 0, 0
		for _, im := range row {
			wide, tallest = wide+im.Bounds().Dx(), max(tallest, im.Bounds().Dy())
		}
		between := (width - wide) / (len(row) + 1)
		x := between
		for _, im := range row {
			at := image.Pt(x, y+(tallest-im.Bounds().Dy())/2)
			draw.Draw(whole, image.Rectangle{Min: at, Max: at.Add(im.Bounds().Size())}, im, im.Bounds().Min, draw.Over)
			x += im.Bounds().Dx() + between
		}
		y += tallest + gap
	}
	b, err := encodePNG(whole)
	if err != nil {
		return err
	}
	return writeFile(out, examplesName, b)
}

func drawExample(example, object string, scale int) (image.Image, error) {
	s := pixelsrc.New(pixelsrc.Options{})
	src := s.Parse(context.Background(), pixelsrc.Caller{}, pixelsrc.Example(example))
	drawn, err := src.Render(pxl.RenderOptions{Name: object, Scale: scale})
	if err != nil {
		return nil, err
	}
	return drawn.Image(), nil
}
