package etcd

import (
	"context"
	"fmt"
	"iter"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// reload makes the DB what etcd has now, where a watch cannot go on.
func (r *Replica) reload() error {
	for {
		was := r.now()
		at, found, err := r.latest(r.ctx)
		if err == nil && !found {
			err = &Damage{r.prefix + headKey, errNoHead}
		}
		if err == nil {
			err = r.verify(was, at)
		}
		if err != nil || at.raw == was.raw {
			return err
		}
		// Before anything is told to the DB, since an error in that is a failure.
		_, err = r.recorded(r.ctx, at)
		var rows iter.Seq2[sink.Row, error]
		if err == nil {
			rows, err = r.collect(at)
		}
		if err == nil {
			err = r.settleByReceipt(at)
		}
		switch {
		case code(err) == codes.OutOfRange: // compacted meanwhile
			continue
		case err != nil:
			return err
		}
		c := sink.Contents{Lineage: at.lineage, Version: at.version, Time: time.Unix(0, at.at), Rows: rows}
		if err := r.line.Reset(c, nil); err != nil {
			return fmt.Errorf("%w: %w", errLine, err)
		}
		r.settle(at)
		return nil
	}
}

// collect reads all rows at a position.
func (r *Replica) collect(at position) (iter.Seq2[sink.Row, error], error) {
	var all []sink.Row
	for row, err := range r.rows(r.ctx, at) {
		if err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return func(yield func(sink.Row, error) bool) {
		for _, row := range all {
			if !yield(row, nil) {
				return
			}
		}
	}, nil
}

// settleByReceipt acknowledges the group on its way if it happened before a position, at
// a revision that can no longer be watched.
func (r *Replica) settleByReceipt(at position) error {
	var is *clientv3.GetResponse
	err := r.ask(r.ctx, func(ctx context.Context) (err error) {
		is, err = r.client.Get(ctx, r.receiptKey(), clientv3.WithRev(at.revision))
		return err
	})
	if err != nil {
		return err
	}
	g := r.onItsWay()
	if g == nil {
		return nil
	}
	if len(is.Kvs) == 0 { // nor does it happen later: the head has moved
		if isOld(g.last().Time.UnixNano(), at) {
			return fmt.Errorf("%w: its receipt may have been removed", cow.ErrUnknownOutcome)
		}
		return nil
	}
	last, err := decodeReceipt(r.name, is.Kvs[0].Value)
	if err != nil {
		return &Damage{string(is.Kvs[0].Key), err}
	}
	r.ack(r.name, last.group)
	return nil
}
