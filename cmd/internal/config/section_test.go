package config

import (
	"reflect"
	"testing"
)

// The sections of stand-ins for servers of mcpdeck's own.
type (
	polite struct {
		Policy map[string]string `toml:"policy"`
	}
	started struct {
		Command     string            `toml:"command"`
		Env         map[string]string `toml:"env"`
		MaxInFlight int               `toml:"max_in_flight"`
	}
	deep struct {
		Depth   int    `toml:"depth"`
		Mode    string `toml:"mode"`
		Publish bool   `toml:"publish"`
	}
)

func sections() []Section {
	return []Section{
		{Name: "pencil", Defaults: func() any { return &started{MaxInFlight: 1} }, Most: map[string]int64{"max_in_flight": 4}},
		{Name: "ask"},
		{Name: "logicstamp", Defaults: func() any { return &deep{Depth: 2} }, Read: func(c *Config) {
			Of[deep](c).Mode = "all"
			c.TakenFrom("mcp-config.json")
		}},
		{Name: "clippy", Defaults: func() any { return &polite{} }, Words: map[string][]string{"policy.*": {"allow", "ask", "off"}}},
	}
}

// A configuration begins with the defaults of its sections, each with values of its own.
func TestSectionsHaveTheirDefaults(t *testing.T) {
	one, other := byDefault(sections()), byDefault(sections())
	Of[deep](one).Depth = 9
	if got := Of[deep](other).Depth; got != 2 {
		t.Errorf("the depth of another configuration is %d", got)
	}
	if got := Of[struct{ X int }](one); got == nil || got.X != 0 {
		t.Errorf("a section that there is not is %v", got)
	}
	v := one.whole()
	if f := v.FieldByName("Logicstamp"); !reflect.DeepEqual(f.Interface(), deep{Depth: 9}) {
		t.Errorf("among the others it is %v", f)
	}
	v.FieldByName("Logicstamp").Field(0).SetInt(3)
	v.FieldByName("Debug").SetBool(true)
	one.take(v)
	if Of[deep](one).Depth != 3 || !one.File.Debug {
		t.Errorf("taken over: %v, %v", Of[deep](one), one.File.Debug)
	}
	if Of[deep](one) == nil || one.Literal("logicstamp.depth") != "logicstamp.depth = 3" {
		t.Errorf("as the file has it: %q", one.Literal("logicstamp.depth"))
	}
}
