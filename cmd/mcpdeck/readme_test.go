package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/app"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
)

var update = flag.Bool("update", false, "write the lists of keys, clients and packages into the documents that have them")

// TestTheReadmesExamplesOfTheConfigurationAreTaken reads what a user would copy.
func TestTheReadmesExamplesOfTheConfigurationAreTaken(t *testing.T) {
	file := between(t, configFile, "```toml\n", "```")
	key := between(t, keysFile, "in `[keys]` with lines such as\n`", "`")
	home := t.TempDir()
	t.Setenv("HOME", home)
	path := filepath.Join(home, "config.toml")
	if err := os.WriteFile(path, []byte(file+"[keys]\n"+key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Flags{Sections: plugin.Sections(), File: path, Port: -1, State: filepath.Join(home, "state"), Pages: app.PageIDs()})
	if err != nil {
		t.Fatal(err)
	}
	if len(cfg.Warnings) > 0 {
		t.Errorf("warnings: %q", cfg.Warnings)
	}
	h, err := app.New(cfg, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Stop()
	for _, p := range tui.CheckKeys(h.Screen(false)) {
		t.Error(p.Text)
	}
}

// TestKeysInTheReadme holds the list of keys to the table of actions.
func TestKeysInTheReadme(t *testing.T) {
	h := built(t, true)
	written(t, keysFile, "-run Keys -update -->\n", "<!-- end of keys -->", tui.KeyList(h.Screen(false)))
}

// TestClientsInTheReadme holds the table of clients to the one of the program.
func TestClientsInTheReadme(t *testing.T) {
	var b strings.Builder
	b.WriteString("| client | `mcpdeck setup` | project's file | a call may take | tools that come and go |\n|---|---|---|---|---|\n")
	for _, c := range clients.All() {
		if c.User == nil {
			continue
		}
		file := "–"
		if c.Project != nil {
			file = "`" + c.Project[0] + "`"
		}
		limit := "its default"
		switch {
		case c.Form.Timeout != "":
			limit = "1 h, set"
		case c.Limit > 0:
			limit = fmt.Sprintf("%.0f s", c.Limit.Seconds())
		}
		tools := "in its list"
		if c.KeepsTools {
			tools = "through one fixed tool"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s |\n", c.Title, c.ID, file, limit, tools)
	}
	written(t, clientsFile, "-run Clients -update -->\n", "<!-- end of clients -->", b.String())
}

// TestClientsPromptsInTheReadmes holds what is said of each agent to its value.
func TestClientsPromptsInTheReadmes(t *testing.T) {
	var titles []string
	head, b := "| agent, tested with | reaches the deck by |", new(strings.Builder)
	row := func(title, id string, p *clients.Prompts, cells approvals.Cells) {
		var tested []string
		for _, v := range p.Tested {
			tested = append(tested, v.Number)
		}
		if len(tested) == 0 {
			title += ", untested"
		} else {
			title += " " + strings.Join(tested, ", ") + " (" + p.Tested[0].Date + ")"
		}
		way := "itself"
		if p.User != nil {
			way = "`mcpdeck setup " + id + " --prompts`: "
			if len(p.Hooks) > 0 {
				way += "hooks in "
			}
			way += "`" + p.User(clients.Folders{Home: "~"}) + "`"
		}
		fmt.Fprintf(b, "\n| %s | %s |", title, way)
		for _, cell := range cells.Columns() {
			fmt.Fprintf(b, " %s |", cell)
		}
	}
	all := agents.All()
	for _, cell := range all[0].Cells.Columns() {
		head += " " + cell.Name + " |"
	}
	for _, a := range all {
		c, _ := clients.Find(a.ID)
		titles = append(titles, c.Title)
		if a.Cells.Untested() {
			titles[len(titles)-1] += " (untested)"
		}
		row(c.Title, a.ID, c.Prompts, a.Cells)
		if a.Next != nil {
			row(c.Title+" "+c.Prompts.Next.Major, a.ID, c.Prompts.Next, a.Next.Cells)
		}
	}
	const begin, end = "<!-- agents: go test ./cmd/mcpdeck -run Clients -update -->\n", "<!-- end of agents -->"
	written(t, "../../servers/agents/approvals/README.md", begin, end, head+"\n"+strings.Repeat("|---", strings.Count(head, "|")-1)+"|"+b.String())
	last := len(titles) - 1
	written(t, "../../README.md", begin, end, strings.Join(wrapped("The sessions of "+strings.Join(titles[:last], ", ")+" and "+titles[last]+" on this machine, connected or not, those that need you first: what you asked, what the agent said last, the files it changed and its steps, how full its context is and its cost at list prices. `J` shows its terminal.", 140), "\n"))
}

// TestClientsLimitsInTheReadme holds the table of how long an agent waits for an answer
// to what the ask tool does.
func TestClientsLimitsInTheReadme(t *testing.T) {
	seconds := func(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }
	var b strings.Builder
	b.WriteString("| client | a call may take | `ask` returns \"pending\" |\n|---|---|---|\n")
	row := func(client, limit string, who snapshot.Caller) {
		after := "never; progress keeps the call alive"
		if d := who.Patience(true); d > 0 {
			after = "after " + seconds(d)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", client, limit, after)
	}
	for _, c := range clients.All() {
		who := snapshot.Caller{Client: strings.Trim(c.Introduces[0], "*")}
		switch {
		case c.Limit > 0:
			row(c.Title, seconds(c.Limit), who)
		case c.Extends:
			row(c.Title, "as long as there is progress", who)
		}
	}
	row("all others", "not known", snapshot.Caller{Client: "some other client"})
	written(t, "../../servers/builtin/ask/README.md", "-run Clients -update -->\n", "<!-- end of limits -->", b.String())
}

// TestToolsInTheReadmes holds the lists of tools on the servers' pages to what agents
// get.
func TestToolsInTheReadmes(t *testing.T) {
	h := built(t, false)
	h.Host.Start()
	for _, name := range plugin.Names() {
		d, ok := h.Host.Details(name)
		if name == "pencil" { // all but two of its tools are those of the app
			continue
		}
		if !ok || len(d.Tools) == 0 {
			t.Fatalf("no tools of the server %s", name)
		}
		var b strings.Builder
		b.WriteString("| tool | what agents read | arguments | tokens |\n|---|---|---|---|\n")
		for _, tool := range d.Tools {
			what := strings.ReplaceAll(tool.Description, "\n\n", "<br>")
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", tool.Name, strings.ReplaceAll(what, "|", "\\|"), argumentsOf(t, tool.Input), snapshot.AboutTokens(tool.Context))
		}
		written(t, "../../servers/builtin/"+name+"/README.md", "-run Tools -update -->\n", "<!-- end of tools -->", b.String())
	}
}

// TestContextInTheReadme holds the table of what servers take of agents' contexts to
// what they do take.
func TestContextInTheReadme(t *testing.T) {
	h := built(t, false)
	h.Host.Start()
	var b strings.Builder
	b.WriteString("| server | tools | in each agent's context |\n|---|---|---|\n")
	for _, s := range h.Host.Snapshot().Servers {
		if s.Name == "pencil" { // depends on the app
			continue
		}
		if s.Tools == 0 || s.Context == 0 {
			t.Errorf("server %s: %d tools, %d bytes", s.Name, s.Tools, s.Context)
		}
		fmt.Fprintf(&b, "| %s | %d | %s |\n", s.Title, s.Tools, snapshot.ContextCost(s.Context))
	}
	written(t, "../internal/perf/README.md", "-run Context -update -->\n", "<!-- end of context -->", b.String())
}

// argumentsOf names the arguments of a schema in its order; a ? follows the optional.
func argumentsOf(t *testing.T, schema json.RawMessage) string {
	t.Helper()
	o, err := rawjson.SplitObject(schema)
	if err != nil {
		t.Fatal(err)
	}
	properties, err := rawjson.SplitObject(o.Get("properties"))
	if err != nil {
		t.Fatal(err)
	}
	var required, names []string
	if raw := o.Get("required"); raw != nil && json.Unmarshal(raw, &required) != nil {
		t.Fatalf("required: %s", raw)
	}
	for _, p := range properties {
		name := "`" + p.Key + "`"
		if !slices.Contains(required, p.Key) {
			name += "?"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// TestEveryCommandIsInTheReadme looks for the commands in the table of them.
func TestEveryCommandIsInTheReadme(t *testing.T) {
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	root := newRoot()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && !regexp.MustCompile("`(mcpdeck )?"+regexp.QuoteMeta(c.Name())+"\\b").Match(b) {
			t.Errorf("cmd/mcpdeck/README.md does not name the command %s", c.Name())
		}
	}
}

// The documents that tests read, beside the README.
const (
	keysFile    = "../../tui/README.md"
	configFile  = "../internal/config/README.md"
	clientsFile = "../../servers/support/clients/README.md"
)

// between is the first part of a document between two texts.
func between(t *testing.T, path, begin, end string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(b), begin)
	part, _, foundEnd := strings.Cut(rest, end)
	if !found || !foundEnd {
		t.Fatalf("%s has nothing between %q and %q", path, begin, end)
	}
	return part
}

// written holds a part of a document to a text, which -update writes there.
func written(t *testing.T, path, begin, end, want string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimLeft(path, "./")
	before, rest, found := strings.Cut(string(b), begin)
	was, after, foundEnd := strings.Cut(rest, end)
	if !found || !foundEnd {
		t.Fatalf("%s has no place between %q and %q", name, begin, end)
	}
	want = strings.TrimSpace(want)
	if strings.TrimSpace(was) == want {
		return
	}
	if !*update {
		t.Fatalf("%s does not say what the program does: go test ./cmd/mcpdeck %s", name, strings.TrimSuffix(begin, " -->\n"))
	}
	if err := os.WriteFile(path, []byte(before+begin+"\n"+want+"\n\n"+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// wrapped breaks a text into lines of at most so many bytes, between words.
func wrapped(text string, width int) (out []string) {
	line := ""
	for _, w := range strings.Fields(text) {
		if line != "" && len(line)+1+len(w) > width {
			out, line = append(out, line), ""
		}
		line = strings.TrimPrefix(line+" "+w, " ")
	}
	return append(out, line)
}
