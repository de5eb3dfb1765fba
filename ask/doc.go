// Package ask keeps the questions that agents ask the user until they are answered,
// and never loses one.
//
// A [Queue] holds requests, what the user has entered for them so far, and the
// answers that no agent has fetched yet. It is fed by a Unix socket ([Listener]) and
// by calls inside the process ([Queue.Open]); a screen reads versioned
// snapshots ([Queue.Pending]) and changes state only through the queue's
// methods. A [Client] is the other end of the socket.
package ask
