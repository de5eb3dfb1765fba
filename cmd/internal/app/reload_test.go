package app

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// otherValue is a value for an option that is not its default.
func otherValue(t *testing.T, o config.Option, words []string) string {
	t.Helper()
	v := o.Value
	switch {
	case o.Key == "ui.key_rest": // at most ten seconds
		return `"7s"`
	case v.Type() == reflect.TypeFor[humanize.Duration]():
		return `"7m"`
	}
	for _, w := range slices.Backward(words) {
		if w != v.String() && v.Kind() == reflect.String {
			return fmt.Sprintf("%q", w)
		}
	}
	switch {
	case strings.HasPrefix(o.Key, "theme."):
		return `"#123456"`
	case o.Key == "keys":
		return `{ "calls.copy" = ["c"] }`
	}
	switch v.Kind() {
	case reflect.Bool:
		return fmt.Sprint(!v.Bool())
	case reflect.Int:
		return fmt.Sprint(v.Int() + 1)
	case reflect.String, reflect.Pointer:
		return `"other"`
	case reflect.Interface:
		return `["ask"]`
	case reflect.Slice:
		return `["other"]`
	case reflect.Map:
		if words == nil {
			words = []string{"other"}
		}
		return fmt.Sprintf("{ other = %q }", words[len(words)-1])
	default:
		t.Fatalf("%s: no value of %s", o.Key, v.Type())
		return ""
	}
}

// TestEveryOptionAppliesAtOnceOrSaysThatItNeedsARestart changes one option after the other
// in a file: what one row of the table applies differs then, or the user is told.
func TestEveryOptionAppliesAtOnceOrSaysThatItNeedsARestart(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	rows := built(t, true).Reloads()
	words := config.Words(PageIDs(), plugin.Sections())
	words["theme.name"] = []string{"light"} // of those that there are here
	path := filepath.Join(home, "config.toml")
	load := func(lines ...string) *config.Config {
		t.Helper()
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := config.Load(config.Flags{Sections: plugin.Sections(), File: path, Port: -1, State: home})
		if err != nil {
			t.Fatalf("%v in\n%s", err, strings.Join(lines, "\n"))
		}
		return cfg
	}
	for _, o := range config.Options(plugin.Sections()) {
		known := words[o.Key]
		if known == nil {
			known = words[o.Key+".*"]
		}
		before := []string{"[server.other]", "keep = true", "url = 'http://127.0.0.1'", "[profile.other]", "[prompts.projects.other]", "headless = 'pass'"}
		switch o.Key {
		case "server.*.url":
			before[2] = "url = 'http://localhost'"
		case "server.*.keep":
			before[1] = "keep = false"
		case "server.*.command":
			before[2] = "url = ''"
		}
		base := load(before...)
		after := slices.Clone(before)
		key := strings.ReplaceAll(o.Key, "*", "other")
		line := strings.LastIndexByte(key, '.')
		table, name := key[:max(line, 0)], key[line+1:]
		row := name + " = " + otherValue(t, o, known)
		if at := slices.Index(after, "["+table+"]"); at >= 0 {
			after = slices.DeleteFunc(after, func(l string) bool { return strings.HasPrefix(l, name+" =") })
			after = slices.Insert(after, slices.Index(after, "["+table+"]")+1, row)
		} else if table == "" {
			after = slices.Insert(after, 0, row)
		} else {
			after = append(after, "["+table+"]", row)
		}
		now := load(after...)
		applied := slices.ContainsFunc(rows, func(r reloaded) bool { return !reflect.DeepEqual(r.what(base), r.what(now)) })
		waits := waitingFor(rows, base, now)
		switch live := IsReloaded(rows, o.Key); {
		case live && (!applied || len(waits) > 0):
			t.Errorf("%s: nothing applies %s; told %q", o.Key, row, waits)
		case !live && applied:
			t.Errorf("%s: %s is applied, and the table says that it needs a restart", o.Key, row)
		case !live && (len(waits) != 1 || !strings.Contains(waits[0], " "+o.Key+" = ") || !strings.Contains(waits[0], "needs a restart")):
			t.Errorf("%s: told %q of %s", o.Key, waits, row)
		}
	}
	for _, r := range rows { // no row is of an option that there is not
		for _, key := range strings.Fields(r.options) {
			if !slices.ContainsFunc(config.Options(plugin.Sections()), func(o config.Option) bool { return o.Key == key || strings.HasPrefix(o.Key, key+".") }) {
				t.Errorf("the table has %s, which is no option", key)
			}
		}
	}
}

func TestTheQueueFollowsTheConfiguration(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	h := built(t, true)
	cfg := *h.Config
	cfg.File.Ask.Snooze = humanize.Duration(3 * time.Hour)
	cfg.File.HTTP.Port++
	said := h.Reload()(&cfg, nil)
	if len(said) != 1 || !strings.Contains(said[0], "http.port = 7338 needs a restart; the deck runs with 7337") {
		t.Errorf("told %q", said)
	}
	if again := h.Reload()(&cfg, nil); len(again) > 0 {
		t.Errorf("told again: %q", again)
	}
	call, err := h.Queue.Open(ask.Request{Local: true, Questions: []ask.Question{{ID: "a", Question: "A?", Kind: ask.Confirm, Options: []ask.Option{{Label: "Yes"}, {Label: "No"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer call.Leave("")
	id := h.Queue.Pending().Items[0].ID
	if err := h.Queue.Snooze(id, 0); err != nil {
		t.Fatal(err)
	}
	if until := time.Until(h.Queue.Pending().Items[0].Snoozed); until < 2*time.Hour {
		t.Errorf("snoozed for %v", until)
	}
}

func TestPromptsAndSessionsFollowTheConfiguration(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	h := built(t, true)
	h.Agents.ReadPrices(h.Config)
	own := h.Agents.Prices.Load().Source
	reload := h.Reload()
	same := func(cfg *config.Config) {
		t.Helper()
		before := h.Agents.Prices.Load()
		if reload(cfg, nil); h.Agents.Prices.Load() != before {
			t.Errorf("when something else is saved, the prices of %s count as new", before.Source)
		}
	}
	same(h.Config)
	mine := filepath.Join(t.TempDir(), "mine.json")
	if err := os.WriteFile(mine, []byte(`{"m":{"input_cost_per_token":1}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := *h.Config
	cfg.File.Prompts.Hold, cfg.File.Prompts.Lasting = humanize.Duration(time.Hour), "hide"
	cfg.File.Sessions.Keep = humanize.Duration(time.Minute)
	cfg.File.Prices.File = mine
	if said := reload(&cfg, nil); len(said) > 0 {
		t.Errorf("told %q", said)
	}
	for _, rules := range []func() approvals.Rules{h.Agents.Rules, h.Agents.Deps("claude").Rules, h.Agents.Deps("codex").Rules} {
		if now := rules(); now != (approvals.Rules{Hold: time.Hour, OnceOnly: true}) {
			t.Errorf("prompts are handled by %+v", now)
		}
	}
	if h.Agents.Keeps() != time.Minute {
		t.Errorf("sessions that have ended stay for %v", h.Agents.Keeps())
	}
	if source := h.Agents.Prices.Load().Source; !strings.Contains(source, mine) {
		t.Errorf("the prices are those of %q", source)
	}
	same(&cfg)
	if err := os.Remove(mine); err != nil {
		t.Fatal(err)
	}
	warned := func() bool {
		return slices.ContainsFunc(h.Host.Snapshot().Warnings, func(w snapshot.Warning) bool {
			return w.From == "prices" && strings.Contains(w.Text, "prices.file")
		})
	}
	if reload(&cfg, nil); !warned() || h.Agents.Prices.Load().Source != own {
		t.Errorf("of a table that is gone the user is told %+v", h.Host.Snapshot().Warnings)
	}
	if reload(h.Config, nil); warned() {
		t.Error("what is mended is still warned of")
	}
}
