package etcd

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A narrow is an etcd of rows whose client takes so many bytes at once.
type narrow struct {
	clientv3.KV
	rows  []*mvccpb.KeyValue
	most  int
	pages []int // the bytes of each
}

func (n *narrow) Get(_ context.Context, from string, o ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	op := clientv3.OpGet(from, o...)
	is, size := new(pb.RangeResponse), 0
	for _, kv := range n.rows {
		if key := string(kv.Key); key < from || key >= string(op.RangeBytes()) {
			continue
		}
		if int64(len(is.Kvs)) == op.Limit() {
			is.More = true
			break
		}
		is.Kvs = append(is.Kvs, kv)
		size += len(kv.Value)
	}
	n.pages = append(n.pages, size)
	if size > n.most {
		return nil, status.Error(codes.ResourceExhausted, "grpc: received message larger than max")
	}
	return (*clientv3.GetResponse)(is), nil
}

// Rows that are large come after many that are small.
func TestPages(t *testing.T) {
	n := &narrow{most: 6 << 20}
	add := func(table string, rows, size int) {
		for i := range rows {
			key := fmt.Sprintf("%s%06d", tableDir(table), i)
			n.rows = append(n.rows, newKV("p/"+key, encodeRow(key, 6, make([]byte, size)), 1))
		}
	}
	add("a", 5000, 1)
	add("b", 40, 1<<20)
	r := replica(Options{})
	r.client = clientv3.NewCtxClient(t.Context())
	r.client.KV = n
	count := func() (rows int, err error) {
		for row, err := range r.rows(t.Context(), r.now()) {
			if err != nil {
				return rows, err
			}
			require.Equal(t, n.rows[rows].Key, []byte("p/"+r.tables[row.Table]+string(row.Key)))
			rows++
		}
		return rows, nil
	}
	rows, err := count()
	require.NoError(t, err)
	require.Equal(t, 5040, rows)
	require.Less(t, len(n.pages), 60)

	n.most = 1 << 19 // one row is more
	_, err = count()
	require.Equal(t, codes.ResourceExhausted, code(err))
}

func TestRowsOfVersionsThatAreNone(t *testing.T) {
	for version, ok := range map[uint64]bool{0: false, 1: true, 6: true, 7: false} {
		key := tableDir("a") + "x"
		r := replica(Options{})
		r.client = clientv3.NewCtxClient(t.Context())
		r.client.KV = &narrow{rows: []*mvccpb.KeyValue{newKV("p/"+key, encodeRow(key, version, nil), 1)}, most: 100}
		for row, err := range r.rows(t.Context(), r.now()) {
			if ok {
				require.NoError(t, err)
				require.Equal(t, version, row.Revision)
			} else {
				require.ErrorIs(t, err, ErrDamaged)
			}
		}
	}
}
