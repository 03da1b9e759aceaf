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
