package config

import "github.com/pelletier/go-toml/v2/unstable"

// keyLines tells at which line of a configuration file each entry of [keys]
// stands: what is wrong with them is known to the screen alone, which has no file.
func keyLines(b []byte) map[string]int {
	lines := map[string]int{}
	var p unstable.Parser
	p.Reset(b)
	table := ""
	for p.NextExpression() {
		e := p.Expression()
		var names []string
		line := 0
		for it := e.Key(); it.Next(); {
			n := it.Node()
			names = append(names, string(n.Data))
			line = p.Shape(n.Raw).Start.Line
		}
		switch {
		case e.Kind != unstable.KeyValue:
			table = ""
			if len(names) == 1 {
				table = names[0]
			}
		case table == "keys" && len(names) == 1:
			lines[names[0]] = line
		case table == "" && len(names) == 2 && names[0] == "keys":
			lines[names[1]] = line
		}
	}
	return lines
}
