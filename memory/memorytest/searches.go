package memorytest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// searchChecks hold that a search and a read show vectors and metadata of one
// moment. Version n of the vector of row i is (n, i, 1), in metadata too: never zeros,
// which have no direction.
var searchChecks = []check{
	{"torn read/a vector and its metadata", func(p *probe) {
		v := need[Vectors](p)
		must.NoError(p, putRow(v, 0, 0))
		p.whileWriting(func(n int) error { return putRow(v, 0, n) }, func() error { return rowsAgree(v, false) })
	}},
	{"torn read/search while a row is replaced", func(p *probe) {
		v := need[Vectors](p)
		// The metadata call back when they are copied: in the middle of the
		// search, all rows are replaced.
		var j atomic.Pointer[job]
		var once sync.Once
		var armed atomic.Bool
		number, stop := hook(func(int) {
			if armed.Load() {
				once.Do(func() {
					writer, _ := p.during(func() error {
						return errors.Join(putRow(v, 0, 1), putRow(v, 1, 1), putRow(v, 2, 1))
					})
					j.Store(writer)
				})
			}
		})
		defer stop()
		for i := range 3 {
			err := v.PutVector(space, fmt.Sprint(i), []float32{0, float32(i), 1}, map[string]any{"n": 0, "i": i, "hook": hooked{i, number}})
			p.accepted("a struct with methods in metadata", false, err)
		}
		armed.Store(true)
		hits, err := v.SearchVector(space, []float32{1, 1, 1}, 10)
		must.NoError(p, err)
		must.NoError(p, hitsAgree(hits, false))
		if writer := j.Load(); writer != nil {
			p.succeed(writer)
		}
		must.NoError(p, rowsAgree(v, false))
	}},
	{"torn read/search during Batch", func(p *probe) {
		v, b := need[Vectors](p), need[Batcher](p)
		must.NoError(p, putRow(v, 0, 0))
		must.NoError(p, putRow(v, 1, 0))
		var once sync.Once
		var j *job
		p.batchOfVectors(b, func(in Vectors) error {
			if err := putRow(in, 0, 1); err != nil {
				return err
			}
			once.Do(func() { j, _ = p.during(func() error { return rowsAgree(v, true) }) })
			return putRow(in, 1, 1)
		})
		p.succeed(j)
		must.NoError(p, rowsAgree(v, true))
	}},
	{"torn read/search while a Batch replaces two rows", func(p *probe) {
		v, b := need[Vectors](p), need[Batcher](p)
		rows := func(in Vectors, n int) error { return errors.Join(putRow(in, 0, n), putRow(in, 1, n)) }
		p.batchOfVectors(b, func(in Vectors) error { return rows(in, 0) })
		p.whileWriting(func(n int) error {
			return b.Batch(func(tx Backend) error { return rows(tx.(Vectors), n) })
		}, func() error { return rowsAgree(v, true) })
	}},
	{"snapshot/vectors stay", func(p *probe) {
		s, v := need[Snapshotter](p), need[Vectors](p)
		must.NoError(p, v.PutVector(space, "k", []float32{3, 4}, map[string]any{"n": 0}))
		view, err := s.Snapshot()
		must.NoError(p, err)
		vectors, ok := view.(VectorReader)
		if !ok {
			p.Skipf("the Snapshot has no VectorReader")
			return
		}
		p.holdsVector(vectors, []float32{3, 4}, map[string]any{"n": 0}, "at first")
		must.NoError(p, v.PutVector(space, "k", []float32{4, 3}, map[string]any{"n": 1}))
		must.NoError(p, v.PutVector(space, "newer", []float32{3, 4}, map[string]any{"n": 1}))
		p.holdsVector(vectors, []float32{3, 4}, map[string]any{"n": 0}, "a search of a snapshot shows what is newer")
		hits, err := vectors.SearchVector(space, []float32{3, 4}, 10)
		must.NoError(p, err)
		must.Len(p, hits, 1, "a search of a snapshot shows what is newer")
		_, _, found, err := vectors.GetVector(space, "newer")
		must.NoError(p, err)
		must.False(p, found, "a snapshot shows what is newer")
		spoil(hits)
		p.holdsVector(vectors, []float32{3, 4}, map[string]any{"n": 0}, "a reader modified a snapshot")
	}},
}

// batchOfVectors has f put vectors in a Batch, or skips the test if that has none.
func (p *probe) batchOfVectors(b Batcher, f func(in Vectors) error) {
	p.Helper()
	err := b.Batch(func(tx Backend) error {
		in, ok := tx.(Vectors)
		if !ok {
			return errNoVectors
		}
		return f(in)
	})
	if errors.Is(err, errNoVectors) {
		p.Skipf("the backend of a Batch has no Vectors")
	}
	must.NoError(p, err)
}

var errNoVectors = errors.New("no Vectors")

func putRow(v Vectors, i, n int) error {
	return v.PutVector(space, fmt.Sprint(i), []float32{float32(n), float32(i), 1}, map[string]any{"n": n, "i": i})
}

// rowsAgree checks that vectors agree with their metadata, and with each other if all
// must be of one version.
func rowsAgree(v VectorReader, oneVersion bool) error {
	at, metadata, found, err := v.GetVector(space, "0")
	if err != nil || !found {
		return errors.Join(fmt.Errorf("found: %v", found), err)
	}
	if len(at) != 3 || int(at[0]) != number(metadata["n"]) {
		return fmt.Errorf("torn read: vector %v has metadata %v", at, metadata)
	}
	hits, err := v.SearchVector(space, []float32{1, 1, 1}, 10)
	if err != nil {
		return err
	}
	return hitsAgree(hits, oneVersion)
}

func hitsAgree(hits []Neighbor, oneVersion bool) error {
	for _, h := range hits {
		n, i := number(h.Metadata["n"]), number(h.Metadata["i"])
		if h.Key != fmt.Sprint(i) || h.Vector != nil && (len(h.Vector) != 3 || int(h.Vector[0]) != n || int(h.Vector[1]) != i) {
			return fmt.Errorf("torn read: a hit has key %q, vector %v and metadata %v", h.Key, h.Vector, h.Metadata)
		}
		if first := number(hits[0].Metadata["n"]); oneVersion && n != first {
			return fmt.Errorf("torn read: one hit is of version %d and another of %d", first, n)
		}
	}
	return nil
}

// vectorChecks hold that vectors and their metadata are as separate from their callers
// as values are.
func vectorChecks() []check {
	all := []check{
		{"basic/vectors", func(p *probe) {
			v := need[Vectors](p)
			for key, at := range map[string][]float32{"near": {1, 0}, "middle": {0.6, 0.8}, "far": {0, 1}} {
				must.NoError(p, v.PutVector(space, key, at, map[string]any{"key": key}))
			}
			at, metadata, found, err := v.GetVector(space, "middle")
			must.NoError(p, err)
			must.True(p, found)
			must.Equal(p, []float32{0.6, 0.8}, at)
			p.same(map[string]any{"key": "middle"}, metadata, "metadata")
			_, _, found, err = v.GetVector(space, "absent")
			must.NoError(p, err)
			must.False(p, found)
			for k, want := range [][]string{{}, {"near"}, {"near", "middle"}, {"near", "middle", "far"}, {"near", "middle", "far"}} {
				if k == 0 {
					continue
				}
				hits, err := v.SearchVector(space, []float32{1, 0}, k)
				must.NoError(p, err)
				got := []string{}
				for _, h := range hits {
					got = append(got, h.Key)
					p.same(map[string]any{"key": h.Key}, h.Metadata, "metadata of a hit")
				}
				must.Equal(p, want, got, "the nearest first")
			}
			must.NoError(p, v.PutVector(space, "near", []float32{0, 1}, map[string]any{"key": "no longer"}))
			hits, err := v.SearchVector(space, []float32{1, 0}, 1)
			must.NoError(p, err)
			must.Len(p, hits, 1)
			must.Equal(p, "middle", hits[0].Key, "after the nearest was replaced")
		}},
		{"caller mutation/PutVector/vector", func(p *probe) {
			v := need[Vectors](p)
			at := []float32{3, 4}
			must.NoError(p, v.PutVector(space, "k", at, nil))
			must.Equal(p, []float32{3, 4}, at, "the backend modified the caller's vector")
			spoil(at)
			p.holdsVector(v, []float32{3, 4}, nil, "the caller modified what it had stored")
		}},
		{"caller mutation/SearchVector/query", func(p *probe) {
			v := need[Vectors](p)
			must.NoError(p, v.PutVector(space, "k", []float32{3, 4}, nil))
			query := []float32{6, 8}
			_, err := v.SearchVector(space, query, 1)
			must.NoError(p, err)
			must.Equal(p, []float32{6, 8}, query, "the backend modified the query")
			spoil(query)
			p.holdsVector(v, []float32{3, 4}, nil, "the caller modified the query")
		}},
		{"reader mutation/GetVector/vector", func(p *probe) {
			v := need[Vectors](p)
			must.NoError(p, v.PutVector(space, "k", []float32{3, 4}, nil))
			for range 2 {
				at, _, _, err := v.GetVector(space, "k")
				must.NoError(p, err)
				must.Equal(p, []float32{3, 4}, at, "a reader modified what is stored")
				spoil(at)
			}
			p.holdsVector(v, []float32{3, 4}, nil, "a reader modified what is stored")
		}},
		{"reader mutation/SearchVector/hits", func(p *probe) {
			v := need[Vectors](p)
			must.NoError(p, v.PutVector(space, "k", []float32{3, 4}, map[string]any{"a": "x"}))
			for range 2 {
				hits, err := v.SearchVector(space, []float32{3, 4}, 1)
				must.NoError(p, err)
				must.Len(p, hits, 1)
				must.Equal(p, "k", hits[0].Key)
				p.same(map[string]any{"a": "x"}, hits[0].Metadata, "a reader modified what is stored")
				if hits[0].Vector != nil {
					must.Equal(p, []float32{3, 4}, hits[0].Vector, "a reader modified what is stored")
				}
				spoil(hits)
			}
			p.holdsVector(v, []float32{3, 4}, map[string]any{"a": "x"}, "a reader modified what is stored")
		}},
	}
	for _, k := range kinds() {
		metadata := func() map[string]any { return map[string]any{"k": k.fresh(), "s": "x"} }
		stored := func(p *probe) (Vectors, map[string]any) {
			p.Helper()
			v := need[Vectors](p)
			k.allowed(p)
			m := metadata()
			p.accepted(k.name, k.must, v.PutVector(space, "k", []float32{1, 0}, m))
			return v, m
		}
		all = append(all, check{"caller mutation/PutVector/metadata/" + k.name, func(p *probe) {
			v, m := stored(p)
			p.same(metadata(), m, "the backend modified the caller's metadata")
			spoil(m)
			p.holdsVector(v, []float32{1, 0}, metadata(), "the caller modified what it had stored")
		}}, check{"reader mutation/GetVector/metadata/" + k.name, func(p *probe) {
			v, _ := stored(p)
			_, m, _, err := v.GetVector(space, "k")
			must.NoError(p, err)
			spoil(m)
			p.holdsVector(v, []float32{1, 0}, metadata(), "a reader modified what is stored")
		}}, check{"reader mutation/SearchVector/metadata/" + k.name, func(p *probe) {
			v, _ := stored(p)
			hits, err := v.SearchVector(space, []float32{1, 0}, 1)
			must.NoError(p, err)
			must.Len(p, hits, 1)
			spoil(hits[0].Metadata)
			p.holdsVector(v, []float32{1, 0}, metadata(), "a reader modified what is stored")
		}})
	}
	return all
}
