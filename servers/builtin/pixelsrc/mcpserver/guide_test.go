package mcpserver

import (
	"regexp"
	"strings"
	"testing"
)

// everyForm has each shape and modifier that the guide names.
const everyForm = `{type:"palette",name:"p",colors:{"--base":"red",a:"var(--base)",b:"var(--none, blue)",c:"color-mix(in oklch, red 70%, black)",d:"#abc",e:"oklch(0.7 0.1 200)",f:"rgb(1 2 3)",g:"hsl(10 20% 30%)",h:"gold",i:"teal",j:"navy",k:"pink",l:"tan",m:"lime",n:"gray",o:"white"},ramps:{skin:{base:"#E8B89D",steps:5}}}
{type:"sprite",name:"all",size:[32,32],palette:"p",regions:{
 a:{line:[[0,0],[8,3],[10,10]],thickness:2},
 b:{path:"M12,0 L16,0 L16,4 Z"},
 c:{stroke:[18,0,8,8],thickness:2,round:2},
 d:{fill:"inside(c)"},
 e:{base:{rect:[0,12,8,8]},subtract:[{rect:[2,14,3,3]}]},
 f:{intersect:[{rect:[10,12,6,6]},{circle:[12,14,3]}]},
 g:{"auto-outline":"f"},
 h:{"auto-shadow":"b",offset:[1,1]},
 i:{rect:[0,22,4,4],symmetric:"x"},
 j:{points:[[20,22]],symmetric:22},
 k:{rect:[10,22,8,8],x:[10,13],y:[22,25]},
 l:{rect:[0,28,1,1],repeat:[3,2],spacing:[1,1],"offset-alternate":true},
 m:{rect:[24,10,4,2],transform:"rotate(90deg) translate(38, -10)"},
 n:{rect:[24,20,3,3],jitter:{x:[-1,1],y:[0,1]},seed:3},
 o:{rect:[1,13,1,1],within:"e","adjacent-to":"e"},
 skin_2:{points:[[31,31]]},"skin+2":{points:[[30,31]]},skin:"background"}}
{type:"sprite",name:"t",palette:"p",source:"all",transform:["mirror-h","rotate:90","outline:a","shadow:1,1"]}
`

// TestGuideForms: what the guide's tables name is drawn, without a warning.
func TestGuideForms(t *testing.T) {
	clean(t, start(t), everyForm)
	format := guideSection("format")
	rows := regexp.MustCompile("(?m)^\\| `([^|]*)` ").FindAllStringSubmatch(format, -1)
	known := 0
	for _, row := range rows {
		for _, name := range strings.FieldsFunc(row[1], func(r rune) bool { return r == '`' || r == ',' || r == ' ' }) {
			switch name {
			case "palette", "sprite", "variant", "composition", "animation", "particle", "state-rules", "import", "with", "z", "role", "except", "polygon", "union", "ellipse":
				continue // in the guide's own snippets and the examples
			}
			known++
			if !strings.Contains(everyForm, strings.Trim(name, `"`)) {
				t.Errorf("%s of the guide is not tried", name)
			}
		}
	}
	if known < 20 {
		t.Errorf("only %d names are read from the guide", known)
	}
}
