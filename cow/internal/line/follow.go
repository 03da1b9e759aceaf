package line

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/cowstore/cowstore/cow/hook"
)

// iteration is what a panic says that was asked for.
const iteration = "an iteration over Changes"

// Next returns a channel that is closed when the next version is published. Waiters share
// it: publish takes it away and closes it. Whoever loads the published version after Next finds a
// version that was published before, and is told of one published later: both are sequentially
// consistent atomics, so that none falls in between.
func (l *Line) Next() <-chan struct{} {
	for {
		if c := l.waiters.Load(); c != nil {
			return *c
		}
		l.Own()
		made := make(chan struct{})
		l.waiters.CompareAndSwap(nil, &made)
	}
}

// Wait blocks until there is a version above after, and returns the current one then. It panics
// in an update, where what would block for ever.
func (l *Line) Wait(ctx context.Context, after uint64, what string) (*Root, error) {
	Given(ctx, what)
	for checked := false; ; {
		c := l.Next()
		r := l.published.Load()
		if r.Version() > after {
			return r, nil
		}
		if r.Version() < after {
			return nil, unpublished(after)
		}
		if !checked {
			l.PanicInUpdate(what)
			checked = true
		}
		if err := l.Block(ctx, c); err != nil {
			return nil, err
		}
	}
}

// Block waits for c, or returns ctx's cause.
func (l *Line) Block(ctx context.Context, c <-chan struct{}) error {
	l.waiting.Add(1)
	defer l.waiting.Add(-1)
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// WakeBy says what is called at each publication, unless that is said already.
func (l *Line) WakeBy(wake Wake) {
	if l.wake.Load() == nil {
		l.wake.CompareAndSwap(nil, &wake)
	}
}

// Changes returns an iterator over the commits above version since, which waits for the next
// when it has caught up.
func (l *Line) Changes(ctx context.Context, since uint64) iter.Seq2[*Commit, error] {
	Given(ctx, iteration)
	return func(yield func(*Commit, error) bool) {
		l.follow()
		f := l.feeds.add(since)
		defer l.feeds.remove(f)
		for since := since; ; since++ {
			f.version.Store(since)
			_, err := l.Wait(ctx, since, iteration)
			if err == nil {
				err = context.Cause(ctx)
			}
			var c *Commit
			if err == nil {
				c, err = l.commit(since + 1)
			}
			if errors.Is(err, ErrCompacted) {
				is := f.is(l.published.Load())
				Tell(l, func(h hook.Compacted) { h.OnCompacted(ctx, is) })
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

func (f *feed) is(current *Root) hook.Feed {
	version := f.version.Load()
	return hook.Feed{Since: f.since, Version: version, Latest: max(version, current.Version())} // it may have gone on
}

func (f *feeds) add(version uint64) *feed {
	is := &feed{since: time.Now()}
	is.version.Store(version)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = make(map[*feed]struct{})
	}
	f.all[is] = struct{}{}
	return is
}

func (f *feeds) remove(is *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.all, is)
}

// list returns the feeds, the oldest first.
func (f *feeds) list(current *Root) (all []hook.Feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for is := range f.all {
		all = append(all, is.is(current))
	}
	slices.SortFunc(all, func(a, b hook.Feed) int { return a.Since.Compare(b.Since) })
	return all
}

// Commits returns an iterator over the commits above version since, up to the version that is
// published when it begins.
func (l *Line) Commits(since uint64) iter.Seq2[*Commit, error] {
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

// Resume is Changes from a cursor.
func (l *Line) Resume(ctx context.Context, cursor string) iter.Seq2[*Commit, error] {
	Given(ctx, iteration)
	since, err := l.ParseCursor(cursor)
	if err != nil {
		return func(yield func(*Commit, error) bool) { yield(nil, err) }
	}
	return l.Changes(ctx, since)
}

// follow sees to it that commits are kept.
func (l *Line) follow() {
	l.mu.Lock()
	on := l.history != nil
	l.mu.Unlock()
	if on {
		return
	}
	l.enter(iteration)
	defer l.writer.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.history == nil {
		l.history = newHistory(l.published.Load(), ring)
	}
}

// commit returns the commit that published version, which is not above the
// current one.
func (l *Line) commit(version uint64) (*Commit, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.history == nil {
		return nil, notKept(version)
	}
	commits, ok := l.history.since(version - 1)
	if !ok || len(commits) == 0 {
		return nil, notKept(version)
	}
	return commits[0], nil
}

func notKept(version uint64) error {
	return fmt.Errorf("cow: the commit of version %d: %w: begin with a snapshot, of Load, and go on from its version, or call Retain before the first commit that is wanted", version, ErrCompacted)
}
