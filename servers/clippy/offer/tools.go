package offer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/clippy"
	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/servers/redact"
)

// tool is all there is to know of a tool.
type tool struct {
	mcp.Tool        // the rest of it is the same for all
	schema   string // plain keywords only, since several clients drop or choke on others
	rate     int    // calls a minute; 0: any number
	redact   redact.Kind
	// prepare checks the arguments. What it returns beside an error is only for the log.
	prepare func(s *clippy.Service, in map[string]any, by clippy.Caller) (work, error)
}

// work is what a call is to do.
type work struct {
	detail string // what of the arguments the user may read, on one line
	writes bool   // it changes something on the disk
	run    func(context.Context) (answer, error)
}

// answer is a tool's success: a text, perhaps a second one, and the same as data.
type answer struct {
	text, more string
	data       any
}

func hints(readOnly, destructive, idempotent bool) mcp.ToolAnnotation {
	return mcp.ToolAnnotation{ReadOnlyHint: &readOnly, DestructiveHint: &destructive, IdempotentHint: &idempotent}
}

func tools() []tool {
	return []tool{
		{
			Tool: mcp.Tool{
				Name: "haunt_desktop", Title: "Leave a note on the desktop", Annotations: hints(false, true, false),
				Description: "Write a text file to the user's Desktop, for something they should find later. " +
					"An existing file is kept unless overwrite is true. Returns the full path.",
			},
			rate: 10, redact: redact.Kind{Abridge: "content"}, prepare: leaveNote,
			schema: `{"type":"object","properties":{` +
				`"filename":{"type":"string","description":"Plain file name such as note.txt: no folders, no hidden or program files, at most 255 bytes"},` +
				`"content":{"type":"string","description":"Text of the file, at most 1048576 bytes of UTF-8; may be empty"},` +
				`"overwrite":{"type":"boolean","description":"Replace a regular file of that name","default":false}},` +
				`"required":["filename","content"],"additionalProperties":false}`,
		},
		{
			Tool: mcp.Tool{
				Name: "play_system_sound", Title: "Play a system sound", Annotations: hints(false, false, false),
				Description: "Play a short sound on the user's machine to signal how something went. Returns before the sound ends.",
			},
			rate: 20, prepare: playSound,
			schema: `{"type":"object","properties":{` +
				`"type":{"type":"string","enum":["error","warning","success"],"description":"Which sound"}},` +
				`"required":["type"],"additionalProperties":false}`,
		},
		{
			Tool: mcp.Tool{
				Name: "read_project_context", Title: "List a project directory", Annotations: hints(true, false, true),
				Description: "List the files and directories in one directory of the project, with sizes in bytes. Does not read files and does not descend.",
			},
			prepare: listDirectory,
			schema: `{"type":"object","properties":{` +
				`"directoryPath":{"type":"string","description":"Directory inside the project; relative paths start at its root, . is the root"}},` +
				`"required":["directoryPath"],"additionalProperties":false}`,
		},
		{
			Tool: mcp.Tool{
				Name: "manage_memory", Title: "Remember or recall a value", Annotations: hints(false, false, true),
				Description: "Keep a text under a key, or read it back, also in later sessions and from other agents of this deck.",
			},
			redact: redact.Kind{Keep: []string{"action", "key"}}, prepare: manageMemory,
			schema: `{"type":"object","properties":{` +
				`"action":{"type":"string","enum":["read","write"],"description":"What to do"},` +
				`"key":{"type":"string","description":"Name of the value, at most 256 bytes, no control characters"},` +
				`"value":{"type":"string","description":"For write: the text to keep, at most 65536 bytes; may be empty"}},` +
				`"required":["action","key"],"additionalProperties":false}`,
		},
	}
}

func leaveNote(s *clippy.Service, in map[string]any, _ clippy.Caller) (work, error) {
	w := work{writes: true}
	name, err := text(in, "filename", "filename is required")
	if err != nil {
		return w, err
	}
	w.detail = clippy.Given(name)
	content, err := text(in, "content", "content is required (it may be empty)")
	if err != nil {
		return w, err
	}
	overwrite, ok := in["overwrite"].(bool)
	if !ok && in["overwrite"] != nil {
		return w, errors.New("overwrite must be true or false")
	}
	w.detail += fmt.Sprintf(" (%d bytes)", len(content))
	w.run = func(context.Context) (answer, error) {
		note, err := s.Leave(clippy.Note{Name: name, Content: content, Overwrite: overwrite})
		if err != nil {
			return answer{}, err
		}
		verb := "created"
		if note.Replaced {
			verb = "replaced"
		}
		return answer{text: fmt.Sprintf("File %s at %s (%d bytes)", verb, note.Path, note.Bytes), data: note}, nil
	}
	return w, nil
}

func playSound(s *clippy.Service, in map[string]any, _ clippy.Caller) (work, error) {
	sound, ok := in["type"].(string)
	if !ok {
		return work{}, errors.New("type must be one of error, warning, success")
	}
	return work{detail: clippy.Given(sound), run: func(context.Context) (answer, error) {
		played, err := s.Play(sound)
		if err != nil {
			return answer{}, err
		}
		return answer{text: played.String(), data: played}, nil
	}}, nil
}

func listDirectory(s *clippy.Service, in map[string]any, by clippy.Caller) (work, error) {
	dir, err := text(in, "directoryPath", "directoryPath is required")
	if err != nil {
		return work{}, err
	}
	w := work{detail: clippy.Given(dir)}
	root, err := s.Root(by)
	if err != nil {
		return w, err
	}
	w.run = func(ctx context.Context) (answer, error) {
		l, err := s.List(ctx, root, dir)
		if err != nil {
			return answer{}, err
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(l.Entries); err != nil {
			return answer{}, fmt.Errorf("encode the listing: %w", err)
		}
		a := answer{text: strings.TrimSuffix(b.String(), "\n"), data: l}
		if l.Truncated {
			least := ""
			if l.AtLeast {
				least = "at least "
			}
			a.more = fmt.Sprintf("Listing cut: %d of %s%d entries shown", len(l.Entries), least, l.Total)
		}
		return a, nil
	}
	return w, nil
}

func manageMemory(s *clippy.Service, in map[string]any, _ clippy.Caller) (work, error) {
	action, _ := in["action"].(string)
	if action != "read" && action != "write" {
		return work{}, errors.New("action must be read or write")
	}
	w := work{detail: action, writes: action == "write"}
	key, err := text(in, "key", "key is required")
	if err != nil {
		return w, err
	}
	w.detail += " " + clippy.Given(key)
	if action == "read" {
		w.run = func(context.Context) (answer, error) { return recall(s, key) }
		return w, nil
	}
	value, err := text(in, "value", "value is required for write")
	if err != nil {
		return w, err
	}
	w.run = func(ctx context.Context) (answer, error) {
		if err := s.Remember(ctx, key, value); err != nil {
			return answer{}, err
		}
		return answer{
			text: fmt.Sprintf("Memory updated: %s = %s", key, plain.Cut(value, 200)),
			data: map[string]any{"action": "write", "key": key, "value": value},
		}, nil
	}
	return w, nil
}

func recall(s *clippy.Service, key string) (answer, error) {
	r, err := s.Recall(key)
	if err != nil {
		return answer{}, err
	}
	data := map[string]any{"action": "read", "key": key, "found": r.Found, "value": nil}
	if !r.Found {
		return answer{text: "No memory found for key: " + key, data: data}, nil
	}
	data["value"] = r.Value
	if r.NonString {
		data["nonString"] = true
	}
	return answer{text: r.Value, data: data}, nil
}

// arguments returns a call's arguments; none at all is the empty object.
func arguments(v any) (map[string]any, error) {
	in, ok := v.(map[string]any)
	if !ok && v != nil {
		return nil, errors.New("arguments must be an object")
	}
	return in, nil
}

// text returns a text that has to be there.
func text(in map[string]any, name, missing string) (string, error) {
	switch v := in[name].(type) {
	case nil:
		return "", errors.New(missing)
	case string:
		return v, nil
	}
	return "", fmt.Errorf("%s must be a string", name)
}
