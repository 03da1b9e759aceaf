package etcd

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// A rebased is a line that takes down what it is told.
type rebased struct {
	sink.DB
	n      int
	failed error
}

func (l *rebased) Fail(err error) { l.failed = err }

func (l *rebased) Rebase(...*sink.Commit) error { l.n++; return nil }

// A request that is not answered is made again, as it is, and happens once.
func TestTheSameTransactionIsSentAgain(t *testing.T) {
	f, client := newFake(t)
	a := openAccount(t, client, Options{})
	lost := []error{
		status.Error(codes.Unavailable, "no answer"), rpctypes.ErrGRPCTimeout, rpctypes.ErrGRPCLeaderChanged, rpctypes.ErrGRPCRequestTooManyRequests,
	}
	var sent []*pb.TxnRequest
	f.answer(func(of *pb.TxnRequest) (*pb.TxnResponse, error) {
		if len(of.Success) == 1 { // it writes the first receipt
			return nil, nil
		}
		if sent = append(sent, of); len(sent) <= len(lost) {
			return nil, lost[len(sent)-1]
		}
		return nil, nil
	})
	require.NoError(t, a.deposit(t.Context()))
	require.Len(t, sent, len(lost)+1)
	for _, of := range sent {
		require.True(t, proto.Equal(sent[0], of))
	}
}

// What etcd does not take is the error of the updates that were sent, and no other's.
func TestARefusal(t *testing.T) {
	for answer, want := range map[error]error{
		rpctypes.ErrGRPCPermissionDenied: rpctypes.ErrPermissionDenied,
		rpctypes.ErrGRPCNoSpace:          rpctypes.ErrNoSpace,
		rpctypes.ErrGRPCRequestTooLarge:  ErrTooLarge,
		rpctypes.ErrGRPCTooManyOps:       ErrTooLarge,
		status.Error(codes.ResourceExhausted, "trying to send message larger than max"): ErrTooLarge,
	} {
		f, client := newFake(t)
		a := openAccount(t, client, Options{})
		require.NoError(t, a.deposit(t.Context()))
		arrived, behind := make(chan struct{}), make(chan struct{})
		n := 0
		f.answer(func(*pb.TxnRequest) (*pb.TxnResponse, error) {
			if n++; n == 1 {
				close(arrived)
				<-behind
				return nil, answer
			}
			return nil, nil
		})
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- a.deposit(t.Context()) }()
		<-arrived
		go func() { second <- a.deposit(t.Context()) }()
		require.Eventually(t, func() bool {
			a.replica.queue.mu.Lock()
			defer a.replica.queue.mu.Unlock()
			return len(a.replica.queue.waiting) == 2
		}, time.Minute, time.Millisecond)
		close(behind)
		err := <-first
		require.ErrorIs(t, err, want)
		require.ErrorIs(t, err, rpctypes.Error(answer))
		require.Equal(t, want == ErrTooLarge, errors.Is(err, ErrTooLarge))
		require.NotErrorIs(t, err, cow.ErrUnknownOutcome)
		require.NoError(t, <-second, "others may try")
		require.Equal(t, 2, balance(t, client))
	}
}

// While there is no space each update fails at once, and when there is they go on.
func TestThereIsNoSpaceForLong(t *testing.T) {
	f, client := newFake(t)
	a := openAccount(t, client, Options{})
	require.NoError(t, a.deposit(t.Context()))
	n := 0
	full := func(of *pb.TxnRequest) (*pb.TxnResponse, error) { // as the alarm has it: what only removes is taken
		n++
		if slices.ContainsFunc(of.Success, func(op *pb.RequestOp) bool { return op.GetRequestPut() != nil }) {
			return nil, rpctypes.ErrGRPCNoSpace
		}
		return nil, nil
	}
	f.answer(full)
	for i := range 10 {
		err := a.deposit(t.Context())
		require.ErrorIs(t, err, rpctypes.ErrNoSpace)
		require.NotErrorIs(t, err, cow.ErrUnknownOutcome)
		require.Equal(t, 2+i, n, "the first is called off, and those after it are not sent")
	}
	require.ErrorIs(t, a.replica.Status().Err, rpctypes.ErrNoSpace)
	require.True(t, a.replica.Status().Connected)
	_, err := a.replica.Fresh(t.Context())
	require.NoError(t, err, "reads go on")
	f.answer(func(of *pb.TxnRequest) (*pb.TxnResponse, error) {
		if len(of.Success) == 1 { // it writes the first receipt
			return nil, nil
		}
		is := f.apply(of)
		require.Eventually(t, func() bool { return a.replica.now().version == 2 }, time.Minute, time.Millisecond)
		return is, nil // after the watch
	})
	require.NoError(t, a.deposit(t.Context()))
	require.NoError(t, a.replica.Status().Err)
	f.answer(nil)
	require.Equal(t, 2, balance(t, client))
}

// A receipt that others have removed, since this replica was idle for long, is no failure.
func TestTheReceiptIsGone(t *testing.T) {
	_, client := newFake(t)
	a := openAccount(t, client, Options{})
	for n := range 3 {
		require.NoError(t, a.deposit(t.Context()))
		require.Equal(t, n+1, balance(t, client))
		_, err := client.Txn(t.Context()).Then(clientv3.OpDelete(a.replica.receiptKey())).Commit()
		require.NoError(t, err)
	}
}

// A slow is a line which is told something else while it acknowledges.
type slow struct {
	sink.DB
	meanwhile func()
	told      chan string
}

func (l *slow) Ack(uint64) {
	go l.meanwhile()
	time.Sleep(20 * time.Millisecond) // long enough for that to come first, if it can
	l.told <- "acknowledged"
}

func (l *slow) Refuse(uint64, error) { l.told <- "refused" }

// What would be refused, and is there after all, is not dropped while it is acknowledged.
func TestAGroupIsNotRefusedWhileItIsAcknowledged(t *testing.T) {
	r := ending(t)
	r.propose(t, []sink.Row{set(0, "a", "1")})
	g := r.next(newTurns())
	done := make(chan struct{})
	line := &slow{told: make(chan string, 2), meanwhile: func() { r.refuse(g, rpctypes.ErrNoSpace); close(done) }}
	r.line = line
	require.True(t, r.ack(r.name, g.number))
	<-done
	require.Equal(t, "acknowledged", <-line.told)
}

// A group on its way may happen, although the replica fails.
func TestAFailureWhileAGroupIsOnItsWay(t *testing.T) {
	for _, sent := range []bool{false, true} {
		line := new(rebased)
		r := ending(t)
		r.line = line
		r.propose(t, []sink.Row{set(0, "a", "1")})
		if sent {
			require.NotNil(t, r.next(newTurns()))
		}
		r.fail(ErrRestored)
		require.ErrorIs(t, line.failed, ErrRestored)
		require.Equal(t, sent, errors.As(line.failed, new(sink.Undecided)))
		require.Nil(t, r.next(newTurns()))
	}
}
