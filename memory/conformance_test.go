package memory_test

import (
	"errors"
	"testing"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/memorytest"
)

// A Memory is what memorytest wants of any memory, in all that it can test.
func TestConformance(t *testing.T) {
	memorytest.Test(t, func(testing.TB) memorytest.Backend {
		m := memory.New(memory.Options{})
		return backend{reads{func(s []string) memory.SpaceSnapshot { return m.Load().Space(s...) }}, m}
	})
}

// reads are the reads of a memorytest.Backend and of its Snapshot.
type reads struct {
	in func(space []string) memory.SpaceSnapshot
}

func (r reads) Get(space []string, key string) (any, bool, error) {
	v, ok := r.in(space).Get(key)
	return v.Any(), ok, nil
}

func (r reads) List(space []string) (keys []string, err error) {
	for e := range r.in(space).List(memory.ListOptions{}) {
		keys = append(keys, e.Key)
	}
	return keys, nil
}

func (r reads) GetVector(space []string, key string) ([]float32, map[string]any, bool, error) {
	view := r.in(space) // one, or the two could be of different versions
	v, ok := view.Vector(key)
	e, _ := view.Entry(key)
	return v, anyMap(e.Metadata), ok, nil
}

func (r reads) SearchVector(space []string, query []float32, k int) ([]memorytest.Neighbor, error) {
	view := r.in(space)
	found, err := view.Search(memory.Query{Vector: query, K: k})
	hits := make([]memorytest.Neighbor, len(found))
	for i, h := range found {
		v, _ := view.Vector(h.Key)
		hits[i] = memorytest.Neighbor{Key: h.Key, Vector: v, Metadata: anyMap(h.Metadata)}
	}
	return hits, err
}

func anyMap(v memory.Value) map[string]any {
	m, _ := v.Any().(map[string]any)
	return m
}

// backend is a Memory.
type backend struct {
	reads
	m *memory.Memory
}

func (b backend) Snapshot() (memorytest.Snapshot, error) {
	s := b.m.Load()
	return reads{func(space []string) memory.SpaceSnapshot { return s.Space(space...) }}, nil
}

func (b backend) Put(space []string, key string, v any) error {
	return errOf(b.m.Space(space...).Put(key, v))
}

func (b backend) PutVector(space []string, key string, v []float32, metadata map[string]any) error {
	return errOf(b.m.Space(space...).PutVector(key, v, metadata))
}

func (b backend) Delete(space []string, key string) error {
	b.m.Space(space...).Delete(key)
	return nil
}

func (b backend) Insert(space []string, key string, v any) (bool, error) {
	return unless(memory.ErrExists, errOf(b.m.Space(space...).Insert(key, v)))
}

func (b backend) Modify(space []string, key string, f func(any) (any, error)) error {
	return errOf(b.m.Space(space...).Modify(key, func(v memory.Value) (any, error) { return f(v.Any()) }))
}

func (b backend) Take(space []string, key string) (any, bool, error) {
	v, ok, _ := b.m.Space(space...).Take(key)
	return v.Any(), ok, nil
}

func (b backend) Revision(space []string, key string) (uint64, error) {
	e, _ := b.m.Space(space...).Entry(key)
	return e.Revision, nil
}

func (b backend) SetIf(space []string, key string, rev uint64, v any) (bool, error) {
	return unless(memory.ErrRevision, errOf(b.m.Space(space...).SetIf(key, rev, v)))
}

func (b backend) DeleteIf(space []string, key string, rev uint64) (bool, error) {
	return unless(memory.ErrRevision, errOf(b.m.Space(space...).DeleteIf(key, rev)))
}

// unless makes false of one error.
func unless(is, err error) (bool, error) {
	if errors.Is(err, is) {
		return false, nil
	}
	return err == nil, err
}

func (b backend) Batch(f func(tx memorytest.Backend) error) error {
	return b.m.Batch(func(b *memory.Batch) error { return f(batch{b}) })
}

// batch is a Batch of a Memory.
type batch struct{ b *memory.Batch }

func (b batch) Put(space []string, key string, v any) error { return b.b.Space(space...).Put(key, v) }

func (b batch) Get(space []string, key string) (any, bool, error) {
	v, ok := b.b.Space(space...).Get(key)
	return v.Any(), ok, nil
}

func (b batch) Delete(space []string, key string) error {
	b.b.Space(space...).Delete(key)
	return nil
}
