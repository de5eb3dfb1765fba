package settings

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// CheckName returns an error if name is not valid as the name of a card.
func CheckName(name string) error {
	if !regexp.MustCompile(`^[a-z][a-z0-9-]{0,23}$`).MatchString(name) {
		return fmt.Errorf("%q: invalid server name; use up to 24 lower-case letters, digits and dashes, starting with a letter", name)
	}
	return nil
}

// Words returns the values of the settings that accept only some, by key; the first is the
// default. "tools.*" is the value of each tool, "trim" that of each element.
func Words() map[string][]string {
	return map[string][]string{
		"transport": {"auto", "http", "sse"},
		"sandbox":   {"off", "on"},
		"mode":      {"last", "off", "on", "lazy"},
		"share":     {"auto", "session", "project", "deck"},
		"era":       {"auto", "legacy", "modern"},
		"pin":       {"all", "changes", "off"},
		"texts":     {"rename", "raw"},
		"elicit":    {"deck", "agent", "refuse"},
		"sampling":  {"refuse", "agent"},
		"roots":     {"project", "none", "list"},
		"relist":    {"auto", "start"},
		"resources": {"on", "off"},
		"prompts":   {"on", "off"},
		"tools.*":   {"allow", "ask", "off"},
		"trim":      {"outputSchema", "annotations.title", "icons", "_meta"},
	}
}

// Complete sets defaults and checks the rest. An unknown value is replaced by the default,
// with a warning. An error means that the card cannot be used.
func (c Card) Complete(name string) (Card, []string, error) {
	c.Name = name
	if err := CheckName(name); err != nil {
		return c, nil, err
	}
	var warnings []string
	words := Words()
	for key, value := range map[string]*string{
		"transport": &c.Transport, "mode": &c.Mode, "share": &c.Share, "era": &c.Era, "pin": &c.Pin, "texts": &c.Texts,
		"elicit": &c.Elicit, "sampling": &c.Sampling, "roots": &c.Roots, "relist": &c.Relist,
	} {
		if *value != "" && !slices.Contains(words[key], *value) {
			warnings = append(warnings, fmt.Sprintf("%s: unknown value %q; use %s", key, *value, strings.Join(words[key], ", ")))
			*value = ""
		}
		*value = cmp.Or(*value, words[key][0])
	}
	slices.Sort(warnings)
	// A typo must not give agents what the user wanted to deny.
	strict := func(key, value string, known []string) string {
		if slices.Contains(known, value) {
			return value
		}
		warnings = append(warnings, fmt.Sprintf("%s: unknown value %q counts as off; use %s", key, value, strings.Join(known, ", ")))
		return "off"
	}
	c.Resources = strict("resources", cmp.Or(c.Resources, "on"), words["resources"])
	c.Prompts = strict("prompts", cmp.Or(c.Prompts, "on"), words["prompts"])
	c.Tools = maps.Clone(c.Tools)
	for _, tool := range slices.Sorted(maps.Keys(c.Tools)) {
		c.Tools[tool] = strict("tools."+tool, c.Tools[tool], words["tools.*"])
	}
	for _, m := range c.Trim {
		if known := words["trim"]; !slices.Contains(known, m) {
			warnings = append(warnings, fmt.Sprintf("trim: unknown member %q; use %s", m, strings.Join(known, ", ")))
		}
	}
	c.MaxInFlight = cmp.Or(c.MaxInFlight, 64)
	c.StartTimeout = cmp.Or(c.StartTimeout, humanize.Duration(time.Minute))
	return c, slices.Concat(warnings, c.pointless(), c.unsupported()), c.usable()
}

// unsupported warns about valid settings that this version does not support.
func (c Card) unsupported() []string {
	var out []string
	rows := map[string]bool{
		"roots": c.Roots == "list", "relist": c.Relist == "start", "oauth": len(c.OAuth) > 0,
	}
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		if rows[key] {
			out = append(out, key+" is not supported by this version of mcpdeck; ignored")
		}
	}
	return out
}

// pointless warns about settings that have no effect in combination with others.
func (c Card) pointless() []string {
	var out []string
	other := "a command"
	rows := map[string]bool{"transport": c.Transport != "auto", "headers": len(c.Headers) > 0, "allow_http": c.AllowHTTP, "oauth": len(c.OAuth) > 0}
	if c.URL != "" {
		other = "a url"
		rows = map[string]bool{"env": len(c.Env) > 0, "inherit": len(c.Inherit) > 0, "cwd": c.Cwd != "", "keep": c.Keep}
	}
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		if rows[key] {
			out = append(out, fmt.Sprintf("%s has no effect on a server with %s", key, other))
		}
	}
	if (c.Share == "project" || c.Share == "deck") && c.Era != "modern" { // it is unclear which agent to ask
		for key, value := range map[string]string{"elicit": c.Elicit, "sampling": c.Sampling} {
			if value == "agent" {
				out = append(out, fmt.Sprintf("%s = \"agent\" has no effect on a server that agents share; use share = \"session\"", key))
			}
		}
	}
	slices.Sort(out)
	return out
}

// usable returns an error if the card cannot be used.
func (c Card) usable() error {
	switch {
	case len(c.Command) == 0 && c.URL == "":
		return errors.New("missing command or url")
	case len(c.Command) > 0 && c.URL != "":
		return errors.New("both command and url are set; remove one")
	case len(c.Command) > 0 && strings.TrimSpace(c.Command[0]) == "":
		return errors.New("command: the program is empty")
	case c.Sandbox != "" && c.Sandbox != "off":
		// Running without a sandbox would grant more rights than the user wants.
		return fmt.Errorf("sandbox = %q is not supported by this version of mcpdeck", c.Sandbox)
	case c.MaxInFlight < 0 || c.CallTimeout < 0 || c.StartTimeout < 0 || c.IdleStop < 0:
		return errors.New("max_in_flight, call_timeout, start_timeout and idle_stop cannot be negative")
	case slices.ContainsFunc(c.Command, func(s string) bool { return strings.ContainsRune(s, 0) }):
		return errors.New("command contains a zero byte")
	}
	for _, names := range [][]string{slices.Sorted(maps.Keys(c.Env)), c.Inherit} {
		for _, n := range names {
			if n == "" || strings.ContainsAny(n, "=\x00") {
				return fmt.Errorf("%q is not a valid variable name", n)
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(c.Headers)) {
		if !regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$").MatchString(n) || strings.ContainsAny(c.Headers[n], "\r\n\x00") {
			return fmt.Errorf("headers: %q is not a valid header with a one-line value", n)
		}
	}
	if c.URL != "" {
		return c.reachable()
	}
	return nil
}

func (c Card) reachable() error {
	if strings.HasPrefix(c.URL, "${") { // checked when expanded
		return nil
	}
	u, err := url.Parse(c.URL)
	switch {
	case err != nil:
		return errors.New("url: not a valid URL") // the error would include the URL, maybe with a key
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return errors.New("url: use an address with http:// or https://")
	case u.User != nil:
		return errors.New("url: must not contain a user name or password; use headers")
	case u.Scheme == "http" && !c.AllowHTTP && !loopback(u.Hostname()):
		return fmt.Errorf("url: plain HTTP to %s is not encrypted; use https, or set allow_http = true", u.Hostname())
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
