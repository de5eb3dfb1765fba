package clippy

import (
	"context"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/redact"
)

// definition is a tool: what clients see of it, and what it does. The schemas keep to
// plain keywords, since several clients drop or choke on others.
type definition struct {
	name, title, text                 string
	schema                            string
	readOnly, destructive, idempotent bool

	rate   int         // calls a minute; 0: any number
	redact redact.Kind // of its calls in the log
	// run checks the arguments and returns what is to be done, and what of the
	// arguments the user may read.
	run func(s *Server, in map[string]any, by who) (do func(context.Context) (answer, error), detail string, err error)
	// writes tells whether a call changes something on the disk; nil: none does.
	writes func(in map[string]any) bool
}

func always(map[string]any) bool { return true }

// byName finds a tool.
func byName(name string) (definition, bool) {
	all := definitions()
	i := slices.IndexFunc(all, func(d definition) bool { return d.name == name })
	if i < 0 {
		return definition{}, false
	}
	return all[i], true
}

func definitions() []definition {
	return []definition{
		{
			name: HauntDesktop, title: "Leave a note on the desktop", destructive: true,
			text: "Write a text file onto the person's Desktop, for something they should find there later. " +
				"An existing file is kept unless overwrite is true. Returns the full path.",
			rate: 10, redact: redact.Kind{Abridge: "content"}, run: (*Server).haunt, writes: always,
			schema: `{"type":"object","properties":{` +
				`"filename":{"type":"string","description":"Plain file name such as note.txt: no folders, no hidden or program files, at most 255 bytes"},` +
				`"content":{"type":"string","description":"Text of the file, at most 1048576 bytes of UTF-8; may be empty"},` +
				`"overwrite":{"type":"boolean","description":"Replace a plain file of that name","default":false}},` +
				`"required":["filename","content"],"additionalProperties":false}`,
		},
		{
			name: PlaySystemSound, title: "Play a system sound",
			text: "Play a short sound on the person's machine to say how something went. Does not wait for the sound to end.",
			rate: 20, run: (*Server).sound,
			schema: `{"type":"object","properties":{` +
				`"type":{"type":"string","enum":["error","warning","success"],"description":"Which sound"}},` +
				`"required":["type"],"additionalProperties":false}`,
		},
		{
			name: ReadProjectContext, title: "List a project directory", readOnly: true, idempotent: true,
			text: "List the files and directories in one directory of the project, with sizes in bytes. Does not read files and does not descend.",
			run:  (*Server).look,
			schema: `{"type":"object","properties":{` +
				`"directoryPath":{"type":"string","description":"Directory inside the project; relative paths start at its root, . is the root"}},` +
				`"required":["directoryPath"],"additionalProperties":false}`,
		},
		{
			name: ManageMemory, title: "Remember or recall a value", idempotent: true,
			text:   "Keep a text under a key, or read it back, also in later sessions and from other agents of this deck.",
			redact: redact.Kind{Keep: []string{"action", "key"}}, run: (*Server).remember,
			writes: func(in map[string]any) bool { return in["action"] == "write" },
			schema: `{"type":"object","properties":{` +
				`"action":{"type":"string","enum":["read","write"],"description":"What to do"},` +
				`"key":{"type":"string","description":"Name of the value, at most 256 bytes, no control characters"},` +
				`"value":{"type":"string","description":"For write: the text to keep, at most 65536 bytes; may be empty"}},` +
				`"required":["action","key"],"additionalProperties":false}`,
		},
	}
}
