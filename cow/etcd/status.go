package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cowstore/cowstore/cow"
)

// Fresh returns a snapshot that has everything that was acknowledged, on any replica,
// before it was called: it reads the head in etcd, and waits until the DB has published
// that version. It returns ctx's cause if ctx ends first, and must not be called by an
// update function.
func (r *Replica) Fresh(ctx context.Context) (*cow.Snapshot, error) {
	ctx, stop := r.joined(ctx)
	defer stop()
	begun, was := time.Now(), r.now()
	at, found, err := r.latest(ctx)
	if err == nil && !found {
		err = &Damage{r.prefix + headKey, errNoHead}
	}
	if err == nil {
		err = r.verify(was, at)
	}
	if err != nil {
		if isFinal(err) {
			r.fail(err)
		}
		return nil, r.wrap(err)
	}
	s := r.db.Load()
	for s.Version() < at.version {
		if s, err = r.db.Wait(ctx, s.Version()); err != nil {
			return nil, r.wrap(err)
		}
	}
	r.told(begun)
	return s, nil
}

// wrap names the store in an error, or returns why the replica has ended if that is it.
func (r *Replica) wrap(err error) error {
	if cause := context.Cause(r.ctx); cause != nil && errors.Is(err, cause) {
		return cause
	}
	return fmt.Errorf("etcd: %s: %w", r.prefix, err)
}

// Load returns the published snapshot, if it has everything that was acknowledged, on any replica,
// more than limit ago. Otherwise it returns an error that wraps [ErrStale]. It makes no request: the
// replica learns how new its version is once each Options.Check, and limit must be longer than
// that. The Load of the DB has no limit.
func (r *Replica) Load(limit time.Duration) (*cow.Snapshot, error) {
	// Before the snapshot, which then is at least as new.
	if age := age(*r.fresh.Load(), time.Now()); age > limit {
		return nil, fmt.Errorf("etcd: %s: %w: %v, for %v: %w", r.prefix, ErrStale, limit, age, r.Status().reason())
	}
	return r.db.Load(), nil
}

// age returns how long ago a time was, by the clock that says more: one that cannot be set
// may stand still while the machine is suspended.
func age(was, now time.Time) time.Duration { return max(now.Sub(was), now.Round(0).Sub(was)) }

// told says that everything acknowledged before a time is published.
func (r *Replica) told(before time.Time) {
	r.known.mu.Lock()
	if r.known.connected {
		r.known.err = r.known.refused
	}
	r.known.mu.Unlock()
	for {
		was := r.fresh.Load()
		if was != nil && !before.After(*was) || r.fresh.CompareAndSwap(was, &before) {
			return
		}
	}
}

// check asks etcd from time to time whether this replica has everything, until it ends.
func (r *Replica) check() {
	for failures := 0; sleep(r.ctx, jitter(r.o.Check)); failures++ {
		was := r.now().version
		ctx, cancel := context.WithTimeout(r.ctx, r.patience(failures))
		_, err := r.Fresh(ctx)
		cancel()
		if err == nil || r.now().version != was {
			failures = -1
			continue
		}
		// Nothing has come, so the watch may be one that nobody serves any more. If another
		// does not bring what is there either, what is there is loaded.
		r.known.mu.Lock()
		if end := r.known.restart; end != nil && failures >= 2 && r.known.latest > was {
			end(errGap)
		} else if end != nil {
			end(errSlow)
		}
		r.known.mu.Unlock()
	}
}

// Status is what a replica knows of itself.
type Status struct {
	Connected bool      // the replica follows etcd; not while it loads what it has missed
	Since     time.Time // when that last changed
	Version   uint64    // the published version
	Latest    uint64    // the latest version that the replica knows of
	Revision  int64     // the revision of etcd up to which the replica has everything
	Fresh     time.Time // everything that was acknowledged before is published

	// Err is why the replica is not connected, or why etcd did not take the last request.
	// If the replica has failed or is closed, it is why.
	Err error
}

// Status returns what the replica knows of its own state. It makes no request.
func (r *Replica) Status() Status {
	r.known.mu.Lock()
	defer r.known.mu.Unlock()
	k := &r.known
	s := Status{k.connected, k.since, k.at.version, k.latest, k.at.revision, *r.fresh.Load(), k.err}
	if cause := context.Cause(r.ctx); cause != nil {
		s.Connected, s.Err = false, cause
	}
	return s
}

var errUnknown = errors.New("etcd has not said so")

// reason says why a version may be old.
func (s Status) reason() error {
	if s.Err != nil {
		return s.Err
	}
	return errUnknown
}

// What is logged is logged without a lock: a handler may call Status.

func (r *Replica) connected() {
	r.known.mu.Lock()
	k := &r.known
	k.connected, k.since, k.err = true, time.Now(), k.refused
	version := k.at.version
	k.mu.Unlock()
	r.o.Log.Info("connected to etcd", "prefix", r.prefix, "version", version)
}

func (r *Replica) disconnected(err error) {
	r.known.mu.Lock()
	was := r.known.connected
	if was {
		r.known.since = time.Now()
	}
	r.known.connected, r.known.err = false, err
	r.known.mu.Unlock()
	if was {
		r.o.Log.Warn("disconnected from etcd", "prefix", r.prefix, "err", err)
	}
}

// restartBy says what ends the watch.
func (r *Replica) restartBy(end context.CancelCauseFunc) {
	r.known.mu.Lock()
	defer r.known.mu.Unlock()
	r.known.restart = end
}
