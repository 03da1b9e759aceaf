package cow

import (
	"context"
	"iter"
	"time"
)

// Changes returns an iterator over the commits above version since, in order
// and without gaps. When it has caught up it waits for the next. It ends with
// an error and no Commit: ctx's cause when ctx ends, or ErrCompacted when the
// next commit is no longer retained, because the consumer was too slow or began
// too far in the past. To resume, begin with the version of the last Commit.
//
// Without Retain, the last 256 commits are kept, fewer if they are large, from
// the moment the first iteration over Changes begins; they count as history, as
// if Retain had said so, until it says otherwise. Retain of nothing ends all
// iterations, at the next commit, with ErrCompacted. A consumer holds nothing
// back but the Commit that it is at, and never makes a writer wait. Changes
// starts no goroutine.
func (l *line[P]) Changes(ctx context.Context, since uint64) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		l.follow()
		for since := since; ; since++ {
			_, err := l.wait(ctx, func(s P) bool { return s.Version() > since })
			if err == nil {
				err = context.Cause(ctx)
			}
			var c Commit
			if err == nil {
				c, err = l.commit(since + 1)
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// follow sees to it that there is a log.
func (l *line[P]) follow() {
	if l.log.Load() != nil {
		return
	}
	l.lock()
	defer l.writer.Unlock()
	if l.log.Load() == nil {
		g := newLog(l.current.Load())
		g.limit = ring
		l.log.Store(g)
	}
}

// commit returns the commit that published version, which is not above the
// current one.
func (l *line[P]) commit(version uint64) (Commit, error) {
	g := l.log.Load()
	if g == nil {
		return Commit{}, compacted(version)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.trim(time.Now().UnixNano())
	records, ok := g.since(version - 1)
	if !ok || len(records) == 0 {
		return Commit{}, compacted(version)
	}
	r := records[0].meta()
	return Commit{Version: r.version, Time: time.Unix(0, r.at), delta: records[0]}, nil
}
