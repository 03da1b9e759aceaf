package memory

import (
	"context"
	"errors"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/internal/data"
	"github.com/cowstore/cowstore/memory/internal/derive"
	"github.com/cowstore/cowstore/memory/internal/keep"
	"github.com/cowstore/cowstore/memory/internal/tuple"
	"github.com/cowstore/cowstore/memory/text"
	"github.com/cowstore/cowstore/snapshot"
)

// behindAtMost is how many entries Reindex still indexes while others wait to write. After
// reindexTries it is any number, so that it ends however much is written. Tests change both.
var (
	behindAtMost = 64
	reindexTries = 8
)

// errBehind says that more than that was written since Reindex looked.
var errBehind = errors.New("memory: the index is behind")

// Reindex makes the text index of the space anew, with what AnalyzerOf and TextOf of [Options]
// return now: after the language of a user was changed, say. It returns the version that has
// the new index, or 0 if there is no text. Searches of earlier versions use the old index and
// its Analyzer. Entries do not change.
//
// It takes time proportional to the text in the space, and gives up when ctx ends. Nobody waits
// meanwhile: Reindex indexes a snapshot, then what was written since, and again, until a few
// entries are left, which it indexes in the writer's place. If the space is written to so fast
// that this does not end, writers do wait. If the index is larger than limits allow, later
// writes evict.
//
// A replica makes its index anew when that version arrives, before it publishes it, with what
// AnalyzerOf and TextOf return there: change them there first. The DB that a fork is merged
// into by [cow.DB.Merge] does the same; [Memory.Merge] is for entries only. Both also follow
// where a space that was emptied gets text again. A DB that is opened makes all indexes, those
// of the past too, with what AnalyzerOf and TextOf return then.
func (s Space) Reindex(ctx context.Context) (rev uint64, err error) {
	s.m.made()
	given(ctx, "a Reindex")
	if tablesOf(s.m).Texts.None {
		return 0, nil
	}
	var r freshIndex
	for try := 1; ; try++ {
		if err := context.Cause(ctx); err != nil {
			return 0, err
		}
		if r, err = r.follow(s, s.m.Load(), noLimit); err != nil {
			return 0, err
		}
		limit := behindAtMost
		if try >= reindexTries {
			limit = noLimit
		}
		if rev, err = r.put(ctx, s, limit); err != errBehind {
			return rev, err
		}
	}
}

// noLimit is no limit on what follow indexes.
const noLimit = -1

// A freshIndex is an index of what a space has in a version.
type freshIndex struct {
	at    *cow.Snapshot // nil: not begun
	since uint64        // of the space, when it was begun
	how   *text.Analyzer
	texts *text.Index
}

// follow brings r up to a snapshot, or returns errBehind if more entries than limit were
// written since. It begins anew where the index of the space did: what AnalyzerOf says may
// be another thing by now.
func (r freshIndex) follow(s Space, v Snapshot, limit int) (freshIndex, error) {
	t, is := tablesOf(s.m), viewOf(v)
	since := is.Space(s.path).Since
	if r.at == nil || r.since != since {
		if limit != noLimit {
			return r, errBehind
		}
		how := t.Texts.AnalyzerFor(s.path)
		return freshIndex{v.root, since, how, t.Index(s.path, is.InOrder(), is.Clearings(), how)}, nil
	}
	behind, cleared := 0, is.Clearings()
	for c := range t.Entries.In(v.root).Diff(t.Entries.In(r.at)) {
		if path, _ := tuple.Split(c.Key); path != s.path {
			continue
		}
		if behind++; limit != noLimit && behind > limit {
			return r, errBehind
		}
		value := Value{}
		if _, row := c.Rows(); row != (snapshot.Row[string, *data.Entry]{}) && cleared.Alive(s.path, row.Revision()) {
			value = row.Shared().Searched().Value
		}
		r.texts = derive.Indexed(&t.Texts, r.texts, r.how, c.Key, value)
	}
	r.at = v.root
	return r, nil
}

// put publishes the index, brought up to the version before, or returns errBehind.
func (r freshIndex) put(ctx context.Context, s Space, limit int) (rev uint64, err error) {
	err = s.m.db.UpdateContext(ctx, func(tx *cow.Tx) error {
		rev = 0
		r, err := r.follow(s, s.m.view(tx.Base(), 0), limit) // the update may be tried again
		if err != nil {
			return err
		}
		b := keep.Begin(policyOf(s.m), &s.m.w, tx)
		if r.texts == nil && b.Settler.Space(s.path).Texts == nil {
			b.Settler.Forget()
			return nil
		}
		b.Settler.PutIndex(s.path, r.texts)
		b.SetHead(&data.Head{Began: b.Now, At: max(b.Now, time.Now().UnixNano())})
		b.BeginEpoch(s.path)
		rev = tx.Version()
		return nil
	})
	if err != nil {
		return 0, err
	}
	return rev, nil
}
