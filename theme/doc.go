// Package theme says what things on the screen look like: colours by meaning,
// for light and dark terminals and any depth of colour, and the glyphs.
package theme
