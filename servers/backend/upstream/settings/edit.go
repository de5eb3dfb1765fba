package settings

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/tomledit"
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
	out := edited(b, func(t *tomledit.Text) { editTools(t, pathTo(table), want) })
	again, after, err := toolsIn(out, table)
	if err != nil || !maps.Equal(after, want) || !reflect.DeepEqual(whole, again) {
		return nil, errors.New("its tools are written in a way that mcpdeck cannot change")
	}
	return out, nil
}

// SetWord writes the value of a key into the text of a card's file, as [SetTools] does. A
// value that holds without the key removes it.
func SetWord(b []byte, table, key, word, without string) ([]byte, error) {
	want, err := decoded(b, table, key, word, without)
	if err != nil {
		return nil, err
	}
	out := edited(b, func(t *tomledit.Text) {
		path, value := append(pathTo(table), key), string(rawjson.Quote(word))
		at := slices.IndexFunc(t.Entries, func(e tomledit.Entry) bool { return slices.Equal(e.Path, path) })
		switch {
		case at >= 0 && word == without:
			t.Remove(t.Entries[at])
		case at >= 0:
			t.Replace(t.Entries[at].Value, t.Entries[at].End, value)
		case word != without:
			t.Add(pathTo(table), key+" = "+value)
		}
	})
	if got, err := decoded(out, table, "", "", ""); err != nil || !reflect.DeepEqual(got, want) {
		return nil, fmt.Errorf("its %s are written in a way that mcpdeck cannot change", key)
	}
	return out, nil
}

// edited is a file that parses, with edits made. The caller must check the result.
func edited(b []byte, edit func(*tomledit.Text)) []byte {
	mark := b[:len(b)-len(Text(b))]
	if t, err := tomledit.Parse(Text(b)); err == nil {
		edit(t)
		b = slices.Concat(mark, t.Bytes())
	}
	return b
}

// pathTo is the path of a table in a file.
func pathTo(table string) []string {
	if table == "" {
		return nil
	}
	return strings.Split(table, ".")
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
	for _, name := range pathTo(table) {
		whole, _ = whole[name].(map[string]any)
	}
	return whole
}

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

// editTools writes the verdicts where there are some, in rows or an inline table, else into
// one of the latter at the end of the card's own table.
func editTools(t *tomledit.Text, table []string, want map[string]string) {
	own := append(slices.Clone(table), "tools")
	rows, have := []string{}, map[string]bool{}
	for _, tool := range slices.Sorted(maps.Keys(want)) {
		rows = append(rows, row(tool, want[tool]))
	}
	inTable := "{ " + strings.Join(rows, ", ") + " }"
	anew, ofRows := len(want) > 0, false
	for _, e := range t.Entries {
		switch {
		case slices.Equal(e.Path, own) && e.Inline && len(want) == 0:
			t.Remove(e)
		case slices.Equal(e.Path, own) && e.Inline:
			anew = false
			t.Replace(e.Value, e.End, inTable)
		case slices.Equal(e.Path, own) && e.Header:
			anew, ofRows = false, true
		case slices.Equal(e.Table, own):
			tool := e.Path[len(own)]
			have[tool] = true
			if verdict, stays := want[tool]; stays {
				t.Replace(e.Start, e.End, row(tool, verdict))
			} else {
				t.Remove(e)
			}
		}
	}
	if anew {
		t.Add(table, "tools = "+inTable)
	}
	for _, tool := range slices.Sorted(maps.Keys(want)) {
		if ofRows && !have[tool] {
			t.Add(own, row(tool, want[tool]))
		}
	}
}

func row(tool, verdict string) string {
	if !regexp.MustCompile(`^[A-Za-z0-9_-]+$`).MatchString(tool) {
		tool = string(rawjson.Quote(tool))
	}
	return tool + " = " + string(rawjson.Quote(verdict))
}
