package cow

import (
	"context"
	"iter"
	"time"

	"github.com/cowstore/cowstore/cow/internal/line"
)

// A One is a table of a DB of its own in the way in which tests like to use it: what the DB
// has as snapshots, it has as maps of the table.
type One[K comparable, V any] struct{ *Table[K, V] }

// NewOne is New for a One.
func NewOne[K comparable, V any](o Options[V]) One[K, V] { return One[K, V]{New[K](o)} }

// Snapshot returns a snapshot that has the map m, of the One or a fork.
func (o One[K, V]) Snapshot(m *Map[K, V]) *Snapshot {
	if m == nil {
		return nil
	}
	made := line.Make(nil, o.db.owner(), m.Version())
	made.Set(0, m)
	return (*Snapshot)(made.Root)
}

func (o One[K, V]) mapOf(s *Snapshot, err error) (*Map[K, V], error) {
	if err != nil {
		return nil, err
	}
	return o.In(s), nil
}

func (o One[K, V]) At(version uint64) (*Map[K, V], error)          { return o.mapOf(o.db.At(version)) }
func (o One[K, V]) AsOf(t time.Time) (*Map[K, V], error)           { return o.mapOf(o.db.AsOf(t)) }
func (o One[K, V]) Fork(m *Map[K, V]) One[K, V]                    { return One[K, V]{o.Of(o.db.Fork(o.Snapshot(m)))} }
func (o One[K, V]) Retain(r Retention)                             { o.db.Retain(r) }
func (o One[K, V]) Compact(version uint64) error                   { return o.db.Compact(version) }
func (o One[K, V]) Versions() iter.Seq2[uint64, time.Time]         { return o.db.Versions() }
func (o One[K, V]) Stats() Stats                                   { return o.db.Stats() }
func (o One[K, V]) Lineage() Lineage                               { return o.db.Lineage() }
func (o One[K, V]) Cursor(version uint64) string                   { return o.db.Cursor(version) }
func (o One[K, V]) ParseCursor(cursor string) (uint64, error)      { return o.db.ParseCursor(cursor) }
func (o One[K, V]) Pin(name string, version uint64) error          { return o.db.Pin(name, version) }
func (o One[K, V]) Unpin(name string) bool                         { return o.db.Unpin(name) }
func (o One[K, V]) Commits(since uint64) iter.Seq2[*Commit, error] { return o.db.Commits(since) }

func (o One[K, V]) Changes(ctx context.Context, since uint64) iter.Seq2[*Commit, error] {
	return o.db.Changes(ctx, since)
}

func (o One[K, V]) Resume(ctx context.Context, cursor string) iter.Seq2[*Commit, error] {
	return o.db.Resume(ctx, cursor)
}

func (o One[K, V]) Wait(ctx context.Context, after uint64) (*Map[K, V], error) {
	return o.mapOf(o.db.Wait(ctx, after))
}

func (o One[K, V]) Watch(ctx context.Context, since *Map[K, V], of ...Watched) (*Map[K, V], error) {
	if len(of) == 0 {
		of = []Watched{o.OnAll()}
	}
	return o.mapOf(o.db.Watch(ctx, o.Snapshot(since), of...))
}

func (o One[K, V]) Merge(base, theirs *Map[K, V], resolve func(c Conflict[K, V]) (v V, keep bool, err error)) (*Map[K, V], error) {
	return o.mapOf(o.db.Merge(o.Snapshot(base), o.Snapshot(theirs), o.Resolve(resolve)))
}

func (o One[K, V]) Pins() iter.Seq2[string, *Map[K, V]] {
	return func(yield func(string, *Map[K, V]) bool) {
		for name, s := range o.db.Pins() {
			if !yield(name, o.In(s)) {
				return
			}
		}
	}
}
