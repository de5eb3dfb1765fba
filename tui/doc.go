// Package tui is the screen of the deck: one Bubble Tea model at the root, the
// pages it is given, overlays above them, and one table of actions that keys,
// help, the command palette and the footer read.
//
// Data comes in by the pump: sources only hint that something is new, and at
// most thirty times a second what is new is loaded, off the update loop, and
// given to every page as messages. Nothing in Update or Render does I/O or takes
// a lock that work holds. Nothing ticks while nothing on the screen needs it.
package tui
