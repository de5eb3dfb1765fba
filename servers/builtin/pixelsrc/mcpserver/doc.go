// Package mcpserver offers the pixel art server over MCP: its tools, resources and
// prompts. A tool is one function here and one name in the list of tools; what it
// does is package pixelsrc.
package mcpserver
