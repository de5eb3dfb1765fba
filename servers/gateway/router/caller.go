package router

import (
	"context"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

type callerKey struct{}

// WithCaller attaches a function that says who is calling. It is a function
// because a client may name itself only after its first request.
func WithCaller(ctx context.Context, who func() snapshot.Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, who)
}

// CallerFrom says who is behind the request of ctx; the zero Caller when
// nobody attached one.
func CallerFrom(ctx context.Context) snapshot.Caller {
	if who, ok := ctx.Value(callerKey{}).(func() snapshot.Caller); ok {
		return who()
	}
	return snapshot.Caller{}
}
