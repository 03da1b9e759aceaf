package etcd

import (
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// NewFakeClient returns a client of an etcd in memory.
func NewFakeClient(t testing.TB) *clientv3.Client {
	_, client := newFake(t)
	return client
}
