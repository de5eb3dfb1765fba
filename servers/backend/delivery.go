package backend

import (
	"context"
)

type deliveryKey struct{}

// WithDelivery returns the context of a request whose transport tells whether the reply has
// reached the client: it calls what it is handed once it knows.
func WithDelivery(ctx context.Context, tell func(told func(reached bool))) context.Context {
	return context.WithValue(ctx, deliveryKey{}, tell)
}

// OnDelivery has told called once it is known whether the reply to the request of ctx has
// reached its client. It returns false if nothing will tell.
func OnDelivery(ctx context.Context, told func(reached bool)) bool {
	tell, ok := ctx.Value(deliveryKey{}).(func(func(bool)))
	if ok {
		tell(told)
	}
	return ok
}
