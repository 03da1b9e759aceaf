package etcd

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// A position is a head, and a revision of etcd that has it: all keys of the store are
// then as of that version.
type position struct {
	head
	raw      string // the head as it is in etcd
	revision int64
	cluster  uint64
}

// old reports whether the head is of an earlier format.
func (p position) old() bool {
	v, _ := binary.Uvarint([]byte(p.raw))
	return v < format
}

// maxVersion is far above what a store gets to, and far enough below what a version can be.
const maxVersion = 1 << 54

var errNoHead = errors.New("it is gone")

// decodePosition returns the position that a head in etcd is.
func (r *Replica) decodePosition(raw []byte, revision int64, cluster uint64) (position, error) {
	h, err := decodeHead(raw)
	if err == nil && (h.lineage == "" || h.version > maxVersion) {
		err = fmt.Errorf("it is of version %d of lineage %q", h.version, h.lineage)
	}
	if err != nil {
		return position{}, &Damage{r.prefix + headKey, err}
	}
	return position{h, string(raw), revision, cluster}, nil
}

// latest reads the latest position, by a linearizable read. It returns false if there is
// no store.
func (r *Replica) latest(ctx context.Context) (at position, found bool, err error) {
	var is *clientv3.GetResponse
	err = r.ask(ctx, func(ctx context.Context) (err error) {
		is, err = r.client.Get(ctx, r.prefix+headKey)
		return err
	})
	if err != nil || len(is.Kvs) == 0 {
		return at, false, err
	}
	at, err = r.decodePosition(is.Kvs[0].Value, is.Header.Revision, is.Header.ClusterId)
	return at, true, err
}

// known is what a replica knows of etcd.
type known struct {
	mu        sync.Mutex
	at        position // what is published, and the latest revision known to have it
	latest    uint64   // the latest version known of
	receipt   int64    // the revision of this replica's receipt; 0: it is not known to have one
	connected bool
	since     time.Time               // of connected
	err       error                   // why it is not connected, or the last request failed
	refused   error                   // of the last group, if etcd refused it
	restart   context.CancelCauseFunc // ends the watch; nil: there is none
}

// moved says that at is published.
func (r *Replica) moved(at position) {
	r.known.mu.Lock()
	defer r.known.mu.Unlock()
	r.known.at = at
	r.known.latest = max(r.known.latest, at.version)
}

// now returns what is published.
func (r *Replica) now() position {
	r.known.mu.Lock()
	defer r.known.mu.Unlock()
	return r.known.at
}

// verify says that a linearizable read has found at, which was begun when this replica
// was at was. It returns an error if etcd no longer has what it told.
func (r *Replica) verify(was, at position) error {
	r.known.mu.Lock()
	defer r.known.mu.Unlock()
	switch is := r.known.at; {
	case at.cluster != was.cluster:
		return fmt.Errorf("%w: cluster %x and not %x", ErrRestored, at.cluster, was.cluster)
	case at.revision < was.revision:
		return fmt.Errorf("%w: revision %d after %d", ErrRestored, at.revision, was.revision)
	case at.lineage != was.lineage:
		return fmt.Errorf("%w: lineage %s and not %s", ErrRestored, at.lineage, was.lineage)
	case at.version < was.version || at.version == was.version && at.raw != was.raw && !(was.old() && at.head == was.head):
		return fmt.Errorf("%w: another version %d, after %d", ErrRestored, at.version, was.version)
	case at.raw == is.raw:
		// Nothing has changed up to there, so a new watch need not look for it.
		r.known.at.revision = max(is.revision, at.revision)
	}
	r.known.latest = max(r.known.latest, at.version)
	return nil
}
