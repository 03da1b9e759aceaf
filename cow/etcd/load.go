package etcd

import (
	"context"
	"fmt"
	"iter"
	"math"
	"net/url"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"

	"github.com/cowstore/cowstore/cow/internal/layout"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// A page of rows is meant to have pageBytes. It has no more than pageRows, since the rows
// that come next may be much larger than those before; and not much less, since for each
// page etcd counts all rows that are left.
const (
	pageBytes = 4 << 20
	firstPage = 16
	pageRows  = 10_000
)

// rows iterates over the rows at a position. An error of which code is OutOfRange says
// that etcd no longer has that revision.
func (r *Replica) rows(ctx context.Context, at position) iter.Seq2[sink.Row, error] {
	return func(yield func(sink.Row, error) bool) {
		limit, from, end := int64(firstPage), r.prefix, r.prefix+writers
		for more := true; more; {
			var page *clientv3.GetResponse
			err := r.ask(ctx, func(ctx context.Context) (err error) {
				page, err = r.client.Get(ctx, from, clientv3.WithRange(end), clientv3.WithRev(at.revision), clientv3.WithLimit(limit))
				return err
			})
			if code(err) == codes.ResourceExhausted && limit > 1 { // more than the client takes at once
				limit /= 2
				continue
			}
			size := 0
			for i := 0; err == nil && i < len(page.Kvs); i++ {
				kv := page.Kvs[i]
				size += len(kv.Key) + len(kv.Value)
				key := string(kv.Key[len(r.prefix):])
				if key == headKey || key == schemaKey {
					continue
				}
				row, known, rowErr := r.decodeRow(key, kv.Value)
				if rowErr == nil && (row.Revision == 0 || row.Revision > at.version) {
					rowErr = fmt.Errorf("it is of version %d, and the store at %d", row.Revision, at.version)
				}
				if rowErr != nil {
					err = &Damage{string(kv.Key), rowErr}
				} else if !known && r.strict {
					err = r.unknownRow(key)
				} else if known && !yield(row, nil) {
					return
				}
			}
			if err != nil {
				yield(sink.Row{}, err)
				return
			}
			if more = page.More && len(page.Kvs) > 0; more {
				n := len(page.Kvs)
				from = string(page.Kvs[n-1].Key) + "\x00"
				limit = int64(min(max(pageBytes/(1+size/n), 1), 2*n, pageRows))
			}
		}
		if err := r.nothingElse(ctx, at); err != nil {
			yield(sink.Row{}, err)
		}
	}
}

// decodeRow decodes a row, and returns false if the DB does not have its table.
func (r *Replica) decodeRow(key string, b []byte) (row sink.Row, known bool, err error) {
	dir, name, err := splitRow(key)
	if err != nil {
		return row, false, err
	}
	row.Key = []byte(name)
	row.Table, known = r.byDir[dir]
	row.Revision, row.Value, err = decodeRow(key, b)
	return row, known, err
}

// unknownRow returns the error for a row of a table that the DB does not have.
func (r *Replica) unknownRow(key string) error {
	dir, _, _ := splitRow(key)
	name, _ := url.PathUnescape(dir[len(rowsDir) : len(dir)-1])
	return layout.Unknown([]string{name})
}

// nothingElse returns an error if there is a key behind all that belong to a store.
func (r *Replica) nothingElse(ctx context.Context, at position) error {
	var is *clientv3.GetResponse
	err := r.ask(ctx, func(ctx context.Context) (err error) {
		is, err = r.client.Get(ctx, clientv3.GetPrefixRangeEnd(r.prefix+writers), clientv3.WithRange(clientv3.GetPrefixRangeEnd(r.prefix)),
			clientv3.WithRev(at.revision), clientv3.WithLimit(1), clientv3.WithKeysOnly())
		return err
	})
	if err == nil && len(is.Kvs) > 0 {
		err = &Damage{string(is.Kvs[0].Key), errForeign}
	}
	return err
}

// A replica that is closed removes its receipt. For one that was killed others do, when
// keepWriters have gone by and nobody can ask any more what became of its last group.
const (
	keepWriters   = 7 * 24 * time.Hour
	forgetAtOnce  = 16
	forgetTimeout = time.Second
)

// forgetWriters removes some receipts that are old. If that fails the next replica does.
func (r *Replica) forgetWriters(ctx context.Context, at position) {
	ctx, cancel := context.WithTimeout(ctx, forgetTimeout)
	defer cancel()
	is, err := r.client.Get(ctx, r.prefix+writers, clientv3.WithPrefix(), clientv3.WithLimit(forgetAtOnce),
		clientv3.WithSort(clientv3.SortByModRevision, clientv3.SortAscend))
	if err != nil {
		return
	}
	for _, kv := range is.Kvs {
		was, err := decodeReceipt(string(kv.Key[len(r.prefix)+len(writers):]), kv.Value)
		if err != nil || !isOld(was.commits[len(was.commits)-1].at, at) {
			continue
		}
		key := string(kv.Key)
		if _, err := r.client.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), "=", kv.ModRevision)).
			Then(clientv3.OpDelete(key)).Commit(); err != nil {
			return
		}
	}
}

// isOld reports whether a receipt of a commit at that time may be gone.
func isOld(commit int64, at position) bool {
	return commit < math.MaxInt64-int64(keepWriters) && at.at > commit+int64(keepWriters)
}
