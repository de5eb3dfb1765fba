// Package viewer shows one picture: pixel art at whole scale factors with zoom, pan,
// a pixel cursor, playback and comparison; any other picture fitted to its box. It
// is a part for pages: it draws into a frame, and its methods are what keys do.
package viewer
