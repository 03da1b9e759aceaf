package etcd

import (
	"math"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/protobuf/proto"
)

func newKV(key string, value []byte, revision int64) *mvccpb.KeyValue {
	return &mvccpb.KeyValue{Key: []byte(key), Value: value, ModRevision: revision}
}

// encodedSize returns how many bytes the request of a group has.
func encodedSize(g *group, r *Replica) int {
	guard := clientv3.Compare(clientv3.Value(r.prefix+headKey), "=", g.guard.raw)
	receipt := clientv3.Compare(clientv3.ModRevision(r.receiptKey()), "=", math.MaxInt64)
	get := func(key string) *pb.RequestOp {
		return &pb.RequestOp{Request: &pb.RequestOp_RequestRange{RequestRange: &pb.RangeRequest{Key: []byte(key), KeysOnly: true}}}
	}
	is := &pb.TxnRequest{
		Compare: []*pb.Compare{guard.GetCompare(), receipt.GetCompare()},
		Failure: []*pb.RequestOp{get(r.prefix + headKey), get(r.receiptKey())},
	}
	for _, op := range g.put {
		var of *pb.RequestOp
		if op.IsDelete() {
			of = &pb.RequestOp{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: &pb.DeleteRangeRequest{Key: op.KeyBytes()}}}
		} else {
			of = &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: op.KeyBytes(), Value: op.ValueBytes()}}}
		}
		is.Success = append(is.Success, of)
	}
	return proto.Size(is)
}
