package pxl

import "slices"

// Check tells everything that is wrong or doubtful in a document: what reading it
// found, and what drawing every object finds.
func (d *Document) Check() []Diagnostic {
	out := slices.Concat(d.diags, d.notes)
	for _, k := range Drawable() {
		for _, name := range d.names(k) {
			if res, err := d.Render(RenderOptions{Kind: k, Name: name}); err == nil {
				out = append(out, res.Diagnostics...)
			}
		}
	}
	return sortDiagnostics(out)
}
