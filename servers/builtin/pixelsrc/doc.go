// Package pixelsrc works on pixel art as text: it loads, draws, validates, explains,
// compares, fixes, formats and scaffolds .pxl sources, turns PNGs into source, and
// keeps the recent renders that the screen shows.
//
// The engine is package pxl; package offer offers all of it over MCP.
package pixelsrc
