package memory

import (
	"errors"
	"time"

	"github.com/cowstore/cowstore/cow"
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
// those before it, what is searched is the old one, by its own Analyzer.
//
// It takes time proportional to the text in the space. Nobody waits meanwhile: the index is
// made of a snapshot, then of what was written since, and again, until a few entries
// are left, which it indexes in the writer's place. An index that is larger than limits
// allow makes later writes evict.
//
// On replicas, each has its own index, and is told to Reindex by itself.
func (s Space) Reindex() (rev uint64, err error) {
	if s.m.texts.none {
		return 0, nil
	}
	var r reindexed
	for try := 1; ; try++ {
		s.catchUp(&r)
		limit := behindAtMost
		if try >= reindexTries {
			limit = -1
		}
		rev, err = s.putIndex(r, limit)
		if err != errBehind {
			return rev, err
		}
	}
}

// A reindexed is an index of what a space has in a version.
type reindexed struct {
	at      *cow.Snapshot // nil: not begun
	cleared mark          // the latest of the space
	how     *text.Analyzer
	texts   *text.Index
}

// catchUp brings r up to the current version. It begins anew where the space was cleared.
func (s Space) catchUp(r *reindexed) {
	v := s.m.Load()
	if r.at == nil || v.clearings().latest(s.path) != r.cleared {
		*r = reindexed{how: s.m.texts.analyzerFor(s.path), cleared: v.clearings().latest(s.path)}
		for name, row := range s.m.order.In(s.m.entries.In(v.root)).Prefix(nameOf(s.path, "")).All() {
			if row.Revision() > r.cleared.At {
				r.set(s, name, row.Shared().value)
			}
		}
	} else {
		for c := range s.m.entries.In(v.root).Diff(s.m.entries.In(r.at)) {
			r.change(s, c)
		}
	}
	r.at = v.root
}

// change makes the index follow what became of an entry, if it is of the space.
func (r *reindexed) change(s Space, c snapshot.Change[string, *entry]) {
	if path, _ := split(c.Key); path != s.path {
		return
	}
	now := Value{}
	if _, row := c.Rows(); row != (snapshot.Row[string, *entry]{}) && row.Revision() > r.cleared.At {
		now = row.Shared().value
	}
	r.set(s, c.Key, now)
}

func (r *reindexed) set(s Space, name string, v Value) {
	_, key := split(name)
	if !v.Exists() {
		r.texts = r.texts.Delete(key)
		return
	}
	r.texts = r.texts.Set(key, s.m.texts.wordsOf(r.how, s.path, v))
}

// putIndex publishes the index, or returns errBehind if more entries than limit have been
// written since; -1: any number.
func (s Space) putIndex(r reindexed, limit int) (rev uint64, err error) {
	err = s.m.db.Update(func(tx *cow.Tx) error {
		rev = 0
		r := r // the update may be tried again
		base := tx.Base()
		if (clearings{s.m.cleared.In(base)}).latest(s.path) != r.cleared {
			return errBehind
		}
		var behind []snapshot.Change[string, *entry]
		for c := range s.m.entries.In(base).Diff(s.m.entries.In(r.at)) {
			if path, _ := split(c.Key); path == s.path {
				behind = append(behind, c)
			}
			if limit >= 0 && len(behind) > limit {
				return errBehind
			}
		}
		for _, c := range behind {
			r.change(s, c)
		}
		b := s.m.begin(tx)
		if r.texts == nil && b.settler.space(s.path).texts == nil {
			s.m.settlers.Delete(tx)
			return nil
		}
		b.settler.putIndex(s.path, r.texts)
		b.setHead(&head{Began: b.now, At: max(b.now, time.Now().UnixNano())}) // the index alone is no version
		rev = tx.Version()
		return nil
	})
	if err != nil {
		return 0, err
	}
	return rev, nil
}

// putIndex puts an index of the same texts in place of that of a space. Nothing else is to
// be done in the update.
func (s *settler) putIndex(path string, texts *text.Index) {
	s.touch(path).texts = texts
	s.touched[path].changed = true
	s.sum()
}
