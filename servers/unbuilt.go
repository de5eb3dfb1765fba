package servers

import "context"

// Unbuilt is a server that this version does not have. It says so in its state
// and offers nothing.
type Unbuilt Identity

// Identity implements Module.
func (u Unbuilt) Identity() Identity { return Identity(u) }

// Start implements Module.
func (u Unbuilt) Start(_ context.Context, s Scope) error {
	s.SetState(State{Status: NotBuilt})
	return nil
}

// Stop implements Module.
func (u Unbuilt) Stop(context.Context) error { return nil }

// Offer implements Module.
func (u Unbuilt) Offer() Offer { return Offer{} }
