// Package sample has sources and pictures for the tests of the pixel art server.
package sample

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/json5"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// ink is the colour of a letter.
func ink(r rune) color.NRGBA {
	return map[rune]color.NRGBA{
		'A': {255, 0, 0, 255}, 'B': {0, 255, 0, 255}, 'C': {0, 0, 255, 255}, 'Y': {255, 255, 0, 255},
		'K': {0, 0, 0, 255}, 'W': {255, 255, 255, 255}, 'h': {255, 0, 0, 128}, 'R': {0xC8, 0x64, 0x64, 255}, 'D': {0x64, 0x32, 0x32, 255},
	}[r]
}

// Drawn makes a picture of rows of letters; a dot is transparent.
func Drawn(s string) *image.NRGBA {
	rows := strings.Fields(s)
	img := image.NewNRGBA(image.Rect(0, 0, len(rows[0]), len(rows)))
	for y, row := range rows {
		for x, r := range row {
			img.SetNRGBA(x, y, ink(r))
		}
	}
	return img
}

// PNG is a drawn picture as base64.
func PNG(s string) string {
	var b bytes.Buffer
	if err := png.Encode(&b, Drawn(s)); err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// Corpus has the sources of the conformance corpus; the test is skipped
// without them.
func Corpus(t testing.TB) map[string]string {
	t.Helper()
	files := map[string]string{}
	root := filepath.Join(realtest.Corpus(t), "corpus")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if ext := filepath.Ext(path); err != nil || d.IsDir() || ext != ".pxl" && ext != ".jsonl" {
			return err
		}
		b, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, root)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func plain(n *json5.Node) any {
	switch n.Kind {
	case json5.Object:
		m := map[string]any{}
		for i, k := range n.Keys {
			m[k.Name] = plain(&n.Items[i])
		}
		return m
	case json5.Array:
		var l []any
		for i := range n.Items {
			l = append(l, plain(&n.Items[i]))
		}
		return l
	case json5.String:
		return n.Text
	case json5.Bool:
		return n.Truth()
	case json5.Int:
		return n.Int()
	case json5.Float:
		return n.Float()
	default:
		return nil
	}
}

// SameValues fails the test when two sources hold different values.
func SameValues(t testing.TB, a, b string) {
	t.Helper()
	x, _ := json5.Parse(a)
	y, _ := json5.Parse(b)
	if len(x) != len(y) {
		t.Fatalf("%d objects became %d", len(x), len(y))
	}
	for i := range x {
		if p, q := plain(&x[i]), plain(&y[i]); !reflect.DeepEqual(p, q) {
			t.Errorf("object %d: %v became %v", i, p, q)
		}
	}
}

// AllFields has one object of every kind with every field.
const AllFields = `
{type:"palette",name:"p",colors:{a:"red","--v":"blue"},ramps:{r:{base:"red",steps:5,shadow_shift:{lightness:-10}}},roles:{a:"fill"},relationships:{a:{type:"derives-from",target:"b"}},antialias:{enabled:true}}
{type:"sprite",name:"s",size:[2,2],palette:{a:"red"},source:"t",regions:{a:{rect:[0,0,1,1],symmetric:"x",except:["b"]},b:{union:[{points:[[1,1]]},{circle:[1,1,1]}],z:-3}},transform:["mirror-h",{op:"pad",size:1}],metadata:{origin:[1,-1],boxes:{hit:{x:0,y:0,w:1,h:1}}},nine_slice:{left:1,right:1,top:1,bottom:1},antialias:{algorithm:"hq2x"},background:"a","state-rules":"q"}
{type:"variant",name:"v",base:"s",palette:{a:"blue"},transform:["rotate:90"]}
{type:"composition",name:"c",base:"s",size:[4,4],cell_size:[2,2],sprites:{A:"s",".":null},layers:[{name:"l",fill:"A",map:["A."],blend:"multiply",opacity:0.5,transform:["mirror-h"]},{sprite:"s",x:-1,y:2,opacity:"var(--o)"}]}
{type:"animation",name:"a",frames:["s","v"],keyframes:{"0%":{sprite:"s",transform:"rotate(90deg)",opacity:0.5,offset:[1,-1]}},source:"z",transform:["pingpong"],duration:"500ms",timing_function:"steps(4)",loop:false,palette_cycle:[{tokens:["a"],duration:100}],tags:{t:{start:0,end:1,loop:true,fps:5}},frame_metadata:[{boxes:{h:null}}],attachments:[{name:"x",anchor:[1,2],chain:["s"],delay:2,follow:"velocity",damping:0.5,stiffness:.25,z_index:-1,keyframes:{"0":{offset:[1,1]}}}]}
{type:"particle",name:"d",sprite:"s",emitter:{rate:1.5,lifetime:[1,2],velocity:{x:[-1,1],y:[0,2]},gravity:.1,fade:true,rotation:[0,90],seed:7}}
{type:"transform",name:"tr",params:["n"],ops:["mirror-h"],compose:["x"],cycle:[["a"],["b"]],frames:4,keyframes:[{frame:0,"shift-y":1}],easing:"bounce"}
{type:"import",from:"./x",as:"x",sprites:["a"],palettes:["b"],transforms:["c"],animations:["d"]}
{type:"state-rules",name:"q",rules:[{selector:".hurt [token=a]",apply:{color:"red",visible:false,z:3,transform:"x"}}]}
`

// Dot is a sprite of one pixel.
const Dot = `{"type":"sprite","name":"dot","size":[1,1],"palette":{"_":"#00000000","x":"#FF0000"},"regions":{"x":{"points":[[0,0]],"z":0}}}`

// Hero is a sprite of one colour with sides of some pixels.
func Hero(colour string, side int) string {
	return fmt.Sprintf(`{"type":"sprite","name":"hero","size":[%d,%d],"palette":{"_":"#00000000","x":"%s"},"regions":{"x":{"rect":[0,0,%d,%d]}}}`, side, side, colour, side, side)
}
