// Package conformance runs the official conformance suite of the Model Context Protocol against
// a server with the fixtures that it requires, which only tests have.
package conformance
