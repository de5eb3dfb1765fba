package pixelsrc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	onDisk "github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// Load reads a .pxl file of the user's with what it includes and imports, which
// may lie in the folder of the nearest pxl.toml above it, else in its own.
func Load(name string, dialect pxl.Dialect) (*pxl.Document, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	top := projectAbove(filepath.Dir(abs))
	rel, err := filepath.Rel(top, abs)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	at := place{folder{dir: top, users: true}, filepath.ToSlash(rel)}
	text, err := readNamed(abs)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	doc, _ := parse(pxl.Options{Dialect: dialect}, text, &at, true)
	return doc, nil
}

// parse reads a text with what it includes and imports from beside at; nil for
// nothing. notes say what could not be imported, tell puts those among the
// diagnostics that are errors.
func parse(o pxl.Options, text string, at *place, tell bool) (doc *pxl.Document, notes []note) {
	if at != nil {
		o.Include = at.beside
	}
	o.Imported, notes = imported(text, at)
	for _, n := range notes {
		if tell && !n.unused {
			o.Notes = append(o.Notes, pxl.Diagnostic{Code: pxl.CodeImport, Severity: pxl.Error, Line: max(n.line, 1), Column: 1, Message: n.text, Object: n.context})
		}
	}
	return pxl.Parse([]byte(text), o), notes
}

// readNamed reads a file that the user named, wherever its links lead.
func readNamed(path string) (string, error) {
	text, err := onDisk.ReadPlain(path, true, pxl.MaxSource)
	switch p := (*os.PathError)(nil); {
	case errors.Is(err, onDisk.ErrNotPlain):
		return "", errors.New("not a regular file")
	case errors.Is(err, onDisk.ErrTooLarge):
		return "", errors.New("the file is larger than " + humanize.Bytes(pxl.MaxSource) + "; split it")
	case errors.As(err, &p):
		err = p.Err // the message has the path
	}
	return string(text), err
}

// projectAbove is the nearest folder that holds pxl.toml, else the folder itself.
func projectAbove(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "pxl.toml")); err == nil {
			return at
		}
		if filepath.Dir(at) == at {
			return dir
		}
	}
}
