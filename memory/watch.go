package memory

import (
	"context"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/internal/bare"
)

// Watch blocks until the entries of those keys differ from those in since, or, if
// there are no keys, any entry of the space, and returns the snapshot that is
// current then, or ctx's cause. An entry differs once it was written, removed,
// swept or evicted; that it expires is noticed when it is swept. All differ when the
// space is cleared.
func (s Space) Watch(ctx context.Context, since Snapshot, keys ...string) (Snapshot, error) {
	s.m.made()
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = nameOf(s.path, k)
	}
	for {
		// A DB watches from a snapshot of its own, and since may be of a fork: so
		// it watches from one in which nothing differs yet.
		root := s.m.db.Load()
		if s.m.gone(root, since.root, s.path) {
			break
		}
		var err error
		if len(keys) == 0 {
			if differ(s.m.spaces, root, since.root, s.path) && !s.m.reindexedOnly(s.path, root, since.root) {
				break
			}
			_, err = s.m.db.Watch(ctx, root, s.m.tables.cleared.OnAll(), s.m.spaces.OnKeys(s.path))
		} else {
			if differ(s.m.entries, root, since.root, names...) {
				break
			}
			_, err = s.m.db.Watch(ctx, root, s.m.tables.cleared.OnAll(), s.m.entries.OnKeys(names...))
		}
		if err != nil {
			return Snapshot{}, bare.Named(err)
		}
	}
	return s.m.Load(), nil
}

// differ reports whether any row of those keys is not the same in both snapshots.
func differ[V any](t *cow.Table[string, V], newer, older *cow.Snapshot, keys ...string) bool {
	for _, k := range keys {
		is, _ := t.In(newer).Row(k)
		was, _ := t.In(older).Row(k)
		if is != was {
			return true
		}
	}
	return false
}
