// Package tui is the screen of the deck: one Bubble Tea model at the root, the
// pages it is given, overlays above them, and one table of actions that keys,
// help, the command palette and the footer read.
//
// Data comes in by the pump: sources only hint that something is new, and at
// most thirty times a second what is new is loaded, off the update loop, and
// given to every page as messages. Nothing in Update or Render does I/O or takes
// a lock that work holds. No timer runs unless something on the screen needs it.
//
// A page consists of Feed, if it has data of its own; Update, which stores what
// arrives; Actions, which change the page or return commands; and Render, which
// draws what is stored. It gets the time from Frame.Ago or RedrawAfter, its size
// from SizeMsg, and does slow work in a command whose message Update stores. Its
// parts come from package widget; package internal/frame tests it.
package tui
