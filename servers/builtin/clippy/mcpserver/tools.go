package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/builtin/clippy"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/arguments"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// tool is all there is to know of a tool.
type tool struct {
	mcp.Tool // the rest of it is the same for all
	takes    arguments.List
	rate     int // calls a minute; 0: any number
	policy   backend.Policy
	// prepare checks what the list cannot say. Of arguments that are wrong it gets those
	// before, and what it returns is only for the log.
	prepare func(s *clippy.Service, in arguments.Values, by clippy.Caller) (work, error)
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
				Description: "Write a text file to the user's Desktop, for the user to find later. " +
					"An existing file is kept unless overwrite is true. Returns the full path.",
			},
			rate: 10, policy: backend.Policy{Redact: redact.Kind{Abridge: "content"}}, prepare: leaveNote,
			takes: arguments.List{
				{Name: "filename", Required: true, Text: "Plain file name such as note.txt: no folders, no hidden or program files, at most 255 bytes"},
				{Name: "content", Required: true, Text: "Text of the file, at most 1048576 bytes of UTF-8; may be empty"},
				{Name: "overwrite", Kind: arguments.Flag, Default: false, Text: "Replace an existing regular file with that name"},
			},
		},
		{
			Tool: mcp.Tool{
				Name: "play_system_sound", Title: "Play a system sound", Annotations: hints(false, false, false),
				Description: "Play a short sound on the user's machine to signal an outcome. Returns before the sound ends.",
			},
			rate: 20, prepare: playSound,
			takes: arguments.List{{Name: "type", Enum: []string{"error", "warning", "success"}, Required: true, Text: "Which sound"}},
		},
		{
			Tool: mcp.Tool{
				Name: "read_project_context", Title: "List a project directory", Annotations: hints(true, false, true),
				Description: "List the files and directories in one directory of the project, with sizes in bytes. Does not read files or descend into subdirectories.",
			},
			prepare: listDirectory, policy: backend.Policy{Load: admission.Medium}, // tens of thousands of names
			takes: arguments.List{{Name: "directoryPath", Required: true, Text: "Directory inside the project; relative paths start at its root, . is the root"}},
		},
		{
			Tool: mcp.Tool{
				Name: "manage_memory", Title: "Remember or recall a value", Annotations: hints(false, false, true),
				Description: "Store a text under a key, or read it back, including from later sessions and other agents of this deck.",
			},
			policy: backend.Policy{Redact: redact.Kind{Keep: []string{"action", "key"}}}, prepare: manageMemory,
			takes: arguments.List{
				{Name: "action", Enum: []string{"read", "write"}, Required: true, Text: "What to do"},
				{Name: "key", Required: true, Text: "Key of the value, at most 256 bytes, no control characters"},
				{Name: "value", Kind: arguments.Raw, Text: "For write: the text to store, at most 65536 bytes; may be empty"},
			},
		},
	}
}

func leaveNote(s *clippy.Service, in arguments.Values, _ clippy.Caller) (work, error) {
	given := clippy.Note{Name: in.String("filename"), Content: in.String("content"), Overwrite: in.Bool("overwrite")}
	w := work{writes: true, detail: clippy.Given(given.Name)}
	if in.Has("content") {
		w.detail += " (" + humanize.Count(len(given.Content), "byte") + ")"
	}
	w.run = func(context.Context) (answer, error) {
		note, err := s.Leave(given)
		if err != nil {
			return answer{}, err
		}
		verb := "created"
		if note.Replaced {
			verb = "replaced"
		}
		return answer{text: fmt.Sprintf("File %s at %s (%s)", verb, note.Path, humanize.Count(note.Bytes, "byte")), data: note}, nil
	}
	return w, s.CheckNote(given)
}

func playSound(s *clippy.Service, in arguments.Values, _ clippy.Caller) (work, error) {
	sound := in.String("type")
	return work{detail: clippy.Given(sound), run: func(context.Context) (answer, error) {
		played, err := s.Play(sound)
		if err != nil {
			return answer{}, err
		}
		return answer{text: played.String(), data: played}, nil
	}}, nil
}

func listDirectory(s *clippy.Service, in arguments.Values, by clippy.Caller) (work, error) {
	dir := in.String("directoryPath")
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
		b, err := rawjson.Encode(l.Entries, "  ")
		if err != nil {
			return answer{}, fmt.Errorf("encode the listing: %w", err)
		}
		a := answer{text: string(b), data: l}
		if l.Truncated {
			least := ""
			if l.AtLeast {
				least = "at least "
			}
			a.more = fmt.Sprintf("Listing truncated: %d of %s%s shown", len(l.Entries), least, humanize.Count(l.Total, "entry"))
		}
		return a, nil
	}
	return w, nil
}

func manageMemory(s *clippy.Service, in arguments.Values, _ clippy.Caller) (work, error) {
	action, key := in.String("action"), in.String("key")
	w := work{detail: strings.TrimSpace(action + " " + clippy.Given(key)), writes: action == "write"}
	if action == "read" {
		w.run = func(context.Context) (answer, error) { return recall(s, key) }
		return w, nil
	}
	value, ok := arguments.Get[any](in, "value").(string)
	if !in.Has("value") {
		return w, errors.New("value is required for write")
	} else if !ok {
		return w, errors.New("value must be a string")
	}
	w.run = func(ctx context.Context) (answer, error) {
		if err := s.Remember(ctx, key, value); err != nil {
			return answer{}, err
		}
		return answer{
			text: fmt.Sprintf("Memory updated: %s = %s", key, sanitize.Cut(value, 200)),
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

// wrong words what is wrong with the arguments of a call.
func wrong(f arguments.Fault) error {
	switch {
	case f.Name == "":
		return errors.New("arguments must be an object")
	case len(f.Enum) == 2:
		return fmt.Errorf("%s must be %s", f.Name, strings.Join(f.Enum, " or "))
	case f.Enum != nil:
		return fmt.Errorf("%s must be one of %s", f.Name, strings.Join(f.Enum, ", "))
	case f.Got == nil && f.Name == "content":
		return errors.New("content is required (it may be empty)")
	case f.Got == nil:
		return fmt.Errorf("%s is required", f.Name)
	}
	return fmt.Errorf("%s must be %s", f.Name, f.Kind.Want())
}
