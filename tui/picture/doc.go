// Package picture turns an image into what a terminal can show: text cells in
// several glyph sets, kitty placeholders and placements, iTerm2 files and sixel
// strips; and it decides which of these a terminal understands, with reasons.
//
// Everything here is pure: pixels, environment values and the terminal's answers
// go in, lines and escape sequences come out. Nothing reads or writes a terminal.
//
// Cells are the base and the fallback of all other kinds. A picture pixel that
// covers whole half cells comes back bit for bit from every glyph set:
//
//	frame := picture.Scale(img, 2)                          // whole factors, nearest
//	cols, rows := frame.Rect.Dx(), (frame.Rect.Dy()+1)/2     // one column by half a row a pixel
//	cells := picture.Fit(frame, cols, rows, picture.Options{Set: picture.Octant})
//	lines := cells.Lines(picture.Palette{})     // 24-bit colours
//
// Images are *image.NRGBA with straight alpha. Cells know transparency as on or
// off: a pixel below half alpha leaves the terminal's background alone. Lay a
// picture on a checkerboard ([Over]) first to show alpha exactly.
package picture
