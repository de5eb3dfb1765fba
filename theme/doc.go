// Package theme defines the look of the screen: colours by meaning, for light and
// dark terminals and any colour depth, and the glyphs.
package theme
