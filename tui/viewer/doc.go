// Package viewer looks at one picture: pixel art at whole scales with zoom, pan, a
// pixel cursor, playback and comparison; anything else fitted to its box. It is a part
// for pages: it draws into a frame, and its methods are what keys do.
package viewer
