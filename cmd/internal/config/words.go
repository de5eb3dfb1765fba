package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
	"github.com/mcpdeck/mcpdeck/servers/support/fuzzy"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/userauth"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/picture"
)

// Words are the values of the options that accept only some, by key. Empty ones, where
// they are accepted, come first.
func Words(pages []string, servers []Section) map[string][]string {
	words := map[string][]string{
		"ui.background":               {"", "dark", "light"},
		"ui.pictures":                 picture.ModeNames(),
		"ui.start":                    append([]string{""}, pages...),
		"ask.sort":                    {"", "deadline"},
		"ask.cli_answers":             userauth.Methods(),
		"ask.persist":                 {"on", "off"},
		"ask.history":                 {"on", "off"},
		"notify.waiting":              {"all", "bell", "title", "off"},
		"prompts.headless":            {"pass", "hold"},
		"prompts.lasting":             {"show", "hide"},
		"prompts.projects.*.headless": {"pass", "hold"},
		"sessions.reply":              {"off", "ask", "on"},
		"profile.*.tools.*":           {"allow", "off"},
	}
	for key, known := range settings.Words() {
		words["server.*."+key] = known
	}
	for _, s := range servers {
		for key, known := range s.Words {
			words[s.Name+"."+key] = known
		}
	}
	return words
}

// checkWords warns of settings that know only some words and have another one;
// what the default does holds then.
func (c *Config) checkWords(pages []string) {
	f := &c.File
	if f.Ask.CLIAnswers == "true" {
		c.warn("ask.cli_answers", `ask.cli_answers: true means "pair"; say so in the configuration`)
	}
	// A page may be named as the one whose place it has taken.
	if now := map[string]string{"deck": "inbox", "ask": "inbox", "cards": "servers"}[f.UI.Start]; !slices.Contains(pages, f.UI.Start) && slices.Contains(pages, now) {
		f.UI.Start = now
	}
	words := Words(pages, c.servers)
	for key, more := range map[string][]string{"ui.pictures": {"", "ascii"}, "ask.cli_answers": {"true", "false"}} { // also taken
		words[key] = append(words[key], more...)
	}
	if pages == nil {
		delete(words, "ui.start")
	}
	walk(c.whole(), nil, false, func(path []string, v reflect.Value) {
		key := strings.Join(path, ".")
		switch { // some say themselves what is wrong with them, and what holds instead
		case path[0] == "server" || path[0] == "profile" || c.checksItself(path[0]):
			return
		case path[0] == "prompts":
			if path[1] == "projects" {
				c.warnWord(key, v.String(), words["prompts.projects.*.headless"])
				return
			}
		}
		if v.Kind() == reflect.String {
			c.warnWord(key, v.String(), words[key])
		}
		if v.Kind() == reflect.Map && words[key+"."+Any] != nil {
			for _, name := range sortedKeys(v) {
				c.warnWord(key+"."+name, v.MapIndex(reflect.ValueOf(name)).String(), words[key+"."+Any])
			}
		}
	})
	c.warnWord("theme.name", f.Theme.Name, c.themeNames())
	c.checkColours("theme.dark.", f.Theme.Dark)
	c.checkColours("theme.light.", f.Theme.Light)
}

// checkColours warns of colours that cannot be read; the built-in ones hold then.
func (c *Config) checkColours(table string, p theme.Palette) {
	for _, f := range p.Check() {
		c.warn(table+f.Colour, table+f.Colour+": "+f.Why)
	}
}

// ranges are the least and the greatest value of options that are numbers or durations.
func ranges() map[string][2]int64 {
	return map[string][2]int64{
		"http.port":         {0, math.MaxUint16},
		"journal.max_calls": {1, math.MaxInt64},
		"journal.max_days":  {1, math.MaxInt64},
		"ui.key_rest":       {int64(500 * time.Millisecond), int64(10 * time.Second)},
	}
}

// bound is a bound of an option as it is written.
func bound(option reflect.Value, n int64) any {
	if option.Type() == reflect.TypeFor[humanize.Duration]() {
		return time.Duration(n)
	}
	return n
}

// checkNumbers warns of numbers and durations that cannot be meant, and puts the default in
// their place.
func (c *Config) checkNumbers() {
	usual := map[string]reflect.Value{}
	for _, o := range Options(c.servers) {
		usual[o.Key] = o.Value
	}
	whole := c.whole()
	defer c.take(whole)
	walk(whole, nil, false, func(path []string, v reflect.Value) {
		key := strings.Join(path, ".")
		if path[0] == "server" || !v.CanInt() { // servers say themselves what is wrong with them
			return
		}
		least, most := Range(c.servers, key)
		why := ""
		switch n := v.Int(); {
		case n >= least && n <= most:
			return
		case most == math.MaxInt64:
			why = fmt.Sprintf("is less than %d", least)
		default:
			why = fmt.Sprintf("is not between %v and %v", bound(v, least), bound(v, most))
		}
		c.warn(key, fmt.Sprintf("%s: %s %s; %s is used", key, Literal(v), why, Literal(usual[key])))
		v.Set(usual[key])
	})
}

// warnWord warns of a value that is none of the words there are, if those are known.
func (c *Config) warnWord(key, value string, words []string) {
	if words == nil || slices.Contains(words, value) {
		return
	}
	known := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "" })
	c.warn(key, fmt.Sprintf("%s: unknown value %q; use %s%s", key, value, strings.Join(known, ", "), didYouMean(value, known)))
}

// didYouMean asks whether a wrong word stands for one of those that there are.
func didYouMean(wrong string, words []string) string {
	if meant := fuzzy.Meant(wrong, words); meant != "" {
		return fmt.Sprintf("; did you mean %q?", meant)
	}
	return ""
}
