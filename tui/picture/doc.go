// Package picture converts an image into something a terminal can show: text cells in
// several glyph sets, kitty placeholders and placements, iTerm2 files and sixel strips.
// It also decides which of these a terminal supports, and explains why.
//
// Everything except [Gallery.Output] is free of I/O: pixels, environment values and the
// terminal's replies go in, lines and escape sequences come out.
//
// Cells are the common form and the fallback for all others. A picture whose pixels each
// cover whole half cells is reproduced exactly by every glyph set:
//
//	frame := picture.Scale(img, 2)                          // whole factors, nearest
//	cols, rows := frame.Rect.Dx(), (frame.Rect.Dy()+1)/2     // one column and half a row per pixel
//	cells := picture.Fit(frame, cols, rows, picture.Options{Set: picture.Octant})
//	lines := cells.Lines(picture.Palette{})     // 24-bit colours
//
// Images are *image.NRGBA, with straight alpha. In cells, transparency is on or off: a
// pixel below half alpha leaves the terminal's background. To show alpha exactly, first
// draw the picture over a checkerboard with [Over].
package picture
