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

// Reindex makes the text index of the space anew, with what Options.AnalyzerOf and
// Options.TextOf say by now: after the language of a user was changed, say. It returns the
// version that has the new index, or 0 if there is no text. Until that version, and in
// those before it, what is searched is the old one, by its own Analyzer. No entry differs
// because of it.
//
// It takes time proportional to the text in the space, and gives up when ctx ends. Nobody waits meanwhile: the index is
// made of a snapshot, then of what was written since, and again, until a few entries
// are left, which it indexes in the writer's place. If the space is written to so fast that
// this does not come to an end, writers do wait. An index that is larger than limits allow
// makes later writes evict.
//
// A replica makes its index anew when that version arrives, before it publishes it, with
// what AnalyzerOf and TextOf say there: let them change there first. So does what a fork is
// merged into by cow.DB.Merge; Memory.Merge is for entries only. Both follow as well where a
// space that was emptied has text again, by what AnalyzerOf says since. A DB that is opened
// has all indexes, those of the past too, made by what AnalyzerOf and TextOf say then.
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
