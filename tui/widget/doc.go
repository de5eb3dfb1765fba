// Package widget draws the parts screens are made of: rows, frames, lists,
// editors, tables, trees, dialogs.
//
// A widget is a struct with methods and a Render that returns rows; it knows
// nothing of the program around it. Every row a Render returns is exactly as
// many cells wide as it was asked for.
package widget
