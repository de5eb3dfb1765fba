package status

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
)

// formats are the ready ones, and how each shows a deck; nil is no deck.
func formats() map[string]func(*Report) string {
	return map[string]func(*Report) string{
		"tmux": func(r *Report) string {
			return counts(r, func(color, text string) string { return "#[fg=" + color + "]" + text + "#[default]" })
		},
		"plain":    func(r *Report) string { return counts(r, nil) },
		"starship": func(r *Report) string { return counts(r, nil) },
		"waybar":   waybar,
	}
}

// formatNames are the names of the ready formats.
func formatNames() []string { return []string{"tmux", "plain", "waybar", "starship"} }

// counts are the numbers that are not 0, each behind its sign.
func counts(r *Report, paint func(color, text string) string) string {
	if r == nil {
		return ""
	}
	var out []string
	for _, c := range []struct {
		sign  string
		n     int
		color string
	}{{"◆", r.Waiting, "yellow"}, {"●", r.Working, "cyan"}, {"✓", r.Done, "green"}} {
		if c.n == 0 {
			continue
		}
		text := c.sign + strconv.Itoa(c.n)
		if paint != nil {
			text = paint(c.color, text)
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// waybar is one line of JSON. Its tooltip is markup.
func waybar(r *Report) string {
	v := struct {
		Text    string `json:"text"`
		Tooltip string `json:"tooltip"`
		Class   string `json:"class"`
	}{Text: counts(r, nil), Class: "idle"}
	switch {
	case r == nil:
		v.Class = "none"
	case r.Waiting > 0:
		v.Class = waiting
	case r.Working > 0:
		v.Class = working
	case r.Done > 0:
		v.Class = done
	}
	if r != nil {
		var lines []string
		for _, row := range r.Rows {
			lines = append(lines, row.Name+" "+row.Kind+" "+row.Detail)
		}
		v.Tooltip = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(strings.Join(lines, "\n"))
	}
	b, _ := json.Marshal(v) // strings always encode
	return string(b)
}

// formatted shows a deck as the user's format says; without a deck it is empty but for the
// ready formats that say so.
func formatted(format string, r *Report) (string, error) {
	if f := formats()[format]; f != nil {
		return f(r), nil
	}
	zero := Report{}
	values := map[string]func(*Report) string{
		"waiting": func(r *Report) string { return strconv.Itoa(r.Waiting) },
		"working": func(r *Report) string { return strconv.Itoa(r.Working) },
		"done":    func(r *Report) string { return strconv.Itoa(r.Done) },
		"failed":  func(r *Report) string { return strconv.Itoa(r.Failed) },
		"cost":    (*Report).cost, "first": (*Report).first,
	}
	var wrong error
	text := regexp.MustCompile(`\{[a-z]+\}`).ReplaceAllStringFunc(format, func(name string) string {
		value := values[strings.Trim(name, "{}")]
		switch {
		case value == nil:
			wrong = exit.Usagef("--format: unknown name %s; use {waiting} {working} {done} {failed} {cost} {first}, or one of %s", name, strings.Join(formatNames(), ", "))
			return ""
		case r == nil:
			return value(&zero)
		}
		return value(r)
	})
	if text == format && !strings.Contains(format, " ") && wrong == nil {
		wrong = exit.Usagef("--format %q: use %s, or a text with {waiting} {working} {done} {failed} {cost} {first}", format, strings.Join(formatNames(), ", "))
	}
	if r == nil {
		text = ""
	}
	return text, wrong
}

// lines are the rows of a table.
func (r *Report) lines(now time.Time) [][]string {
	signs := map[string]string{waiting: "◆", working: "●", done: "✓"}
	out := make([][]string, len(r.Rows))
	for i, row := range r.Rows {
		out[i] = []string{signs[row.State] + " " + row.Agent, row.Project, row.Kind, row.Detail, age(row.Since, now)}
	}
	return out
}
