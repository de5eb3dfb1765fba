package router

// Hold counts the bytes of a request that is kept in memory until it is answered;
// false when the agent, or all together, have too many in flight. release must be
// called once.
func (a *Agent) Hold(n int) (release func(), ok bool) {
	return a.host.admission.Hold(a.Caller().Identity, int64(n))
}

// Hold is [Agent.Hold] for bytes of which it is not known yet whose they are.
func (h *Host) Hold(of string, n int) (release func(), ok bool) {
	return h.admission.Hold(of, int64(n))
}
