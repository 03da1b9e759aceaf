package etcd

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func TestOldReceiptsAreRemoved(t *testing.T) {
	now := int64(100 * keepWriters)
	f, client := newFake(t)
	put := func(name string, value []byte) {
		_, err := client.Txn(t.Context()).Then(clientv3.OpPut("p/writers/"+name, string(value))).Commit()
		require.NoError(t, err)
	}
	add := func(name string, at int64) {
		put(name, receipt{group: 1, version: 1, commits: []receiptCommit{{at: 1}, {at: at}}}.encode(name))
	}
	add("old", now-int64(keepWriters)-1)
	add("new", now-int64(keepWriters))
	add("older", 0)
	add("written now", 0)
	put("damaged", nil)
	r := replica(Options{})
	r.client = client
	f.answer(func(of *pb.TxnRequest) (*pb.TxnResponse, error) {
		if string(of.Compare[0].Key) == "p/writers/written now" {
			f.answer(nil)
			add("written now", now)
		}
		return nil, nil
	})
	r.forgetWriters(t.Context(), position{head: head{at: now}})
	left, err := client.Get(t.Context(), "p/writers/", clientv3.WithPrefix())
	require.NoError(t, err)
	var names []string
	for _, kv := range left.Kvs {
		names = append(names, string(kv.Key[len("p/writers/"):]))
	}
	require.Equal(t, []string{"damaged", "new", "written now"}, names)
}

// If a receipt may have been removed, nobody knows what became of the group.
func TestAReceiptThatIsGone(t *testing.T) {
	r := replica(Options{})
	_, r.client = newFake(t)
	r.propose(t, nil)
	require.NoError(t, r.settleByReceipt(position{head: head{at: 1 << 62}}), "there is no group")
	require.NotNil(t, r.next(newTurns()))
	at := time.Unix(0, 100).Add(keepWriters).UnixNano()
	require.NoError(t, r.settleByReceipt(position{head: head{at: at}}))
	require.True(t, isFinal(r.settleByReceipt(position{head: head{at: at + 1}})))
}
