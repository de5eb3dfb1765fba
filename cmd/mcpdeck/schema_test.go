package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcpdeck/mcpdeck/cmd/internal/app"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
)

const (
	schemaFile   = "../internal/config/schema.json"
	templateFile = "../internal/config/config.toml"
	optionsBegin = "-run Schema -update -->\n"
	optionsEnd   = "<!-- end of options -->"
)

// documented is what the comments of the fields of the configuration say, by type and
// field.
func documented(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for path, of := range map[string]reflect.Type{
		"../internal/config": reflect.TypeFor[config.File](), "../../servers/backend/upstream/settings": reflect.TypeFor[settings.Card](),
		"../internal/plugin": reflect.TypeFor[plugin.Clippy](),
		"../../theme":        reflect.TypeFor[theme.Palette](),
	} {
		files, err := filepath.Glob(filepath.Join(path, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				spec, ok := n.(*ast.TypeSpec)
				if !ok {
					return true
				}
				if s, ok := spec.Type.(*ast.StructType); ok {
					for _, field := range s.Fields.List {
						for _, name := range field.Names {
							var p comment.Parser
							text := (&comment.Printer{}).Text(p.Parse(field.Doc.Text()))
							out[of.PkgPath()+"."+spec.Name.Name+"."+name.Name] = strings.Join(strings.Fields(string(text)), " ")
						}
					}
				}
				return true
			})
		}
	}
	return out
}

// generator makes what is made of the structs of the configuration.
type generator struct {
	file  reflect.Type // of the configuration
	docs  map[string]string
	words map[string][]string
	live  func(key string) bool
	defs  map[string]any
	rows  []optionRow
}

// fileDocs is where the comments of the configuration's own fields are among the documented.
const fileDocs = module + "cmd/internal/config.File."

// optionRow is an option as the documents show it.
type optionRow struct {
	key, about, literal string
	words               []string
	live                bool
}

func newGenerator(t *testing.T) *generator {
	t.Helper()
	h := built(t, true)
	rows := h.Reloads()
	live := func(key string) bool { return app.IsReloaded(rows, key) }
	g := &generator{file: config.FileType(plugin.Sections()), docs: documented(t), words: config.Words(app.PageIDs(), plugin.Sections()), live: live, defs: map[string]any{}}
	defaults := map[string]reflect.Value{}
	for _, o := range config.Options(plugin.Sections()) {
		defaults[o.Key] = o.Value
	}
	complete, _, err := settings.Card{Command: []string{"x"}}.Complete("x")
	if err != nil {
		t.Fatal(err)
	}
	complete.Command = nil
	v := reflect.ValueOf(complete)
	for f := range v.Type().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
		defaults["server.*."+name] = v.FieldByIndex(f.Index)
	}
	g.root(t, defaults)
	g.actions(tui.Bounds(h.Screen(false)))
	return g
}

// root makes the definitions and the rows.
func (g *generator) root(t *testing.T, defaults map[string]reflect.Value) {
	t.Helper()
	g.defs["config"] = g.table(t, g.file, "", defaults)
	rows := len(g.rows)
	words := g.words
	g.words = map[string][]string{"theme.base": config.Bases()}
	for f := range reflect.TypeFor[theme.Palette]().Fields() {
		defaults["theme."+f.Tag.Get("toml")] = reflect.ValueOf("")
	}
	defaults["theme.base"] = reflect.ValueOf(config.Bases()[0])
	g.defs["theme"] = g.table(t, reflect.TypeFor[config.ThemeFile](), "theme", defaults)
	g.rows, g.words = g.rows[:rows], words
}

func (g *generator) table(t *testing.T, of reflect.Type, at string, defaults map[string]reflect.Value) map[string]any {
	t.Helper()
	properties := map[string]any{}
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
		if name == "-" {
			continue
		}
		if f.Anonymous {
			maps.Copy(properties, g.table(t, f.Type, at, defaults)["properties"].(map[string]any))
			continue
		}
		about := g.docs[of.PkgPath()+"."+of.Name()+"."+f.Name]
		if of == g.file {
			about = g.docs[fileDocs+f.Name]
		}
		if p := plugin.Of(name); about == "" && p != nil && at == "" {
			about = p.Config.About
		}
		key := strings.TrimPrefix(at+"."+name, ".")
		if about == "" {
			t.Errorf("%s: %s.%s has no comment that says what it is for", key, of.Name(), f.Name)
		}
		p := g.property(t, f.Type, key, about, defaults)
		p["description"] = about
		properties[name] = p
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
}

// property is the schema of one field; what is an option becomes a row.
func (g *generator) property(t *testing.T, of reflect.Type, key, about string, defaults map[string]reflect.Value) map[string]any {
	t.Helper()
	value, option := defaults[key]
	switch {
	case of.Kind() == reflect.Map && of.Elem().Kind() == reflect.Struct:
		def := key[strings.LastIndexByte(key, '.')+1:]
		g.defs[def] = g.table(t, of.Elem(), key+".*", defaults)
		return map[string]any{"type": "object", "additionalProperties": map[string]any{"$ref": "#/$defs/" + def}}
	case of.Kind() == reflect.Map && of.Elem().Kind() == reflect.Bool:
		properties := map[string]any{}
		for _, c := range clients.All() {
			if at := key + "." + c.ID; defaults[at].IsValid() {
				about := "Those of " + c.Title + "."
				p := g.property(t, of.Elem(), at, about, defaults)
				p["description"], properties[c.ID] = about, p
			}
		}
		return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	case !option:
		return g.table(t, of, key, defaults)
	}
	p := g.kind(of, key)
	live := g.live(key)
	if !live {
		p["x-restart"] = true
	}
	literal := config.Literal(value)
	g.rows = append(g.rows, optionRow{key, about, literal, g.words[key], live})
	if literal != "{}" && !strings.Contains(key, "*") || strings.HasPrefix(key, "server.") && !value.IsZero() {
		var set map[string]any
		if err := toml.Unmarshal([]byte("x = "+literal), &set); err != nil {
			t.Fatalf("%s = %s: %v", key, literal, err)
		}
		p["default"] = set["x"]
	}
	return p
}

// kind is what values of a type may be.
func (g *generator) kind(of reflect.Type, key string) map[string]any {
	switch {
	case of == reflect.TypeFor[humanize.Duration]():
		return map[string]any{"type": "string", "pattern": `^(0|([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`, "examples": []string{"90s", "2m"}}
	case key == "profile.*.lazy":
		return map[string]any{"anyOf": []any{map[string]any{"const": "auto"}, map[string]any{"type": "array", "items": map[string]any{"type": "string"}}}}
	case strings.HasPrefix(key, "theme.") && key != "theme.name" && key != "theme.base":
		return map[string]any{"type": "string", "pattern": "^(#[0-9a-fA-F]{6})?$"}
	}
	switch of.Kind() {
	case reflect.Pointer:
		return g.kind(of.Elem(), key)
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int:
		p := map[string]any{"type": "integer"}
		least, most := config.Range(plugin.Sections(), key)
		p["minimum"] = least
		if most < math.MaxInt64 {
			p["maximum"] = most
		}
		return p
	case reflect.String:
		p := map[string]any{"type": "string"}
		if g.words[key] != nil {
			p["enum"] = g.words[key]
		}
		return p
	case reflect.Slice:
		items := g.kind(of.Elem(), key+".#")
		if g.words[key] != nil {
			items["enum"] = g.words[key]
		}
		return map[string]any{"type": "array", "items": items}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": g.kind(of.Elem(), key+".*")}
	default: // anything
		return map[string]any{}
	}
}

// schema is the whole schema.
func (g *generator) schema(t *testing.T) []byte {
	t.Helper()
	root := g.defs["config"].(map[string]any)
	defs := maps.Clone(g.defs)
	delete(defs, "config")
	root["$schema"], root["$defs"], root["title"] = "http://json-schema.org/draft-07/schema#", defs, "mcpdeck: config.toml"
	b := new(bytes.Buffer)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "\t")
	if err := e.Encode(root); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// template is a configuration file with all options.
func (g *generator) template() string {
	var b strings.Builder
	b.WriteString("#:schema config.schema.json\n\n# The configuration of mcpdeck. Every option has its default: remove the # before one to change it.\n")
	b.WriteString("# Changes apply when the file is saved, where nothing else is said. mcpdeck config check looks for mistakes.\n\n")
	table := ""
	for _, r := range g.rows {
		if r.key == "keys" || strings.Contains(r.key, "*") {
			continue
		}
		in, name := "", r.key
		if i := strings.LastIndexByte(r.key, '.'); i > 0 {
			in, name = r.key[:i], r.key[i+1:]
		}
		if in != table {
			fmt.Fprintf(&b, "\n[%s]\n", in)
			table = in
		}
		about := r.about
		if len(r.words) > 0 {
			about += " One of " + quoted(r.words, `"`) + "."
		}
		if !r.live {
			about += " Needs a restart."
		}
		for _, line := range wrapped(about, 98) {
			fmt.Fprintf(&b, "# %s\n", line)
		}
		if r.literal == "" {
			r.literal = `""`
		}
		fmt.Fprintf(&b, "#%s = %s\n", name, r.literal)
	}
	b.WriteString("\n# MCP servers of yours can be here, too; mcpdeck add and import write a file each, in servers.d.\n# [server.NAME]\n# command = [\"npx\", \"PACKAGE\"]\n")
	b.WriteString("\n# What some agents have of the servers that are on.\n# [profile.NAME]\n# servers = [\"ask\"]\n# match = { client = \"claude\" }\n")
	b.WriteString("\n# Keys of actions, instead of their own; mcpdeck config keys lists the\n# actions, and mcpdeck config check says what is wrong with these.\n[keys]\n#\"calls.copy\" = [\"ctrl+y\"]\n")
	return b.String()
}

func quoted(words []string, mark string) string {
	var out []string
	for _, w := range words {
		out = append(out, mark+w+mark)
	}
	return strings.Join(out, ", ")
}

// list is the options as Markdown.
func (g *generator) list() string {
	var b strings.Builder
	group := "-"
	for _, r := range g.rows {
		in, name, nested := strings.Cut(r.key, ".")
		if !nested {
			in, name = "", r.key
		}
		if in != group {
			title := "`[" + in + "]`"
			if in == "" {
				title = "At the top"
			}
			fmt.Fprintf(&b, "\n### %s\n\n| option | default | what it does | applies |\n|---|---|---|---|\n", title)
			group = in
		}
		about := r.about
		if len(r.words) > 0 {
			about += " One of " + quoted(r.words, "`") + "."
		}
		applies := "at once"
		if !r.live {
			applies = "after a restart"
		}
		literal := "–"
		if r.literal != "" && (!strings.Contains(r.key, "*") || r.literal != `""`) {
			literal = "`" + r.literal + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", strings.ReplaceAll(name, "*", "NAME"), literal, strings.ReplaceAll(strings.ReplaceAll(about, "|", `\|`), "``", "empty"), applies)
	}
	return strings.ReplaceAll(b.String(), "\n### `[keys]`", "\n### Keys")
}

// TestTheSchemaIsThatOfTheStructs holds the schema, the template and the list of options
// to the structs of the configuration.
func TestTheSchemaIsThatOfTheStructs(t *testing.T) {
	g := newGenerator(t)
	for path, want := range map[string]string{schemaFile: string(g.schema(t)), templateFile: g.template()} {
		got, err := os.ReadFile(path)
		if err == nil && string(got) == want {
			continue
		}
		if !*update {
			t.Errorf("%s does not say what the structs say: go test ./cmd/mcpdeck -run Schema -update", filepath.Base(path))
		} else if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	written(t, configFile, optionsBegin, optionsEnd, g.list())
}

// TestEveryOptionIsInTheSchema looks each option up in the schema that the program
// prints.
func TestEveryOptionIsInTheSchema(t *testing.T) {
	b, err := config.Schema("config")
	if err != nil {
		t.Fatal(err)
	}
	var root map[string]any
	if err := json.Unmarshal(b, &root); err != nil {
		t.Fatal(err)
	}
	for _, o := range config.Options(plugin.Sections()) {
		at := root
		for _, name := range strings.Split(o.Key, ".") {
			var next any
			if name == config.Any {
				next = at["additionalProperties"]
			} else if p, ok := at["properties"].(map[string]any); ok {
				next = p[name]
			}
			if at, _ = next.(map[string]any); at == nil {
				break
			}
			if ref, ok := at["$ref"].(string); ok {
				at = root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
			}
		}
		if text, _ := at["description"].(string); text == "" {
			t.Errorf("%s: %v", o.Key, at)
		}
	}
}

// validator compiles a schema of the program.
func validator(t *testing.T, of string) *jsonschema.Schema {
	t.Helper()
	b, err := config.Schema(of)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", parsed); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asInstance is a TOML file as a validator takes it.
func asInstance(t *testing.T, text string) any {
	t.Helper()
	var v map[string]any
	if err := toml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTheSchemaTakesWhatTheProgramTakes validates the examples of the documents, and the
// template with all its defaults; what the program warns of, the schema does not take.
func TestTheSchemaTakesWhatTheProgramTakes(t *testing.T) {
	whole := validator(t, "config")
	examples := map[string]string{
		"the template": regexp.MustCompile(`(?m)^#([a-z_]+|"[^"]*") =`).ReplaceAllString(config.Template, "$1 ="),
		"nothing":      "",
		"a server":     "[server.git]\ncommand = ['git-mcp']\ntools = { push = 'off' }\ncall_timeout = '1m30s'\n",
		"a profile":    "[profile.shop]\nservers = ['git']\nlazy = 'auto'\nmatch = { client = 'claude' }\n[profile.b]\nlazy = ['git']\n",
	}
	for _, doc := range []string{"../../README.md", configFile, "../../servers/backend/upstream/README.md", "../../servers/builtin/ask/README.md", "../../servers/builtin/clippy/README.md", "../../servers/builtin/logicstamp/README.md", "../../servers/builtin/pencil/README.md"} {
		b, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for i, part := range strings.Split(string(b), "```toml\n")[1:] {
			text, _, _ := strings.Cut(part, "```")
			if strings.Contains(text, "[mcp_servers.") { // another program's
				continue
			}
			examples[fmt.Sprintf("%s, example %d", doc, i+1)] = text
		}
	}
	for name, text := range examples {
		s := whole
		if strings.HasPrefix(text, "command") {
			s = validator(t, "server")
		}
		if strings.HasPrefix(text, "base") {
			s = validator(t, "theme")
		}
		if err := s.Validate(asInstance(t, text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, wrong := range []string{
		"htpp = 1", "[http]\nport = 'a'", "[http]\nport = 65536", "[journal]\nmax_calls = 0", "[ui]\nbackground = 'pink'", "[ask]\nsnooze = '5'", "[theme.dark]\naccent = 'bluish'",
		"[server.a]\nmode = 'onn'", "[server.a]\ntrim = ['x']", "[clippy]\npolicy = { a = 'maybe' }", "[keys]\nquit = 'q'", "[profile.a]\nlazy = 'no'",
	} {
		if whole.Validate(asInstance(t, wrong)) == nil {
			t.Errorf("the schema takes %q", wrong)
		}
	}
	if err := validator(t, "server").Validate(asInstance(t, "mode = 'onn'")); err == nil {
		t.Error("the schema of servers takes any mode")
	}
}

func TestTheTemplateSaysNothingByItself(t *testing.T) {
	for _, line := range strings.Split(config.Template, "\n") {
		if line != "" && !strings.HasPrefix(line, "#") && !regexp.MustCompile(`^\[[a-z.]+\]$`).MatchString(line) {
			t.Errorf("%q is not a comment", line)
		}
	}
	if !slices.Contains(strings.Split(config.Template, "\n"), "#port = 7337") {
		t.Error("the template has no port")
	}
}
