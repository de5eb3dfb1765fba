package pixelsrc

import (
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/internal/sample"
)

func mustFormat(t *testing.T, in string) string {
	t.Helper()
	f, err := Format(in)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Format(f.Text)
	if err != nil {
		t.Fatalf("the output does not parse: %v\n%s", err, f.Text)
	}
	if again.Text != f.Text {
		t.Errorf("not idempotent:\n%s\nthen\n%s", f.Text, again.Text)
	}
	return f.Text
}

func TestFormat(t *testing.T) {
	for _, row := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"blank", " \n\n", ""},
		{
			"palette", `{colors:{z:'#fff',"{a}":"#000",_:"#0000","--v":"red",m:"red"},name:"test",type:"palette"}`,
			`{"type": "palette", "name": "test", "colors": {"--v": "red", "_": "#0000", "{a}": "#000", "m": "red", "z": "#fff"}}` + "\n",
		},
		{
			"one region", `{type:"sprite",name:"a",size:[4,2],palette:"p",regions:{x:{points:[[0,0]],z:0}}}`,
			`{"type": "sprite", "name": "a", "size": [4, 2], "palette": "p", "regions": {"x": {"points": [[0, 0]], "z": 0}}}` + "\n",
		},
		{
			"regions keep their order", `{type:"sprite",name:"a",size:[4,2],palette:"p",regions:{b:{rect:[0,0,2,2]},a:{rect:[1,1,1,1]}}}`,
			"{\"type\": \"sprite\", \"name\": \"a\", \"size\": [4, 2], \"palette\": \"p\", \"regions\": {\n  \"b\": {\"rect\": [0, 0, 2, 2]},\n  \"a\": {\"rect\": [1, 1, 1, 1]}\n}}\n",
		},
		{
			"composition", `{type:"composition",name:"c",layers:[{map:["ab","ba"],name:"l"},{map:["a"]}],sprites:{b:null,a:"x"},size:[2,2]}`,
			"{\"type\": \"composition\", \"name\": \"c\", \"size\": [2, 2], \"sprites\": {\"a\": \"x\", \"b\": null}, \"layers\": [\n  {\"name\": \"l\", \"map\": [\n    \"ab\",\n    \"ba\"\n  ]},\n  {\"map\": [\"a\"]}\n]}\n",
		},
		{"no layers", `{type:"composition",name:"c",layers:[],sprites:{}}`, `{"type": "composition", "name": "c", "sprites": {}, "layers": []}` + "\n"},
		{
			"two objects on a line", `{type:"import",from:"a"}{type:"import",from:"b"}`,
			"{\"type\": \"import\", \"from\": \"a\"}\n\n{\"type\": \"import\", \"from\": \"b\"}\n",
		},
		{
			"numbers", `{type:"particle",name:"p",sprite:"s",emitter:{seed:0x1F,rate:+.5,gravity:-.25,lifetime:[5.,9007199254740993],fade:true}}`,
			`{"type": "particle", "name": "p", "sprite": "s", "emitter": {"rate": 0.5, "lifetime": [5.0, 9007199254740993], "gravity": -0.25, "fade": true, "seed": 31}}` + "\n",
		},
		{
			"keyframes by time", `{type:"animation",name:"a",keyframes:{to:{sprite:"x"},"50%":{sprite:"y"},from:{sprite:"z"}},duration:"1s"}`,
			`{"type": "animation", "name": "a", "duration": "1s", "keyframes": {"from": {"sprite": "z"}, "50%": {"sprite": "y"}, "to": {"sprite": "x"}}}` + "\n",
		},
		{
			"unknown keys last", `{zebra:1,type:"variant",apple:2,base:"b",palette:{},name:"v"}`,
			`{"type": "variant", "name": "v", "base": "b", "palette": {}, "zebra": 1, "apple": 2}` + "\n",
		},
		{
			"escapes", `{type:"palette",name:'a"b\\c\nd\te\x01\x7f',colors:{}}`,
			`{"type": "palette", "name": "a\"b\\c\nd\te\u0001\u007f", "colors": {}}` + "\n",
		},
		{"BOM and CRLF", "\uFEFF{type:\"import\",\r\nfrom:\"a\"}\r\n", `{"type": "import", "from": "a"}` + "\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := mustFormat(t, row.in); got != row.want {
				t.Errorf("got\n%s\nwant\n%s", got, row.want)
			}
		})
	}
}

func TestFormatKeepsComments(t *testing.T) {
	in := `// header
// of two lines

/* about the palette */
{ // first
  type: "palette", name: "p", // its name
  colors: {
    // black
    k: "#000", /* white */ w: "#fff" // the end
  }
} // after the palette

{type:"sprite", name:"s", size:[2,2], palette:"p", regions:{
  // left
  k: {rect:[0,0,1,2]}, // dark
  /* right */
  w: {rect:[1,0,1,2] /* inner */}
}}
// goodbye
`
	out := mustFormat(t, in)
	for _, c := range []string{"// header\n// of two lines\n\n/* about the palette */\n{", "/* first */", "/* its name */", "/* black */ \"k\"", "/* white */ \"w\"", "/* the end */", "} // after the palette\n", "  // left\n  \"k\"", ", // dark\n", "  /* right */\n", "/* inner */", "}}\n\n// goodbye\n"} {
		if !strings.Contains(out, c) {
			t.Errorf("%q is missing from\n%s", c, out)
		}
	}
	if n := len(comments(out, 0, len(out))); n != 14 {
		t.Errorf("%d comments, want 14:\n%s", n, out)
	}
}

func TestFormatErrorsNameTheLine(t *testing.T) {
	_, err := Format("{type:\"import\",from:\"a\"}\n{bad json}\n")
	if err == nil || !strings.Contains(err.Error(), "Parse error at line 2") {
		t.Errorf("got %v", err)
	}
	if _, err := Format("{type:\"palette\", name:\"x\""); err == nil {
		t.Error("a truncated object is no error")
	}
}

func TestFormatTellsOfRepeatedKeys(t *testing.T) {
	f, err := Format(`{type:"palette",name:"a",name:"b",colors:{}}`)
	if err != nil || len(f.Dropped) != 1 || !strings.Contains(f.Text, `"name": "b"`) {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestFormatLosesNothing(t *testing.T) {
	sample.SameValues(t, sample.AllFields, mustFormat(t, sample.AllFields))
}

func TestFormatReadsJSON5(t *testing.T) {
	mustFormat(t, "// c\n{type:'palette',name:'x',colors:{a:'red',},}")
}

func FuzzFormat(f *testing.F) {
	f.Add(sample.AllFields)
	f.Add("{a:1, /* x */ b:2 // y\n}")
	f.Add("{a:/*k*/1,/*\n*/}//t")
	f.Add(`{"a/*b":[1,//x
2]}`)
	f.Fuzz(func(t *testing.T, in string) {
		out, err := Format(in)
		if err != nil {
			return
		}
		again, err := Format(out.Text)
		if err != nil {
			t.Fatalf("the output does not parse: %v\n%q\n%q", err, in, out.Text)
		}
		if again.Text != out.Text {
			t.Fatalf("not idempotent: %q\n%q\n%q", in, out.Text, again.Text)
		}
		if a, b := len(comments0(in)), len(comments0(out.Text)); a != b {
			t.Fatalf("%d comments became %d: %q\n%q", a, b, in, out.Text)
		}
		sample.SameValues(t, in, out.Text)
	})
}

// comments0 counts the comments of a whole text, strings skipped.
func comments0(src string) (list []comment) {
	for i := 0; i < len(src); i++ {
		switch c := src[i]; c {
		case '"', '\'':
			for i++; i < len(src) && src[i] != c; i++ {
				if src[i] == '\\' {
					i++
				}
			}
		case '/':
			cs := comments(src, i, len(src))
			if len(cs) == 0 {
				return list
			}
			list = append(list, cs[0])
			i = cs[0].end - 1
		}
	}
	return list
}
