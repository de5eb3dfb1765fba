package pxl

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// maxIncludes is how many different files one document may include.
const maxIncludes = 32

// included is a file read once.
type included struct {
	doc *Document
	err error
}

// included works out the palette of @include:path#name. Positions of what is wrong
// inside the included file are those of the reference to it.
func (d *Document) included(spec string, pos int32, object string) *tokens {
	file, name, _ := strings.Cut(spec, "#")
	inc := d.includeFile(file)
	err := inc.err
	var p *Palette
	if err == nil {
		if p = inc.doc.firstPalette(name); p == nil {
			err = fmt.Errorf("the file has no palette %q", name)
			if name == "" {
				err = errors.New("the file has no palette")
			}
		}
	}
	if err != nil {
		t := &tokens{missing: true}
		s := &sink{doc: d, object: object, list: &t.diags}
		s.warn(pos, CodeInclude, "give the path of a .pxl or .jsonl file beside this one that contains the palette", "include %s: %v", spec, err)
		return t
	}
	return d.build(fmt.Sprintf("palette %q of %s", p.Name, file), p.Colors, p, &pos)
}

func (d *Document) firstPalette(name string) *Palette {
	if name != "" {
		return d.palettes[name]
	}
	for _, o := range d.objects {
		if o.Palette != nil {
			return o.Palette
		}
	}
	return nil
}

// includeFile reads a file: the path as it stands, else with the extension .pxl or .jsonl.
func (d *Document) includeFile(file string) *included {
	if inc, ok := d.cache.includes[file]; ok {
		return inc
	}
	inc := &included{}
	if d.cache.files++; d.cache.files > maxIncludes {
		return &included{err: fmt.Errorf("more than %d included files", maxIncludes)}
	}
	text, err := d.readInclude(file)
	if inc.err = err; err == nil {
		inc.doc = Parse(text, Options{Dialect: d.dialect})
	}
	if d.cache.includes == nil {
		d.cache.includes = map[string]*included{}
	}
	d.cache.includes[file] = inc
	return inc
}

func (d *Document) readInclude(file string) ([]byte, error) {
	if d.include == nil {
		return nil, errors.New("includes only work in a document read from a file")
	}
	if file == "" || strings.ContainsRune(file, 0) || path.IsAbs(file) || strings.Contains(file, `\`) {
		return nil, errors.New("the path must be relative")
	}
	stem := strings.TrimSuffix(file, path.Ext(file))
	for _, f := range []string{file, stem + ".pxl", stem + ".jsonl"} {
		if e := path.Ext(f); e != ".pxl" && e != ".jsonl" {
			continue
		}
		text, err := d.include(path.Clean(f))
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return text, err
		}
	}
	return nil, errors.New("no such file")
}
