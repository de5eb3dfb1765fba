// Package tui is the screen of the deck: one Bubble Tea model at the root, the
// pages it is given, overlays above them, and one table of actions that keys,
// help, the command palette and the footer read.
//
// Data comes in by the pump: sources only hint that something is new, and at
// most thirty times a second what is new is loaded, off the update loop, and
// given to every page as messages. Nothing in Update or Render does I/O or takes
// a lock that work holds. Nothing ticks while nothing on the screen needs it.
//
// A page is made of four things: Feed, if it has data of its own; Update, which
// keeps what came; Actions, which change the page or return commands; Render,
// which draws what is kept. Time is asked for with Frame.Ago or RedrawAfter, room
// with SizeMsg, what takes long with a command whose message Update keeps. Parts
// come from package widget; a test shows the page to package internal/frame.
package tui
