package etcd

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// What an answer to a transaction says of whether it happened, in etcd 3.7.3. Files are those of
// server/etcdserver, unless they are said to be others.
//
//	answer                      happened      because
//	Succeeded                   yes           it was applied: txn/txn.go, Txn
//	not Succeeded               no            its guard did not hold then: txn/txn.go, compareToPath
//	NoSpace                     yes or no     a member that has no space does not propose it: api/v3rpc/quota.go;
//	                                          one that is applied while the alarm is on does nothing: apply/capped.go;
//	                                          one that crosses the quota is applied, and answered with this error all
//	                                          the same: apply/quota.go, quotaApplierV3.Txn
//	Timeout (all three),        yes, no, or   it was proposed, and the member stopped waiting: v3_server.go,
//	Canceled, DeadlineExceeded, later         processInternalRaftRequestOnce, and server.go, parseProposeCtxErr
//	Stopped
//	LeaderChanged, NoLeader,    no            they are answers to reads and leases (read/read.go, v3_server.go), and of
//	TimeoutWaitAppliedIndex                   a check before it is proposed (api/v3rpc/interceptor.go)
//	TooManyRequests,            no            they are found before it is proposed: v3_server.go,
//	RequestTooLarge                           processInternalRaftRequestOnce
//	TooManyOps, DuplicateKey,   no            they are found before that: api/v3rpc/key.go, kvServer.Txn
//	EmptyKey, KeyNotFound
//	InvalidAuthToken            no            v3_server.go, AuthInfoFromCtx
//	PermissionDenied,           no            they are found when it is applied, before its operations: apply/auth.go,
//	AuthOldRevision, UserEmpty                authApplierV3.Txn
//	Corrupt                     no            it is applied to nothing: apply/corrupt.go
//	Unavailable, Internal,      yes, no, or   a connection was cut, or something between did not understand the other;
//	Unknown, and other codes    later         a member that cannot propose it also says Unknown
//	ResourceExhausted of gRPC   yes or no     the request was too large for the client (grpc: stream.go) or the member,
//	                                          or the answer for the client (rpc_util.go); only the text tells
//
// A no is one of the last request alone. The client sends again by itself: after Canceled and
// DeadlineExceeded that were not its own, and with a new token (client/v3: retry_interceptor.go,
// unaryClientInterceptor). So does a proxy. An earlier request may have happened, or happen later.
//
// So no error is taken for a proof. Two things are:
//
//   - The head is another than the one that the group follows: no request of the group can happen
//     any more. Whether one has, the line says: the watch brings it, or the receipt has it.
//   - The receipt of this replica is another than the one that the requests of the group demand,
//     while the head is the same: none has happened, and none can.
//
// The second needs no space: what only removes keys is taken when nothing else is (storage/quota.go
// under server, costTxn). So a group that etcd does not take is called off by removing the receipt.

// errMoved says that the head is not the one that a group follows: the line decides.
var errMoved = errors.New("the head is another")

// offer sends the transaction of a group until it is answered by its guard, or refused. An error
// is errMoved, or one that is refused, or says that the group or the replica has ended. It returns
// true if a request may have happened, or happen later.
func (r *Replica) offer(g *group) (sent bool, err error) {
	for attempt := 0; ; attempt++ {
		if r.receipt() == 0 {
			at, _, err := r.guarded(g, []clientv3.Op{clientv3.OpPut(r.receiptKey(), string(firstReceipt(g.guard.head).encode(r.name)))},
				clientv3.Compare(clientv3.CreateRevision(r.receiptKey()), "=", 0))
			if err != nil {
				return false, err
			}
			r.holds(at)
		}
		at, happened, err := r.guarded(g, g.put, clientv3.Compare(clientv3.ModRevision(r.receiptKey()), "=", r.receipt()))
		if happened || err != nil {
			return true, err
		}
		// The receipt was removed: this replica had not written for long, or a request to call off
		// an earlier group came late.
		r.holds(at)
		pause(g.ctx, attempt)
	}
}

// callOff makes sure that no request of a group has happened or will. Its errors are those of offer:
// after one that is refused, nobody knows.
func (r *Replica) callOff(g *group) error {
	r.holds(0)
	_, _, err := r.guarded(g, []clientv3.Op{clientv3.OpDelete(r.receiptKey())})
	if refused(err) { // but a user that may not write any more may read
		if at, found, failed := r.latest(g.ctx); failed == nil && found && at.raw != g.guard.raw {
			return errMoved
		}
	}
	return err
}

// guarded asks for operations that happen if the head is the one that a group follows, and more
// holds, until it is answered. It returns the revision of the receipt, or 0 if there is none.
func (r *Replica) guarded(g *group, then []clientv3.Op, more ...clientv3.Cmp) (receipt int64, happened bool, err error) {
	guard := append(more, clientv3.Compare(clientv3.Value(r.prefix+headKey), "=", g.guard.raw))
	var is *clientv3.TxnResponse
	err = r.ask(g.ctx, func(ctx context.Context) (err error) {
		is, err = r.client.Txn(ctx).If(guard...).Then(then...).
			Else(clientv3.OpGet(r.prefix+headKey), clientv3.OpGet(r.receiptKey(), clientv3.WithKeysOnly())).Commit()
		return err
	})
	if err != nil {
		return 0, false, err
	}
	if is.Succeeded {
		return is.Header.Revision, true, nil
	}
	head, kept := is.Responses[0].GetResponseRange().GetKvs(), is.Responses[1].GetResponseRange().GetKvs()
	if len(head) == 0 || string(head[0].Value) != g.guard.raw {
		return 0, false, errMoved
	}
	if len(kept) > 0 {
		receipt = kept[0].ModRevision
	}
	return receipt, false, nil
}

func (r *Replica) receiptKey() string { return r.prefix + writers + r.name }

// receipt returns the revision of this replica's receipt, or 0 if it is not known to have one.
func (r *Replica) receipt() int64 {
	r.known.mu.Lock()
	defer r.known.mu.Unlock()
	return r.known.receipt
}

// holds says that this replica's receipt is of a revision. Of what is not so the guard of the next
// group tells.
func (r *Replica) holds(revision int64) {
	r.known.mu.Lock()
	defer r.known.mu.Unlock()
	r.known.receipt = revision
}
