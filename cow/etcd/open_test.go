package etcd

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/internal/layout"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// A shelf is an etcd of one cluster and revision that has a head, whatever is asked for.
type shelf struct {
	clientv3.KV
	head head
}

func (s shelf) Get(_ context.Context, key string, _ ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	is := &pb.RangeResponse{Header: &pb.ResponseHeader{ClusterId: 5, Revision: 10}}
	value := s.head.encode()
	if strings.HasSuffix(key, schemaKey) {
		value = seal(schemaKey, layout.Record(nil).Encode())
	}
	is.Kvs = append(is.Kvs, newKV(key, value, 9))
	return (*clientv3.GetResponse)(is), nil
}

// A hasty is a line of which an update begins before Attach has returned.
type hasty struct {
	sink.DB
	t *testing.T
}

func (l hasty) Attach(s sink.Sink, c sink.Contents, _ iter.Seq2[*sink.Commit, error]) error {
	require.NoError(l.t, s.Room(l.t.Context(), 0))
	return nil
}

// An update that waited for Open may begin before Open has returned, with a read of etcd.
func TestAnUpdateBeginsDuringOpen(t *testing.T) {
	r := ending(t)
	r.o.Linearizable = true
	r.known.at = position{}
	r.db, r.line = new(cow.DB), hasty{t: t}
	r.client = clientv3.NewCtxClient(t.Context())
	r.client.KV = shelf{head: head{lineage: "L"}}
	require.NoError(t, r.open(t.Context()))
	require.NoError(t, r.ctx.Err())
	require.Equal(t, int64(10), r.Status().Revision)
	require.Equal(t, uint64(5), r.now().cluster)
}
