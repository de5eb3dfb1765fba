package frames

import (
	"encoding/json"
	"fmt"
	"image"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Formats lists how an atlas can be described.
func Formats() []string { return []string{"json", "aseprite", "godot", "unity", "libgdx"} }

// Describe is the description of a page stored under the file name file, in one
// of the Formats, and the extension of its file.
func (p Page) Describe(format, file string, animations []Animation) (text []byte, ext string, err error) {
	var with []Animation
	for _, a := range animations {
		if len(a.Frames) > 0 && !slices.ContainsFunc(a.Frames, func(f string) bool { return p.find(f) == nil }) {
			with = append(with, a)
		}
	}
	switch format {
	case "json":
		text, err = p.JSON(file, animations)
		return text, ".json", err
	case "aseprite":
		text, err = p.aseprite(file, with)
		return text, ".json", err
	case "godot":
		return p.godot(file, with), ".tres", nil
	case "unity":
		text, err = p.unity(file, with)
		return text, ".json", err
	case "libgdx":
		return p.libGDX(file, with), ".atlas", nil
	}
	return nil, "", fmt.Errorf("describe the atlas: unknown format %q (known: %s)", format, strings.Join(Formats(), ", "))
}

func (p Page) find(name string) *Placed {
	i := slices.IndexFunc(p.Sprites, func(s Placed) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &p.Sprites[i]
}

// duration is that of a frame.
func (a Animation) duration() time.Duration { return max(a.Duration, time.Millisecond) }

// stills are the sprites that no animation shows.
func (p Page) stills(animations []Animation) []Placed {
	var out []Placed
	for _, s := range p.Sprites {
		if !slices.ContainsFunc(animations, func(a Animation) bool { return slices.Contains(a.Frames, s.Name) }) {
			out = append(out, s)
		}
	}
	return out
}

type box struct {
	X int `json:"x"`
	Y int `json:"y"`
	W int `json:"w"`
	H int `json:"h"`
}

func boxOf(r image.Rectangle) box { return box{r.Min.X, r.Min.Y, r.Dx(), r.Dy()} }

type extent struct {
	W int `json:"w"`
	H int `json:"h"`
}

type asepriteFrame struct {
	Name     string `json:"filename"`
	Frame    box    `json:"frame"`
	Rotated  bool   `json:"rotated"`
	Trimmed  bool   `json:"trimmed"`
	Source   box    `json:"spriteSourceSize"`
	Size     extent `json:"sourceSize"`
	Duration int64  `json:"duration"` // milliseconds
}

type asepriteTag struct {
	Name      string `json:"name"`
	From      int    `json:"from"`
	To        int    `json:"to"`
	Direction string `json:"direction"`
	Repeat    string `json:"repeat,omitempty"`
}

type asepriteKey struct {
	Frame  int `json:"frame"`
	Bounds box `json:"bounds"`
	Pivot  *xy `json:"pivot,omitempty"`
}

type xy struct {
	X int `json:"x"`
	Y int `json:"y"`
}

type asepriteSlice struct {
	Name string        `json:"name"`
	Keys []asepriteKey `json:"keys"`
}

// aseprite writes the array form of Aseprite's sheet data. An animation is a run
// of frames with a tag over it; its own tags lie within.
func (p Page) aseprite(file string, animations []Animation) ([]byte, error) {
	var out struct {
		Frames []asepriteFrame `json:"frames"`
		Meta   struct {
			App    string          `json:"app"`
			Image  string          `json:"image"`
			Format string          `json:"format"`
			Size   extent          `json:"size"`
			Scale  string          `json:"scale"`
			Tags   []asepriteTag   `json:"frameTags"`
			Slices []asepriteSlice `json:"slices"`
		} `json:"meta"`
	}
	add := func(name string, s *Placed, d time.Duration) {
		at := len(out.Frames)
		out.Frames = append(out.Frames, asepriteFrame{
			Name: name, Frame: boxOf(s.Rect), Source: box{0, 0, s.Rect.Dx(), s.Rect.Dy()},
			Size: extent{s.Rect.Dx(), s.Rect.Dy()}, Duration: d.Milliseconds(),
		})
		for _, b := range slices.Sorted(maps.Keys(s.Boxes)) {
			v := s.Boxes[b]
			out.Meta.Slices = append(out.Meta.Slices, asepriteSlice{name + " " + b, []asepriteKey{{Frame: at, Bounds: box{v[0], v[1], v[2], v[3]}}}})
		}
		if o := s.Origin; o != nil {
			out.Meta.Slices = append(out.Meta.Slices, asepriteSlice{name + " origin", []asepriteKey{{
				Frame: at, Bounds: box{0, 0, s.Rect.Dx(), s.Rect.Dy()}, Pivot: &xy{o[0], o[1]},
			}}})
		}
	}
	out.Meta.Tags, out.Meta.Slices = []asepriteTag{}, []asepriteSlice{}
	for _, a := range animations {
		from := len(out.Frames)
		for i, f := range a.Frames {
			add(a.Name+" "+strconv.Itoa(i), p.find(f), a.duration())
		}
		tag := asepriteTag{Name: a.Name, From: from, To: len(out.Frames) - 1, Direction: "forward"}
		if !a.Loop {
			tag.Repeat = "1"
		}
		out.Meta.Tags = append(out.Meta.Tags, tag)
		for _, t := range slices.Sorted(maps.Keys(a.Tags)) {
			v := a.Tags[t]
			out.Meta.Tags = append(out.Meta.Tags, asepriteTag{Name: a.Name + " " + t, From: from + v.Start, To: from + v.End, Direction: "forward"})
		}
	}
	for _, s := range p.stills(animations) {
		add(s.Name, &s, 100*time.Millisecond)
	}
	b := p.Image.Bounds()
	out.Meta.App, out.Meta.Image, out.Meta.Format, out.Meta.Scale = "mcpdeck", file, "RGBA8888", "1"
	out.Meta.Size = extent{b.Dx(), b.Dy()}
	return json.MarshalIndent(out, "", "  ")
}

// godot writes a SpriteFrames resource of Godot 4. A sprite of no animation is an
// animation of one frame.
func (p Page) godot(file string, animations []Animation) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "[gd_resource type=\"SpriteFrames\" load_steps=%d format=3]\n\n", len(p.Sprites)+2)
	fmt.Fprintf(&b, "[ext_resource type=\"Texture2D\" path=%s id=\"1\"]\n", godotString(file))
	id := map[string]string{}
	for i, s := range p.Sprites {
		id[s.Name] = fmt.Sprintf("AtlasTexture_%d", i+1)
		fmt.Fprintf(&b, "\n[sub_resource type=\"AtlasTexture\" id=%q]\natlas = ExtResource(\"1\")\nregion = Rect2(%d, %d, %d, %d)\n",
			id[s.Name], s.Rect.Min.X, s.Rect.Min.Y, s.Rect.Dx(), s.Rect.Dy())
	}
	for _, s := range p.stills(animations) {
		animations = append(slices.Clip(animations), Animation{Name: s.Name, Frames: []string{s.Name}, Duration: 200 * time.Millisecond})
	}
	b.WriteString("\n[resource]\nanimations = [")
	for i, a := range animations {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("{\n\"frames\": [")
		for k, f := range a.Frames {
			if k > 0 {
				b.WriteString(", ")
			}
			// Durations are in parts of the animation's own frame time.
			fmt.Fprintf(&b, "{\n\"duration\": 1.0,\n\"texture\": SubResource(%q)\n}", id[f])
		}
		fmt.Fprintf(&b, "],\n\"loop\": %t,\n\"name\": &%s,\n\"speed\": %s\n}", a.Loop, godotString(a.Name), real(float64(time.Second)/float64(a.duration())))
	}
	b.WriteString("]\n")
	return []byte(b.String())
}

// godotString is a string as Godot's text resources write it.
func godotString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// real is a number with a point, rounded to what matters.
func real(v float64) string {
	s := strconv.FormatFloat(math.Round(v*1e4)/1e4, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// unity writes names, rectangles, pivots and borders as Unity's sprite importer
// takes them: from the lower left corner of the texture.
func (p Page) unity(file string, animations []Animation) ([]byte, error) {
	type vector struct {
		X float64 `json:"x"`
		Y float64 `json:"y"`
	}
	type border struct {
		Left   int `json:"x"`
		Bottom int `json:"y"`
		Right  int `json:"z"`
		Top    int `json:"w"`
	}
	type sprite struct {
		Name   string `json:"name"`
		Rect   box    `json:"rect"`
		Pivot  vector `json:"pivot"`
		Border border `json:"border"`
	}
	type clip struct {
		Name    string   `json:"name"`
		Rate    float64  `json:"frameRate"`
		Loop    bool     `json:"loop"`
		Sprites []string `json:"sprites"`
	}
	b := p.Image.Bounds()
	out := struct {
		Texture    string   `json:"texture"`
		Size       extent   `json:"textureSize"`
		PerUnit    int      `json:"pixelsPerUnit"`
		Filter     string   `json:"filterMode"`
		Sprites    []sprite `json:"sprites"`
		Animations []clip   `json:"animations"`
	}{file, extent{b.Dx(), b.Dy()}, 16, "Point", []sprite{}, []clip{}}
	for _, s := range p.Sprites {
		w, h := s.Rect.Dx(), s.Rect.Dy()
		u := sprite{Name: s.Name, Rect: box{s.Rect.Min.X, b.Dy() - s.Rect.Max.Y, w, h}, Pivot: vector{0.5, 0.5}}
		if o := s.Origin; o != nil {
			u.Pivot = vector{float64(o[0]) / float64(w), 1 - float64(o[1])/float64(h)}
		}
		if n := s.Border; n != nil {
			u.Border = border{n[0], n[3], n[1], n[2]}
		}
		out.Sprites = append(out.Sprites, u)
	}
	for _, a := range animations {
		out.Animations = append(out.Animations, clip{a.Name, math.Round(1e6/float64(max(1, a.duration().Milliseconds()))) / 1e3, a.Loop, a.Frames})
	}
	return json.MarshalIndent(out, "", "  ")
}

// libGDX writes the text that libGDX's TextureAtlas reads. The frames of an
// animation are regions of its name with an index, beside those of the sprites.
func (p Page) libGDX(file string, animations []Animation) []byte {
	var b strings.Builder
	bounds := p.Image.Bounds()
	fmt.Fprintf(&b, "%s\nsize: %d, %d\nformat: RGBA8888\nfilter: Nearest, Nearest\nrepeat: none\n", file, bounds.Dx(), bounds.Dy())
	region := func(name string, s *Placed, index int) {
		w, h := s.Rect.Dx(), s.Rect.Dy()
		fmt.Fprintf(&b, "%s\n  rotate: false\n  xy: %d, %d\n  size: %d, %d\n", strings.ReplaceAll(name, "\n", " "), s.Rect.Min.X, s.Rect.Min.Y, w, h)
		if n := s.Border; n != nil {
			fmt.Fprintf(&b, "  split: %d, %d, %d, %d\n", n[0], n[1], n[2], n[3])
		}
		fmt.Fprintf(&b, "  orig: %d, %d\n  offset: 0, 0\n  index: %d\n", w, h, index)
	}
	for i := range p.Sprites {
		region(p.Sprites[i].Name, &p.Sprites[i], -1)
	}
	for _, a := range animations {
		if p.find(a.Name) != nil {
			continue // its regions would pass for the sprite
		}
		for i, f := range a.Frames {
			region(a.Name, p.find(f), i)
		}
	}
	return []byte(b.String())
}
