package fake

import (
	"fmt"
	"strings"
)

// Form is the schema of a large form: fifteen fields, some of them nested, one with a
// choice of 126.
func Form() string {
	var towns []string
	for i := range 126 {
		towns = append(towns, fmt.Sprintf(`{"const":"t%d","title":"%s"}`, i, town(i)))
	}
	return `{"type":"object","required":["name","town","nights"],"properties":{
		"name":{"type":"string","title":"Name","description":"As it is written in the passport.","minLength":2},
		"email":{"type":"string","format":"email","title":"Email"},
		"town":{"type":"string","title":"Town","description":"Where the journey begins.","oneOf":[` + strings.Join(towns, ",") + `]},
		"nights":{"type":"integer","title":"Nights","minimum":1,"maximum":30,"default":3},
		"class":{"type":"string","title":"Class","enum":["1","2"],"enumNames":["first","second"],"default":"2"},
		"budget":{"type":"number","title":"Budget"},
		"quiet":{"type":"boolean","title":"Quiet area"},
		"day":{"type":"string","format":"date","title":"Day"},
		"extras":{"type":"array","title":"Extras","items":{"anyOf":[{"const":"b","title":"breakfast"},{"const":"s","title":"seat reservation"},{"const":"i","title":"insurance"}]},"maxItems":2},
		"passenger":{"type":"object","title":"Passenger","required":["street"],"properties":{
			"street":{"type":"string","title":"Street"},"zip":{"type":["string","null"],"title":"Postal code"}}},
		"stops":{"type":"array","title":"Stops","items":{"type":"object","properties":{"town":{"type":"string","title":"Town"},"minutes":{"type":"integer","title":"Minutes"}},"required":["town"]}},
		"pay":{"title":"Payment","oneOf":[{"type":"object","title":"Invoice","properties":{"reference":{"type":"string","title":"Reference"}},"required":["reference"]},{"type":"object","title":"Voucher","properties":{"code":{"type":"string","title":"Code"}},"required":["code"]}]},
		"notes":{"type":"string","title":"Notes","description":"Anything the crew should know."},
		"api_key":{"type":"string","title":"API key"},
		"meta":{"title":"Anything else"}}}`
}

func town(i int) string {
	first := []string{"Alt", "Brun", "Cal", "Dun", "East", "Fair", "Glen", "Hart", "Ing"}
	last := []string{"burg", "dale", "field", "ford", "ham", "mouth", "port", "stead", "ton", "ville", "wick", "wold", "worth", "by"}
	return first[i/len(last)%len(first)] + last[i%len(last)]
}
