package local

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cowstore/cowstore/memory"
)

// How texts get their vectors.
const (
	embedBatch    = 64      // texts in one call
	embedBytes    = 8 << 10 // of one text
	embedFor      = 60 * time.Second
	embedPause    = time.Second // after a failure, and twice that after the next
	embedMaxPause = 5 * time.Minute
)

// An embedder puts vectors to what was written without one. It runs beside the writers, and
// a vector only comes to an entry that is still the one that it was made for. What has none
// when the Store ends is found when it is opened.
type embedder struct {
	s     *Store
	pause time.Duration // the first
	most  int           // texts in the next call
	wake  chan struct{}

	mu      sync.Mutex
	pending map[string]place // by spaceKey and key
	refused map[string]place // alone; they are tried again when nothing is pending
}

// A place is where an entry is.
type place struct {
	space []string
	key   string
}

func newEmbedder(s *Store) *embedder {
	return &embedder{s: s, pause: embedPause, most: embedBatch, wake: make(chan struct{}, 1), pending: make(map[string]place), refused: make(map[string]place)}
}

// see takes note of an entry that needs a vector. A nil embedder does nothing.
func (e *embedder) see(space []string, entry memory.Entry) {
	if e == nil || !entry.Value.Exists() || entry.Dim > 0 || textFor(space, entry.Value) == "" {
		return
	}
	e.mu.Lock()
	e.pending[spaceKey(space)+"\x00\x00"+entry.Key] = place{space, entry.Key}
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// run ends with the Store.
func (e *embedder) run() {
	pause := e.pause
	for e.s.ctx.Err() == nil {
		places := e.take()
		if len(places) == 0 {
			select {
			case <-e.wake:
			case <-e.s.ctx.Done():
			}
			continue
		}
		err := e.embed(places)
		if err == nil {
			pause, e.most = e.pause, min(2*e.most, embedBatch)
			continue
		}
		if e.s.ctx.Err() != nil {
			return
		}
		// It may be that one of them is refused, for its length: it must not keep the others.
		alone := len(places) == 1
		e.most = max(1, min(e.most, len(places))/2)
		e.s.o.Log.Warn("texts have no vectors yet", "error", err, "texts", len(places), "again in", pause)
		e.back(places)
		select {
		case <-time.After(pause):
		case <-e.s.ctx.Done():
		}
		if alone {
			pause = min(2*pause, embedMaxPause)
		}
	}
}

// take returns some of what is pending, which is not pending any more.
func (e *embedder) take() (places []place) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.pending) == 0 {
		e.pending, e.refused = e.refused, e.pending
	}
	for id, p := range e.pending {
		if len(places) == e.most {
			break
		}
		places = append(places, p)
		delete(e.pending, id)
	}
	return places
}

func (e *embedder) back(places []place) {
	e.mu.Lock()
	defer e.mu.Unlock()
	to := e.pending
	if len(places) == 1 {
		to = e.refused
	}
	for _, p := range places {
		to[spaceKey(p.space)+"\x00\x00"+p.key] = p
	}
}

// embed asks for the vectors of some entries and stores them. It returns an error if it is
// to be tried again.
func (e *embedder) embed(places []place) error {
	var texts []string
	var of []place
	var revisions []uint64
	s := e.s.m.Load()
	for _, p := range places {
		entry, ok := s.Space(p.space...).Entry(p.key)
		if ok && entry.Dim == 0 {
			texts = append(texts, clipTo(textFor(p.space, entry.Value), embedBytes))
			of = append(of, p)
			revisions = append(revisions, entry.Revision)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(e.s.ctx, embedFor)
	defer cancel()
	vectors, err := e.s.o.Embed(ctx, texts)
	if err != nil {
		return err
	}
	if len(vectors) != len(texts) {
		return fmt.Errorf("%d vectors for %d texts", len(vectors), len(texts))
	}
	return e.s.m.Batch(func(b *memory.Batch) error {
		var refused error
		n := 0
		for i, p := range of {
			in := b.Space(p.space...)
			if entry, ok := in.Entry(p.key); !ok || entry.Revision != revisions[i] || entry.Dim > 0 {
				continue // what it is now is pending, or has a vector
			}
			if err := in.PutVector(p.key, vectors[i], nil); err != nil {
				refused = errors.Join(refused, err)
				n++
			}
		}
		if refused != nil { // it would be so again
			first := refused.(interface{ Unwrap() []error }).Unwrap()[0]
			e.s.o.Log.Error("vectors cannot be used: the texts stay without", "texts", n, "error", first)
		}
		return nil
	})
}
