package memory

import (
	"strings"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory/text"
	"github.com/cowstore/cowstore/memory/vector"
	"github.com/cowstore/cowstore/snapshot"
)

// A space is what follows from the entries of a space. It is immutable, once it is
// stored.
type space struct {
	count    int // entries
	expiring int // of them, those that expire
	bytes    int64
	vectors  *vector.Index
	texts    *text.Index
	hand     string // the name of the last entry evicted: where to look for the next
}

// A settler keeps the spaces of a Batch in step with its entries. The entries are
// the one truth: whatever an update did to them, a verb, a merge, an eviction, is
// found by comparing versions, and counts, vectors and text follow.
type settler struct {
	b       *Batch
	settled *snapshot.Map[string, *entry] // up to here
	base    *snapshot.Map[string, *entry] // what the update began with
	spaces  *cow.Editor[string, *space]
	touched map[string]*space // not stored yet, and not shared
	options *cow.Editor[string, *SpaceOptions]
	swept   int
	head    head
	from    []Snapshot // what is merged: where vectors are that nobody put
}

func (s *settler) begin(b *Batch) {
	s.b = b
	s.base = b.entries.Map()
	s.settled = s.base
	s.spaces = b.m.spaces.Edit(b.tx)
	s.options = b.m.limits.Edit(b.tx)
	if h, ok := b.m.heads.Edit(b.tx).Get(headKey); ok {
		s.head = head{bytes: h.bytes, hand: h.hand}
		b.now = max(b.now, h.at) // a clock may go back, time may not
	}
}

// space returns a space as it is settled, which must not be modified.
func (s *settler) space(path string) *space {
	if sp := s.touched[path]; sp != nil {
		return sp
	}
	if sp, ok := s.spaces.Get(path); ok {
		return sp
	}
	return new(space)
}

// touch returns a space to be modified.
func (s *settler) touch(path string) *space {
	if sp := s.touched[path]; sp != nil {
		return sp
	}
	sp := *s.space(path)
	if s.touched == nil {
		s.touched = make(map[string]*space)
	}
	s.touched[path] = &sp
	return &sp
}

// optionsOf returns what a space is configured to.
func (s *settler) optionsOf(path string) SpaceOptions {
	if o, ok := s.options.Get(path); ok {
		return *o
	}
	return SpaceOptions{}
}

// configure sets what a space is configured to.
func (s *settler) configure(path string, o SpaceOptions) {
	switch o {
	case s.optionsOf(path):
	case SpaceOptions{}:
		s.options.Delete(path)
	default:
		s.options.Set(path, &o)
		if s.space(path).count > 0 {
			s.touch(path) // to look whether it keeps its limits
		}
	}
}

// settle makes the spaces follow what was done to the entries since the last
// time.
func (s *settler) settle() error {
	now := s.b.entries.Map()
	if now == s.settled {
		return nil
	}
	// What goes first, so that the last vector of a space makes room for one of
	// another dimension.
	var come []snapshot.Change[string, *entry]
	for c := range now.Diff(s.settled) {
		old, _ := c.Old()
		if old == nil {
			come = append(come, c)
			continue
		}
		path, key := split(c.Key)
		sp := s.touch(path)
		s.count(sp, old, -1)
		next, ok := c.New()
		if ok {
			come = append(come, c)
		}
		if old.vector != nil && (!ok || next.vector != old.vector) {
			sp.vectors = sp.vectors.Delete(key)
		}
		if old.value.Exists() && (!ok || !next.value.Exists()) {
			sp.texts = sp.texts.Delete(key)
		}
	}
	for _, c := range come {
		path, key := split(c.Key)
		key = strings.Clone(key) // not to keep the entry alive
		sp := s.touch(path)
		old, _ := c.Old()
		if old == nil {
			old = new(entry)
		}
		next, _ := c.New()
		s.count(sp, next, 1)
		if next.vector != nil && next.vector != old.vector {
			vectors, err := sp.vectors.Set(key, s.vector(path, key, c.Key, next))
			if err != nil {
				return keyError(path, key, err)
			}
			sp.vectors = vectors
		}
		if next.value != old.value && next.value.Exists() && !s.b.m.options.NoText {
			sp.texts = sp.texts.Set(key, s.words(next.value))
		}
	}
	s.settled = now
	s.b.vectors, s.b.words, s.b.dims = nil, nil, nil
	return nil
}

// count counts an entry of a space in or out.
func (s *settler) count(sp *space, e *entry, n int) {
	sp.count += n
	sp.bytes += int64(n) * e.size
	s.head.bytes += int64(n) * e.size
	if e.expires != 0 {
		sp.expiring += n
		s.b.m.expires.Store(true) // before the version is published
	}
}

// vector returns the vector of an entry that has come.
func (s *settler) vector(path, key, name string, e *entry) []float32 {
	if v, ok := s.b.vectors[name]; ok {
		return v
	}
	for _, from := range s.from {
		from.instant = 0 // what has expired meanwhile too
		if other := (SpaceSnapshot{from, path}).lookup(key); other != nil && other.vector == e.vector {
			v, _ := from.space(path).vectors.Get(key)
			return v
		}
	}
	return nil
}

// words returns the words of a value.
func (s *settler) words(v Value) text.Words {
	if w, ok := s.b.words[v]; ok {
		return w
	}
	return s.b.m.words(v)
}

// end does what ends every update: it removes what has expired and what is too
// much, and stores the spaces.
func (s *settler) end() error {
	s.swept = s.sweep("", sweepAtOnce)
	if err := s.settle(); err != nil {
		return err
	}
	if err := s.evict(); err != nil {
		return err
	}
	changed := s.changed()
	if len(changed) == 0 {
		return nil
	}
	for path := range changed {
		if sp := s.touched[path]; sp.count == 0 {
			s.spaces.Delete(path)
		} else {
			s.spaces.Set(path, sp)
		}
	}
	h := s.head // apart: what is in the settler keeps the version before alive
	h.began = s.b.now
	h.at = max(s.b.now, time.Now().UnixNano())
	s.b.m.heads.Edit(s.b.tx).Set(headKey, &h)
	return nil
}

// changed returns the paths of the spaces in which something is left of what was
// done.
func (s *settler) changed() map[string]bool {
	if s.settled == s.base {
		return nil
	}
	paths := make(map[string]bool)
	for c := range s.settled.Diff(s.base) {
		path, _ := split(c.Key)
		paths[path] = true
	}
	return paths
}
