// Package widget draws the parts of screens: rows, frames, lists, editors, tables,
// trees and dialogs.
//
// A widget is a struct with methods and a Render that returns rows; it knows
// nothing of the program around it. Every row a Render returns is exactly as
// many cells wide as it was asked for.
package widget
