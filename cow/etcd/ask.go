package etcd

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// ask makes a request, and again until it succeeds, ctx or the replica ends, or it fails
// in a way that time does not mend. The request must be one that may happen twice.
func (r *Replica) ask(ctx context.Context, request func(ctx context.Context) error) error {
	ctx, stop := r.joined(ctx)
	defer stop()
	for attempt := 0; ; attempt++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := r.once(ctx, attempt, request)
		if err == nil || refused(err) {
			return err
		}
		if r.client.Ctx().Err() != nil {
			return errClient
		}
		if !errors.Is(ctx.Err(), context.Canceled) { // which says nothing of etcd
			r.failed(err)
		}
		if !pause(ctx, attempt) {
			return fmt.Errorf("%w: etcd: %w", context.Cause(ctx), err)
		}
	}
}

var errClient = errors.New("the client was closed: close the DB first")

// once makes a request, with a timeout.
func (r *Replica) once(ctx context.Context, attempt int, request func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, r.patience(attempt))
	defer cancel()
	return request(ctx)
}

// patience returns how long an attempt may take: longer later, so that an etcd that is slow
// for all is not asked in vain forever. What a member has passed on to a leader that had died
// is lost, so that the first attempts must be short.
func (r *Replica) patience(attempt int) time.Duration { return r.o.Timeout << min(attempt/3, 4) }

// joined returns a context that ends with ctx and with the replica.
func (r *Replica) joined(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if r.ctx.Err() != nil { // at once
		cancel(context.Cause(r.ctx))
	}
	cut := context.AfterFunc(r.ctx, func() { cancel(context.Cause(r.ctx)) })
	return ctx, func() { cut(); cancel(nil) }
}

// Between two attempts are about leastPause at first, and mostPause later. Tests wait less.
var leastPause = 20 * time.Millisecond

const mostPause = time.Second

// pause waits before the next attempt, longer after each, and returns false if ctx has
// ended.
func pause(ctx context.Context, attempt int) bool {
	return sleep(ctx, jitter(min(leastPause<<min(attempt, 10), mostPause)))
}

// sleep returns false if ctx has ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// jitter returns between a half and all of d.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }

// code returns the gRPC code of an error of etcd.
func code(err error) codes.Code {
	if of := (rpctypes.EtcdError{}); errors.As(err, &of) {
		return of.Code()
	}
	for of := err; of != nil; of = errors.Unwrap(of) {
		if s, ok := status.FromError(of); ok {
			return s.Code()
		}
	}
	return codes.Unknown
}

// refused reports whether an error says that the request is not taken, and would not be
// if it were made again soon. It does not say that it did not happen: see proof.go.
func refused(err error) bool {
	if errors.Is(err, rpctypes.ErrTooManyRequests) {
		return false
	}
	switch code(err) {
	case codes.InvalidArgument, codes.OutOfRange, codes.PermissionDenied, codes.Unauthenticated,
		codes.ResourceExhausted, codes.Unimplemented:
		return true
	}
	return false
}
