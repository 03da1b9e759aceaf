package chaos_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// A liar stands between a client and etcd. While it lies, some transactions are answered with an
// error, whether they happen, do not, or happen later, and some are not answered.
type liar struct {
	lies  atomic.Bool
	told  atomic.Int64   // lies
	later sync.WaitGroup // transactions that are still to happen
}

// outages are errors that an update outlives: they are never what it returns, unless it does not
// know what came of it.
var outages = []error{
	rpctypes.ErrGRPCTimeout, rpctypes.ErrGRPCTimeoutDueToLeaderFail, rpctypes.ErrGRPCTimeoutDueToConnectionLost,
	rpctypes.ErrGRPCLeaderChanged, rpctypes.ErrGRPCNoLeader, rpctypes.ErrGRPCStopped, rpctypes.ErrGRPCRequestTooManyRequests,
	rpctypes.ErrGRPCCorrupt, rpctypes.ErrGRPCUnhealthy,
	status.Error(codes.Canceled, "a lie"), status.Error(codes.DeadlineExceeded, "a lie"), status.Error(codes.Unavailable, "a lie"),
	status.Error(codes.Unknown, "a lie"), status.Error(codes.Internal, "a lie"), status.Error(codes.Aborted, "a lie"),
	status.Error(codes.DataLoss, "a lie"), status.Error(codes.FailedPrecondition, "a lie"), status.Error(codes.NotFound, "a lie"),
}

// refusals are errors that an update returns, if it did not happen.
var refusals = []error{
	rpctypes.ErrGRPCNoSpace, rpctypes.ErrGRPCNoSpace, rpctypes.ErrGRPCNoSpace, // the one that etcd itself tells in error
	rpctypes.ErrGRPCRequestTooLarge, rpctypes.ErrGRPCTooManyOps, rpctypes.ErrGRPCPermissionDenied, rpctypes.ErrGRPCCompacted,
	status.Error(codes.InvalidArgument, "a lie"), status.Error(codes.ResourceExhausted, "a lie"), status.Error(codes.Unimplemented, "a lie"),
}

// option makes a client speak to l.
func (l *liar) option() grpc.DialOption { return grpc.WithChainUnaryInterceptor(l.intercept) }

func (l *liar) intercept(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
	if !l.lies.Load() || method != "/etcdserverpb.KV/Txn" || rand.IntN(3) == 0 {
		return invoke(ctx, method, req, reply, conn, o...)
	}
	l.told.Add(1)
	lie := outages[rand.IntN(len(outages))]
	if rand.IntN(2) == 0 {
		lie = refusals[rand.IntN(len(refusals))]
	}
	switch rand.IntN(4) {
	case 0: // it does not happen
	case 1:
		_ = invoke(ctx, method, req, reply, conn, o...)
	case 2:
		own := reply.(proto.Message).ProtoReflect().New().Interface() // the client asks again, with that one
		l.later.Go(func() {
			time.Sleep(rand.N(300 * time.Millisecond))
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			_ = conn.Invoke(ctx, method, req, own) // nobody waits for the answer
		})
	default:
		_ = invoke(ctx, method, req, reply, conn, o...)
		<-ctx.Done()
		return status.FromContextError(ctx.Err()).Err()
	}
	return lie
}
