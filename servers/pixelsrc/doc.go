// Package pixelsrc is an MCP server for pixel art: an agent writes .pxl text,
// sees the picture, gets problems it can act on, and turns PNG into source.
//
// The engine is package pxl. A file here holds one topic: render, validate,
// suggest, explain, diff, import (with trace and analysis), format, scaffold,
// palettes, analyze, resources, prompts, paths, imports of a project, and the
// recent renders that the screen shows. tools.json describes the tools, guide
// and examples hold what is read as resources, and tools.go alone knows MCP.
package pixelsrc
