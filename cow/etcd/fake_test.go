package etcd

import (
	"cmp"
	"context"
	"maps"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	"github.com/cowstore/cowstore/cow"
)

func TestMain(m *testing.M) {
	leastPause = time.Millisecond
	os.Exit(m.Run())
}

// A fake is an etcd of one member in memory, which a real client speaks to. It has what its
// store needs, and nothing more.
type fake struct {
	pb.UnimplementedKVServer
	pb.UnimplementedWatchServer

	// txn, if not nil, is asked for the answer to a transaction, and may apply it. It may
	// return nil for both to have it applied and answered as usual.
	txn func(of *pb.TxnRequest) (*pb.TxnResponse, error)

	mu       sync.Mutex
	silence  chan struct{}   // reads are answered when it is closed; nil: at once
	events   []*mvccpb.Event // all that there was
	revision int64
	changed  chan struct{} // closed at the next event
}

// newFake returns a fake, and a client of it.
func newFake(t testing.TB) (*fake, *clientv3.Client) {
	f := &fake{revision: 1, changed: make(chan struct{})}
	l := bufconn.Listen(1 << 20)
	s := grpc.NewServer()
	pb.RegisterKVServer(s, f)
	pb.RegisterWatchServer(s, f)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() { s.Stop(); require.NoError(t, <-served) })
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{"fake"}, Logger: zap.NewNop(), BackoffWaitBetween: time.Microsecond,
		DialOptions: []grpc.DialOption{grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) })},
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return f, client
}

// answer makes f answer transactions by a function, or as usual.
func (f *fake) answer(by func(of *pb.TxnRequest) (*pb.TxnResponse, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.txn = by
}

// silent makes f answer no read until the returned function is called.
func (f *fake) silent() (end func()) {
	silence := make(chan struct{})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.silence = silence
	return sync.OnceFunc(func() { close(silence) })
}

func (f *fake) header() *pb.ResponseHeader {
	return &pb.ResponseHeader{ClusterId: 1, Revision: f.revision}
}

// in returns the keys of a range as of a revision, in order. The caller holds mu.
func (f *fake) in(key, end []byte, revision int64) []*mvccpb.KeyValue {
	kvs := make(map[string]*mvccpb.KeyValue)
	for _, e := range f.events {
		switch {
		case e.Kv.ModRevision > revision || !within(e.Kv.Key, key, end):
		case e.Type == mvccpb.Event_DELETE:
			delete(kvs, string(e.Kv.Key))
		default:
			kvs[string(e.Kv.Key)] = e.Kv
		}
	}
	return slices.SortedFunc(maps.Values(kvs), func(a, b *mvccpb.KeyValue) int { return cmp.Compare(string(a.Key), string(b.Key)) })
}

func within(is, key, end []byte) bool {
	if len(end) == 0 {
		return string(is) == string(key)
	}
	return string(is) >= string(key) && string(is) < string(end)
}

func (f *fake) Range(_ context.Context, of *pb.RangeRequest) (*pb.RangeResponse, error) {
	f.mu.Lock()
	silence := f.silence
	f.mu.Unlock()
	if silence != nil {
		<-silence
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.read(of), nil
}

func (f *fake) read(of *pb.RangeRequest) *pb.RangeResponse {
	revision := of.Revision
	if revision == 0 {
		revision = f.revision
	}
	all := f.in(of.Key, of.RangeEnd, revision)
	is := &pb.RangeResponse{Header: f.header(), Count: int64(len(all))}
	if n := int(of.Limit); n > 0 && n < len(all) {
		all, is.More = all[:n], true
	}
	is.Kvs = all
	return is
}

func (f *fake) DeleteRange(_ context.Context, of *pb.DeleteRangeRequest) (*pb.DeleteRangeResponse, error) {
	op := &pb.RequestOp{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: of}}
	f.apply(&pb.TxnRequest{Success: []*pb.RequestOp{op}})
	return &pb.DeleteRangeResponse{Header: &pb.ResponseHeader{ClusterId: 1}}, nil
}

func (f *fake) Txn(_ context.Context, of *pb.TxnRequest) (*pb.TxnResponse, error) {
	f.mu.Lock()
	by := f.txn
	f.mu.Unlock()
	if by != nil {
		if is, err := by(of); is != nil || err != nil {
			return is, err
		}
	}
	return f.apply(of), nil
}

// apply does what a transaction says.
func (f *fake) apply(of *pb.TxnRequest) *pb.TxnResponse {
	f.mu.Lock()
	defer f.mu.Unlock()
	is := &pb.TxnResponse{Succeeded: !slices.ContainsFunc(of.Compare, func(c *pb.Compare) bool { return !f.holds(c) })}
	ops := of.Success
	if !is.Succeeded {
		ops = of.Failure
	}
	next := f.revision + 1
	for _, op := range ops {
		answer := new(pb.ResponseOp)
		switch op := op.Request.(type) {
		case *pb.RequestOp_RequestRange:
			answer.Response = &pb.ResponseOp_ResponseRange{ResponseRange: f.read(op.RequestRange)}
		case *pb.RequestOp_RequestPut:
			kv := &mvccpb.KeyValue{Key: op.RequestPut.Key, Value: op.RequestPut.Value, CreateRevision: next, ModRevision: next}
			if was := f.in(kv.Key, nil, f.revision); len(was) > 0 {
				kv.CreateRevision = was[0].CreateRevision
			}
			f.events = append(f.events, &mvccpb.Event{Kv: kv})
			f.revision = next
		case *pb.RequestOp_RequestDeleteRange:
			for _, kv := range f.in(op.RequestDeleteRange.Key, op.RequestDeleteRange.RangeEnd, f.revision) {
				f.events = append(f.events, &mvccpb.Event{Type: mvccpb.Event_DELETE, Kv: &mvccpb.KeyValue{Key: kv.Key, ModRevision: next}})
				f.revision = next
			}
		}
		is.Responses = append(is.Responses, answer)
	}
	is.Header = f.header()
	close(f.changed)
	f.changed = make(chan struct{})
	return is
}

// holds reports whether a comparison for equality holds. The caller holds mu.
func (f *fake) holds(c *pb.Compare) bool {
	all := f.in(c.Key, c.RangeEnd, f.revision)
	if len(all) == 0 {
		return c.Target != pb.Compare_VALUE && c.GetCreateRevision() == 0 && c.GetModRevision() == 0
	}
	return !slices.ContainsFunc(all, func(kv *mvccpb.KeyValue) bool {
		switch c.Target {
		case pb.Compare_CREATE:
			return kv.CreateRevision != c.GetCreateRevision()
		case pb.Compare_MOD:
			return kv.ModRevision != c.GetModRevision()
		default:
			return string(kv.Value) != string(c.GetValue())
		}
	})
}

// Watch serves one watch a stream.
func (f *fake) Watch(s pb.Watch_WatchServer) error {
	first, err := s.Recv()
	if err != nil {
		return err
	}
	of := first.GetCreateRequest()
	f.mu.Lock()
	is := &pb.WatchResponse{Header: f.header(), Created: true}
	f.mu.Unlock()
	for from := of.StartRevision; err == nil; {
		if err = s.Send(is); err != nil {
			break
		}
		f.mu.Lock()
		is = &pb.WatchResponse{Header: f.header()}
		for _, e := range f.events {
			if e.Kv.ModRevision >= from && within(e.Kv.Key, of.Key, of.RangeEnd) {
				is.Events = append(is.Events, e)
			}
		}
		from = f.revision + 1
		changed := f.changed
		f.mu.Unlock()
		if len(is.Events) > 0 {
			continue
		}
		select {
		case <-changed:
			is = &pb.WatchResponse{Header: is.Header}
			from = is.Header.Revision + 1
		case <-s.Context().Done():
			err = s.Context().Err()
		}
	}
	return err
}

// An account is a replica of a fake which is counted on.
type account struct {
	db      cow.DB
	table   *cow.Table[string, int]
	replica *Replica
}

func openAccount(t testing.TB, client *clientv3.Client, o Options) *account {
	a := new(account)
	a.table = cow.NewTable[string](&a.db, "accounts", cow.Options[int]{Codec: cow.Versioned[int]{}})
	var err error
	a.replica, err = Open(t.Context(), client, "p", &a.db, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = a.db.Close() })
	return a
}

// endWatch ends the watch of a, which is connected, for a reason.
func (a *account) endWatch(why error) {
	k := &a.replica.known
	k.mu.Lock()
	defer k.mu.Unlock()
	k.restart(why)
}

// deposit adds one.
func (a *account) deposit(ctx context.Context) error {
	return a.db.UpdateContext(ctx, func(tx *cow.Tx) error {
		return a.table.Edit(tx).Upsert("ada", func(v *int, _ bool) error { *v++; return nil })
	})
}

// balance returns how much there is in etcd, whatever this replica has.
func balance(t testing.TB, client *clientv3.Client) int {
	is := openAccount(t, client, Options{})
	defer is.db.Close()
	n, _ := is.table.Get("ada")
	return n
}
