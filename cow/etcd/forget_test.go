package etcd

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// An attic is an etcd that has receipts.
type attic struct {
	script
	kvs []*mvccpb.KeyValue
}

func (a *attic) Get(context.Context, string, ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	return (*clientv3.GetResponse)(&pb.RangeResponse{Kvs: a.kvs}), nil
}

func TestOldReceiptsAreRemoved(t *testing.T) {
	now := int64(100 * keepWriters)
	a := new(attic)
	a.ended = func() {}
	add := func(name string, at int64) {
		of := receipt{group: 1, version: 1, commits: []receiptCommit{{at: 1}, {at: at}}}
		a.kvs = append(a.kvs, newKV("p/writers/"+name, of.encode(name), int64(len(a.kvs)+3)))
	}
	add("old", now-int64(keepWriters)-1)
	add("new", now-int64(keepWriters))
	add("older", 0)
	a.kvs = append(a.kvs, newKV("p/writers/damaged", nil, 9))
	r := replica(Options{})
	r.client = &clientv3.Client{KV: a}
	r.forgetWriters(t.Context(), position{head: head{at: now}})
	var gone []string
	for i := range a.puts {
		require.Equal(t, clientv3.Compare(clientv3.ModRevision(string(a.puts[i][0].KeyBytes())), "=", int64(3+2*i)), a.guards[i][0])
		require.True(t, a.puts[i][0].IsDelete())
		gone = append(gone, string(a.puts[i][0].KeyBytes()))
	}
	require.Equal(t, []string{"p/writers/old", "p/writers/older"}, gone)
}

// If a receipt may have been removed, nobody knows what became of the group.
func TestAReceiptThatIsGone(t *testing.T) {
	r := replica(Options{})
	r.client = &clientv3.Client{KV: new(attic)}
	r.propose(t, nil)
	require.NoError(t, r.settleByReceipt(position{head: head{at: 1 << 62}}), "there is no group")
	require.NotNil(t, r.next(newTurns()))
	at := time.Unix(0, 100).Add(keepWriters).UnixNano()
	require.NoError(t, r.settleByReceipt(position{head: head{at: at}}))
	require.True(t, isFinal(r.settleByReceipt(position{head: head{at: at + 1}})))
}
