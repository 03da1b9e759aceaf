package cow

import (
	"context"
	"iter"
)

// Changes returns an iterator over the commits above version since, in order
// and without gaps. When it has caught up it waits for the next. It ends with
// an error and no Commit: ctx's cause when ctx ends; ErrCompacted when the next
// commit is no longer retained, because the consumer was too slow or began too far
// in the past; or ErrUnpublished when since is a version to come. To resume, begin
// with the version of the last Commit, or with its Cursor: see Resume.
//
// Without Retain, the last 256 commits are kept, fewer if they are large, from
// the moment the first iteration over Changes begins; they count as history, as
// if Retain had said so, until it says otherwise. Retain of nothing ends the
// iterations that there are, at the next commit, with ErrCompacted. A consumer
// holds nothing back but the Commit that it is at, and never makes a writer wait.
// Changes starts no goroutine.
func (l *line[P]) Changes(ctx context.Context, since uint64) iter.Seq2[*Commit, error] {
	return func(yield func(*Commit, error) bool) {
		l.follow()
		for since := since; ; since++ {
			_, err := l.wait(ctx, since)
			if err == nil {
				err = context.Cause(ctx)
			}
			var c *Commit
			if err == nil {
				c, err = l.commit(since + 1)
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// Commits returns an iterator over the commits above version since, in order and without
// gaps, up to the version that is published when the iteration begins, where it ends: what
// has happened so far. It never blocks and needs no context. It ends early with an error
// and no Commit: ErrCompacted when the next commit is not retained, or no longer, or
// ErrUnpublished when since is a version to come. To go on later, begin with the version of
// the last Commit.
//
// What there is to see is what Retain keeps, or, while there are iterations over Changes,
// what is kept for them; Commits itself sees to nothing. An iteration holds nothing back
// but the Commit that it is at. An update function may use it.
func (l *line[P]) Commits(since uint64) iter.Seq2[*Commit, error] {
	return func(yield func(*Commit, error) bool) {
		until := l.published.Load().Version()
		if since > until {
			yield(nil, unpublished(since))
			return
		}
		for version := since; version < until; version++ {
			c, err := l.commit(version + 1)
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// Resume is Changes from a cursor, the text that Commit.Cursor or Cursor gave:
// wherever it was kept meanwhile. It ends with ErrCursor for any other text, and
// with ErrLineage for a cursor of another Store or DB, a fork included.
func (l *line[P]) Resume(ctx context.Context, cursor string) iter.Seq2[*Commit, error] {
	since, err := l.ParseCursor(cursor)
	if err != nil {
		return func(yield func(*Commit, error) bool) { yield(nil, err) }
	}
	return l.Changes(ctx, since)
}

// follow sees to it that commits are kept.
func (l *line[P]) follow() {
	l.mu.Lock()
	on := l.history != nil
	l.mu.Unlock()
	if on {
		return
	}
	l.lock("an iteration over Changes")
	defer l.writer.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.history == nil {
		l.history = newHistory(l.published.Load(), ring)
	}
}

// commit returns the commit that published version, which is not above the
// current one.
func (l *line[P]) commit(version uint64) (*Commit, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.history == nil {
		return nil, compacted(version)
	}
	commits, ok := l.history.since(version - 1)
	if !ok || len(commits) == 0 {
		return nil, compacted(version)
	}
	return commits[0], nil
}
