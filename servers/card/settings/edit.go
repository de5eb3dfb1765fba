package settings

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/rawjson"
)

// SetTools writes verdicts on tools into the text of a card's file, or into the card's table
// in a configuration file, such as server.github. The rest of the text is kept unchanged.
// SetTools fails if the tools are written in a form that it cannot edit.
func SetTools(b []byte, table string, verdicts map[string]string) ([]byte, error) {
	whole, before, err := toolsIn(b, table)
	if err != nil {
		return nil, err
	}
	want := maps.Clone(before)
	for tool, verdict := range verdicts {
		delete(want, tool)
		if (Card{Tools: want}).Verdict(tool) != verdict {
			want[tool] = verdict
		}
	}
	out := []byte(strings.Join(editTools(strings.SplitAfter(string(b), "\n"), table, want), ""))
	again, after, err := toolsIn(out, table)
	if err != nil || !maps.Equal(after, want) || !reflect.DeepEqual(whole, again) {
		return nil, errors.New("its tools are written in a way that mcpdeck cannot change")
	}
	return out, nil
}

// SetWord writes the value of a key into the text of a card's file, as [SetTools] does. A
// value that holds without the key removes it.
func SetWord(b []byte, table, key, word, without string) ([]byte, error) {
	lines := strings.SplitAfter(string(b), "\n")
	at, last := find(lines, table, regexp.MustCompile(`^\s*`+regexp.QuoteMeta(key)+`\s*=`))
	row := key + " = " + string(rawjson.Quote(word)) + "\n"
	switch {
	case at >= 0 && word == without:
		lines = slices.Delete(lines, at, at+1)
	case at >= 0:
		if _, comment, ok := strings.Cut(lines[at], "#"); ok {
			row = strings.TrimSuffix(row, "\n") + " #" + comment
		}
		lines[at] = row
	case last >= 0 && word != without:
		if last > 0 && !strings.HasSuffix(lines[last-1], "\n") {
			lines[last-1] += "\n"
		}
		lines = slices.Insert(lines, last, row)
	}
	out := []byte(strings.Join(lines, ""))
	if want, err := decoded(b, table, key, word, without); err != nil {
		return nil, err
	} else if got, err := decoded(out, table, "", "", ""); err != nil || !reflect.DeepEqual(got, want) {
		return nil, fmt.Errorf("its %s are written in a way that mcpdeck cannot change", key)
	}
	return out, nil
}

// decoded is a file with a key of the card set to a word.
func decoded(b []byte, table, key, word, without string) (map[string]any, error) {
	whole := map[string]any{}
	if _, err := Read(b, &whole); err != nil {
		return nil, err
	}
	card := inside(whole, table)
	switch {
	case card == nil:
		return nil, fmt.Errorf("it has no table %s", table)
	case key != "" && word == without:
		delete(card, key)
	case key != "":
		card[key] = word
	}
	return whole, nil
}

// inside is the table of a card; nil if there is none.
func inside(whole map[string]any, table string) map[string]any {
	if table != "" {
		for _, name := range strings.Split(table, ".") {
			whole, _ = whole[name].(map[string]any)
		}
	}
	return whole
}

// find returns the line of the card's own table that fits, -1 if none does, and the line
// after the table's last, -1 if there is no such table.
func find(lines []string, table string, fits *regexp.Regexp) (at, last int) {
	at, last = -1, -1
	in := ""
	if table == "" {
		last = 0
	}
	for i, line := range lines {
		if m := header().FindStringSubmatch(line); m != nil {
			in = m[1]
		}
		if in != table {
			continue
		}
		if fits.MatchString(line) {
			at = i
		}
		if strings.TrimSpace(line) != "" {
			last = i + 1
		}
	}
	return at, last
}

// header matches the line that begins a table.
func header() *regexp.Regexp { return regexp.MustCompile(`^\s*\[\s*([^\[\]]*?)\s*\]`) }

// toolsIn returns the verdicts in a file, and the rest of its content.
func toolsIn(b []byte, table string) (rest map[string]any, tools map[string]string, err error) {
	rest, tools = map[string]any{}, map[string]string{}
	if _, err := Read(b, &rest); err != nil {
		return nil, nil, err
	}
	card := inside(rest, table)
	if card == nil {
		return nil, nil, fmt.Errorf("it has no table %s", table)
	}
	verdicts, _ := card["tools"].(map[string]any)
	for tool, v := range verdicts {
		text, ok := v.(string)
		if !ok {
			return nil, nil, fmt.Errorf("tools.%s is not a text", tool)
		}
		tools[tool] = text
	}
	delete(card, "tools")
	return rest, tools, nil
}

// editTools edits the lines of a file. The caller must check the result: editTools does not
// recognize lines that are part of a multi-line value.
func editTools(lines []string, table string, want map[string]string) []string {
	header := header()
	inline := regexp.MustCompile(`^\s*tools\s*=\s*\{.*\}[^}]*`)
	own := strings.TrimPrefix(table+".tools", ".")
	in, last := "", -1 // the table of the current line, and the last line of the card's own table
	if table == "" {
		last = 0
	}
	for i, line := range lines {
		if m := header.FindStringSubmatch(line); m != nil {
			if in = m[1]; in == own {
				return slices.Concat(lines[:i+1], editRows(lines[i+1:], want))
			}
		}
		if in != table {
			continue
		}
		if inline.MatchString(line) {
			rest := line[strings.LastIndexByte(line, '}')+1:]
			if len(want) == 0 && strings.TrimSpace(rest) == "" {
				return slices.Delete(lines, i, i+1)
			}
			lines[i] = inTable(want) + rest
			return lines
		}
		if strings.TrimSpace(line) != "" {
			last = i + 1
		}
	}
	if last < 0 || len(want) == 0 {
		return lines
	}
	if last > 0 && !strings.HasSuffix(lines[last-1], "\n") {
		lines[last-1] += "\n"
	}
	return slices.Insert(lines, last, inTable(want)+"\n")
}

// editRows edits the rows of a table of tools.
func editRows(lines []string, want map[string]string) []string {
	end := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), "[") })
	if end < 0 {
		end = len(lines)
	}
	var rows []string
	said := map[string]bool{}
	for _, line := range lines[:end] {
		key, value, ok := strings.Cut(line, "=")
		tool := strings.Trim(strings.TrimSpace(key), `"'`)
		verdict, stays := want[tool]
		switch {
		case !ok || strings.HasPrefix(strings.TrimSpace(line), "#"):
			rows = append(rows, line)
		case stays:
			said[tool] = true
			_, comment, _ := strings.Cut(value, "#")
			if comment != "" {
				comment = " #" + strings.TrimRight(comment, "\r\n")
			}
			rows = append(rows, row(tool, verdict)+comment+"\n")
		}
	}
	for len(rows) > 0 && strings.TrimSpace(rows[len(rows)-1]) == "" {
		rows, end = rows[:len(rows)-1], end-1
	}
	for _, tool := range slices.Sorted(maps.Keys(want)) {
		if !said[tool] {
			rows = append(rows, row(tool, want[tool])+"\n")
		}
	}
	return slices.Concat(rows, lines[end:])
}

func inTable(tools map[string]string) string {
	if len(tools) == 0 {
		return "tools = {}"
	}
	var rows []string
	for _, tool := range slices.Sorted(maps.Keys(tools)) {
		rows = append(rows, row(tool, tools[tool]))
	}
	return "tools = { " + strings.Join(rows, ", ") + " }"
}

func row(tool, verdict string) string {
	if !regexp.MustCompile(`^[A-Za-z0-9_-]+$`).MatchString(tool) {
		tool = string(rawjson.Quote(tool))
	}
	return tool + " = " + string(rawjson.Quote(verdict))
}
