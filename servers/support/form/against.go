package form

import (
	"encoding/json"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// maxAgainst is how many mistakes are told of at once.
const maxAgainst = 8

// Against says what in JSON does not fit a schema, in the schema's words, for who wrote
// the JSON by that. Nothing is said where the schema cannot be held against it.
func Against(schema, raw json.RawMessage) (problems []string) {
	s, err := compile(schema)
	if err != nil {
		return nil
	}
	invalid, err := mistake(s, raw)
	if err != nil || invalid == nil {
		return nil
	}
	words := message.NewPrinter(language.English)
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			walk(cause)
		}
		if len(e.Causes) == 0 && len(problems) < maxAgainst {
			text := clip(e.ErrorKind.LocalizedString(words))
			if at := pointer(e.InstanceLocation); at != "" {
				text = at + ": " + text
			}
			problems = append(problems, text)
		}
	}
	walk(invalid)
	return problems
}
