package config

import (
	"math"
	"reflect"
	"slices"
	"strings"
)

// Section is what one of mcpdeck's own servers has of the configuration: its name, which no
// added server can have, and the table of that name.
type Section struct {
	Name string
	// Defaults makes a pointer to a struct with the defaults; nil: the configuration itself has
	// the table. The comments of its fields are what the schema and the list of options say.
	Defaults func() any
	About    string // what the schema says of the table

	// By option, without the name of the table:
	Words map[string][]string // values, of options that accept only some; "" first, where it is one
	Most  map[string]int64    // the greatest value of numbers, from 1 on
	// Live are the options that apply without a restart.
	Live []string

	// Checks says that the server itself warns of words it does not know.
	Checks bool
	// Read takes over what other files than the configuration say, which wins; nil: none do.
	Read func(*Config)
	// File is the name of such a file in the configuration's folder, and FileAbout what it is.
	File, FileAbout string
	// Override takes over what the environment says, once the configuration is read; nil: nothing.
	Override func(*Config)
	// Settle is called once it is known which folders may be used; nil: nothing depends on it.
	Settle func(*Config)
	// Problems are mistakes in the options that nothing else notices; nil: there are none.
	Problems func(*Config) []string
	// Included is why an entry of this name in a client's configuration is not added to the deck;
	// "": it is a server like others.
	Included string
}

// Of is the section of a type; the zero value if the configuration has none.
func Of[T any](c *Config) *T {
	for _, v := range c.sections {
		if section, ok := v.(*T); ok {
			return section
		}
	}
	return new(T)
}

// With is a configuration of nothing but sections, for tests.
func With(sections ...any) *Config { return &Config{sections: sections} }

// sectionsBefore is the field of [File] before which the sections stand in the file.
const sectionsBefore = "Server"

// whole is the configuration file with all sections, as one struct that can be changed;
// [Config.take] takes the changes over.
func (c *Config) whole() reflect.Value {
	file := reflect.ValueOf(c.File)
	var fields []reflect.StructField
	var values []reflect.Value
	add := func(name string, tag reflect.StructTag, v reflect.Value) {
		fields = append(fields, reflect.StructField{Name: name, Tag: tag, Type: v.Type()})
		values = append(values, v)
	}
	for f := range file.Type().Fields() {
		if f.Name == sectionsBefore {
			for i, v := range c.sections {
				name := c.tables[i].Name
				add(strings.ToUpper(name[:1])+name[1:], reflect.StructTag(`toml:"`+name+`"`), reflect.ValueOf(v).Elem())
			}
		}
		add(f.Name, f.Tag, file.FieldByIndex(f.Index))
	}
	out := reflect.New(reflect.StructOf(fields)).Elem()
	for i, v := range values {
		out.Field(i).Set(v)
	}
	return out
}

// take takes over what became of [Config.whole].
func (c *Config) take(whole reflect.Value) {
	file := reflect.ValueOf(&c.File).Elem()
	at := 0
	for f := range file.Type().Fields() {
		if f.Name == sectionsBefore {
			for _, v := range c.sections {
				reflect.ValueOf(v).Elem().Set(whole.Field(at))
				at++
			}
		}
		file.FieldByIndex(f.Index).Set(whole.Field(at))
		at++
	}
}

// byDefault is a configuration without a file.
func byDefault(servers []Section) *Config {
	c := &Config{File: defaults(), servers: servers}
	for _, s := range servers {
		if s.Defaults != nil {
			c.tables, c.sections = append(c.tables, s), append(c.sections, s.Defaults())
		}
	}
	return c
}

// FileType is the type of the configuration file with all sections, for what is made of it.
func FileType(servers []Section) reflect.Type { return byDefault(servers).whole().Type() }

// eachSection calls what sections have to do, where they have something.
func (c *Config) eachSection(of func(Section) func(*Config)) {
	for _, s := range c.servers {
		if do := of(s); do != nil {
			do(c)
		}
	}
}

// Problems are mistakes that the servers find in their sections.
func (c *Config) Problems() (out []string) {
	for _, s := range c.servers {
		if s.Problems != nil {
			out = append(out, s.Problems(c)...)
		}
	}
	return out
}

// Included is why an entry of a name is not added to the deck; "" if it may be.
func (c *Config) Included(name string) string {
	for _, s := range c.servers {
		if s.Name == name {
			return s.Included
		}
	}
	return ""
}

// ownServers are the names that no card can have: they are the deck's own, and what stands for
// all of them.
func (c *Config) ownServers() []string {
	names := []string{"mcpdeck"}
	for _, s := range c.servers {
		names = append(names, s.Name)
	}
	return names
}

// checksItself reports whether a table warns by itself of words it does not know.
func (c *Config) checksItself(table string) bool {
	return slices.ContainsFunc(c.servers, func(s Section) bool { return s.Name == table && s.Checks })
}

// most is the greatest value of an option of a section; 0 for another option.
func most(servers []Section, key string) int64 {
	table, option, _ := strings.Cut(key, ".")
	for _, s := range servers {
		if s.Name == table {
			return s.Most[option]
		}
	}
	return 0
}

// Range is the least and the greatest value of an option that is a number or a duration.
func Range(servers []Section, key string) (least, greatest int64) {
	if r, ok := ranges()[key]; ok {
		return r[0], r[1]
	}
	if n := most(servers, key); n > 0 {
		return 1, n
	}
	return 0, math.MaxInt64
}

// FromVariable notes that a variable of the environment gives an option its value.
func (c *Config) FromVariable(key, name string) { c.from[key] = environment + name }

// Literal is the value of an option, or of a table, as the file would have it.
func (c *Config) Literal(key string) string {
	var out []string
	walk(c.whole(), nil, false, func(path []string, v reflect.Value) {
		if at := strings.Join(path, "."); at == key || strings.HasPrefix(at, key+".") {
			out = append(out, at+" = "+Literal(v))
		}
	})
	return strings.Join(out, "\n")
}
