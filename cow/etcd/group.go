package etcd

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/cowstore/cowstore/cow/internal/sink"
)

// A group is commits that travel in one transaction.
type group struct {
	number  uint64
	guard   position // the transaction happens if this is the head
	commits []*sink.Commit
	put     []clientv3.Op

	ctx  context.Context // ends when its fate is known
	done context.CancelFunc
}

func (g *group) last() *sink.Commit { return g.commits[len(g.commits)-1] }

// A transaction has so many operations besides those of commits.
const groupOps = 2

// groupSize returns at most how many bytes a transaction takes without its commits.
func (r *Replica) groupSize() int { return 6*len(r.prefix) + 640 }

// size returns at most how many bytes a commit takes in a transaction.
func (r *Replica) size(c *sink.Commit) int {
	const perCommit, perRow = 40, 48 // numbers, checksums and the framing of protobuf
	n := perCommit
	for _, row := range c.Rows {
		key := len(r.tables[row.Table]) + len(row.Key)
		if n += perRow + len(r.prefix) + key + len(row.Value); row.Removed || row.Erased {
			n += key // in the receipt
		}
	}
	return n
}

// group makes a group of as many proposals as fit into one transaction. It ends before a
// row that it has: etcd takes a key only once. The caller holds the queue's mu.
func (r *Replica) group(at position, number uint64) *group {
	g := &group{number: number, guard: at}
	g.ctx, g.done = context.WithCancel(r.ctx)
	of := receipt{group: number, version: at.version + 1}
	has := make(map[string]bool)
	ops, size := groupOps, r.groupSize()
	for _, p := range r.queue.waiting {
		ops, size = ops+len(p.Rows), size+p.bytes
		if ops > r.o.MaxOps || size > r.o.MaxBytes || r.hasAny(has, p.Rows) {
			break
		}
		g.commits = append(g.commits, p.Commit)
		c := receiptCommit{at: p.Time.UnixNano()}
		for _, row := range p.Rows {
			key := r.tables[row.Table] + string(row.Key)
			has[key] = true
			if row.Erased {
				c.erased = append(c.erased, key[len(rowsDir):])
			}
			if row.Removed {
				if !row.Erased {
					c.removed = append(c.removed, key[len(rowsDir):])
				}
				g.put = append(g.put, clientv3.OpDelete(r.prefix+key))
			} else {
				c.set++
				g.put = append(g.put, clientv3.OpPut(r.prefix+key, string(encodeRow(key, p.Version, row.Value))))
			}
		}
		of.commits = append(of.commits, c)
	}
	to := head{lineage: at.lineage, version: of.last(), at: g.last().Time.UnixNano(), writer: r.name, group: number}
	g.put = append(g.put,
		clientv3.OpPut(r.prefix+headKey, string(to.encode())),
		clientv3.OpPut(r.receiptKey(), string(of.encode(r.name))))
	return g
}

// hasAny reports whether a group has any of the rows.
func (r *Replica) hasAny(has map[string]bool, rows []sink.Row) bool {
	for _, row := range rows {
		if has[r.tables[row.Table]+string(row.Key)] {
			return true
		}
	}
	return false
}
