package etcd

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/internal/layout"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// format1 returns a head as replicas of format 1 write it.
func format1(h head) string {
	b := h.encode()
	b = b[:len(b)-sealed]
	b[0] = 1
	return string(seal(headKey, b))
}

// A moving is an etcd with a head and a schema. So many transactions find that
// another replica of format 1 was faster.
type moving struct {
	clientv3.KV
	head     head
	raw      string
	schema   string
	revision int64
	faster   int
	txn      int
}

func (m *moving) Get(_ context.Context, key string, _ ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	is := &pb.RangeResponse{Header: &pb.ResponseHeader{ClusterId: 5, Revision: m.revision}}
	switch {
	case key == "p/"+headKey:
		is.Kvs = append(is.Kvs, newKV(key, []byte(m.raw), m.revision))
	case m.schema != "":
		is.Kvs = append(is.Kvs, newKV(key, []byte(m.schema), m.revision))
	}
	return (*clientv3.GetResponse)(is), nil
}

func (m *moving) Txn(context.Context) clientv3.Txn { return &movingTxn{moving: m} }

type movingTxn struct {
	*moving
	guard clientv3.Cmp
	do    []clientv3.Op
}

func (t *movingTxn) If(c ...clientv3.Cmp) clientv3.Txn   { t.guard = c[0]; return t }
func (t *movingTxn) Then(do ...clientv3.Op) clientv3.Txn { t.do = do; return t }
func (t *movingTxn) Else(...clientv3.Op) clientv3.Txn    { return t }
func (t *movingTxn) Commit() (*clientv3.TxnResponse, error) {
	m := t.moving
	m.txn++
	m.revision++
	if m.faster > 0 {
		m.faster--
		m.head.version++
		m.raw = format1(m.head)
	}
	is := &pb.TxnResponse{Header: &pb.ResponseHeader{ClusterId: 5, Revision: m.revision}}
	guard := t.guard.GetCompare()
	if is.Succeeded = guard.Target == pb.Compare_VALUE && string(guard.GetValue()) == m.raw; is.Succeeded {
		for _, op := range t.do {
			if string(op.KeyBytes()) == "p/"+headKey {
				m.raw = string(op.ValueBytes())
			} else {
				m.schema = string(op.ValueBytes())
			}
		}
	}
	return (*clientv3.TxnResponse)(is), nil
}

// The first replica of this format gets its turn at a store of format 1 that others write. If
// they wrote since it has loaded the store, it loads it again, and then nobody of theirs writes.
func TestAStoreOfFormat1(t *testing.T) {
	for _, faster := range []int{0, 1, 3} {
		var db cow.DB
		table := cow.NewTable[string](&db, "a", cow.Options[int]{Codec: cow.Versioned[int]{}})
		stored, err := sink.For(&db).Tables()
		require.NoError(t, err)
		m := &moving{head: head{lineage: "L", version: 6, writer: "w", group: 2}, revision: 10, faster: faster}
		m.raw = format1(m.head)
		r := ending(t)
		r.stored = stored
		r.client = clientv3.NewCtxClient(t.Context())
		r.client.KV = m
		at, _, err := r.latest(t.Context())
		require.NoError(t, err)
		require.True(t, at.old())
		r.moved(at)
		is, err := r.recorded(t.Context(), at)
		require.NoError(t, err)
		require.Empty(t, is.was)
		err = r.record(t.Context(), is, at)
		require.Equal(t, faster+1, m.txn)
		now, _, no := r.latest(t.Context())
		require.NoError(t, no)
		require.False(t, now.old())
		require.Equal(t, m.head, now.head, "it is the same version of the same replica")
		if faster > 0 {
			require.ErrorIs(t, err, errSchemaMoved)
		} else {
			require.NoError(t, err)
			require.NoError(t, r.verify(at, now), "what another saw in between is no other store")
			require.Equal(t, now.raw, r.now().raw, "the next group is guarded by it")
		}
		is, err = r.recorded(t.Context(), now)
		require.NoError(t, err)
		require.Len(t, is.was, 1)
		require.NoError(t, r.record(t.Context(), is, now))
		require.Equal(t, faster+1, m.txn, "there is nothing to record")

		// What programs of format 1 check first: they refuse it, and say why.
		require.Equal(t, byte(2), now.raw[0])
		require.NoError(t, db.Close())
		_ = table
	}
}

// A store of this format has a schema.
func TestAStoreWithoutASchema(t *testing.T) {
	m := &moving{head: head{lineage: "L", version: 6}, revision: 10}
	m.raw = string(m.head.encode())
	r := ending(t)
	r.client = clientv3.NewCtxClient(t.Context())
	r.client.KV = m
	at, _, err := r.latest(t.Context())
	require.NoError(t, err)
	_, err = r.recorded(t.Context(), at)
	require.ErrorIs(t, err, ErrDamaged)
	for _, bad := range []string{"x", string(seal(schemaKey, []byte{1})), string(seal("other", layout.Record{}.Encode()))} {
		m.schema = bad
		_, err = r.recorded(t.Context(), at)
		require.ErrorIs(t, err, ErrDamaged)
	}
}
