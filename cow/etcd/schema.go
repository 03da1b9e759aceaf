package etcd

import (
	"context"
	"errors"
	"maps"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/cowstore/cowstore/cow/internal/layout"
)

// A recorded is what is recorded of the tables, and what is to be.
type recorded struct {
	was, next layout.Record
	revision  int64 // that wrote it; 0: there is none
}

// errSchemaMoved says that others have changed what is recorded, or the store, meanwhile.
var errSchemaMoved = errors.New("the schema was changed meanwhile")

// recorded returns what is recorded at a position, and an error if that is not for the
// tables of the DB.
func (r *Replica) recorded(ctx context.Context, at position) (is recorded, err error) {
	var got *clientv3.GetResponse
	err = r.ask(ctx, func(ctx context.Context) (err error) {
		got, err = r.client.Get(ctx, r.prefix+schemaKey, clientv3.WithRev(at.revision))
		return err
	})
	switch {
	case err != nil:
		return is, err
	case len(got.Kvs) > 0:
		is.revision = got.Kvs[0].ModRevision
		is.was, err = r.decodeSchema(got.Kvs[0].Value)
	case !at.old():
		err = &Damage{r.prefix + schemaKey, errNoHead}
	}
	if err == nil {
		is.next, err = is.was.Join(r.stored)
	}
	return is, err
}

// unknown returns an error if tables are recorded that the DB does not have.
func (r *Replica) unknown(is layout.Record) error {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if _, ok := r.byDir[tableDir(name)]; !ok {
			names = append(names, name)
		}
	}
	return layout.Unknown(names)
}

// takes returns an error if what is recorded from now on is not for the tables of the DB.
func (r *Replica) takes(b []byte) error {
	is, err := r.decodeSchema(b)
	if err == nil {
		_, err = is.Join(r.stored)
	}
	return err
}

func (r *Replica) decodeSchema(b []byte) (layout.Record, error) {
	b, err := unseal(schemaKey, b)
	if err == nil {
		var is layout.Record
		if is, err = layout.Decode(b); err == nil {
			return is, nil
		}
	}
	return nil, &Damage{r.prefix + schemaKey, err}
}

func (r *Replica) putSchema(is layout.Record) clientv3.Op {
	return clientv3.OpPut(r.prefix+schemaKey, string(seal(schemaKey, is.Encode())))
}

// record records the tables of the DB, which has loaded what there is at a position, and makes
// a store of format 1 one of this format. It returns errSchemaMoved if that is to be tried
// again, after all is loaded anew.
func (r *Replica) record(ctx context.Context, is recorded, at position) error {
	if !at.old() && maps.Equal(is.was, is.next) {
		return nil
	}
	for to := at; ; {
		guard := clientv3.Compare(clientv3.ModRevision(r.prefix+schemaKey), "=", is.revision)
		do := []clientv3.Op{r.putSchema(is.next)}
		if to.old() {
			guard = clientv3.Compare(clientv3.Value(r.prefix+headKey), "=", to.raw)
			do = append(do, clientv3.OpPut(r.prefix+headKey, string(to.encode())))
		}
		var done *clientv3.TxnResponse
		err := r.ask(ctx, func(ctx context.Context) (err error) {
			done, err = r.client.Txn(ctx).If(guard).Then(do...).Commit()
			return err
		})
		switch {
		case err != nil:
			return err
		case done.Succeeded && !to.old():
			return nil
		case done.Succeeded && to.head == at.head:
			to.raw, to.revision = string(to.encode()), done.Header.Revision
			r.moved(to)
			return nil
		case done.Succeeded || !to.old():
			return errSchemaMoved
		}
		// Replicas of format 1 write: they have no other turn once this has one.
		found := false
		if to, found, err = r.latest(ctx); err != nil {
			return err
		}
		if !found || !to.old() {
			return errSchemaMoved
		}
	}
}
