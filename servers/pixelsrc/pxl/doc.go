// Package pxl is the pixel engine: it reads documents of JSON5 objects (palettes,
// sprites, variants, compositions, animations, state rules) and draws them, pixel
// for pixel as their format says, with the standard library alone.
//
// Parse reads a text into a Document and never fails; what is wrong becomes
// diagnostics with line, column, code and what to do. Document.Objects lists what
// there is, Document.Render draws one object, Document.Regions describes a sprite's
// regions, Document.Check tells everything that can be said without being asked to draw.
//
// There is one pipeline for every kind of object: source → regions → sprite
// transforms → nine-slice → state rules → antialias → scale.
//
// Two dialects share it. Documented, the default, draws everything the format guide
// teaches; Reference draws and ignores exactly what the reference engine does.
package pxl
