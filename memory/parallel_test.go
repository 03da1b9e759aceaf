package memory_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory"
)

// Of all writers together nothing is lost: each verb is one step.
func TestVerbsAreOneStepEach(t *testing.T) {
	m := memory.New(memory.Options{})
	s := m.Space("s")
	n := quicker(400)
	for i := range n {
		require.NoError(t, errOf(s.Put(fmt.Sprint("job", i), i)))
	}
	one := func(v memory.Value) (any, error) { return v.Int() + 1, nil }
	var taken, inserted, set atomic.Int64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range n {
				if _, err := s.Upsert("count", one); err != nil {
					t.Error(err)
				}
				if _, ok, _ := s.Take(fmt.Sprint("job", i)); ok {
					taken.Add(1)
				}
				if errOf(s.Insert(fmt.Sprint("new", i), i)) == nil {
					inserted.Add(1)
				}
				e, _ := s.Entry("set")
				if errOf(s.SetIf("set", e.Revision, e.Value.Int()+1)) == nil {
					set.Add(1)
				}
			}
		})
	}
	all.Wait()
	v, _ := s.Get("count")
	require.EqualValues(t, 4*n, v.Int())
	require.EqualValues(t, n, taken.Load())
	require.EqualValues(t, n, inserted.Load())
	v, _ = s.Get("set")
	require.EqualValues(t, set.Load(), v.Int())
	require.Equal(t, n+2, s.Len())
	require.NoError(t, m.CheckDerived())
}

// Readers that stamp what is evicted meanwhile, forks that read the same entries,
// and writers leave all counts right.
func TestReadersAndEvictionsTogether(t *testing.T) {
	m := memory.New(memory.Options{MaxEntries: 50})
	n := quicker(3000)
	var all sync.WaitGroup
	for w := range 2 {
		all.Go(func() {
			for i := range n {
				k := fmt.Sprint((i*7 + w*13) % 80)
				if _, err := m.Space("s").PutItem(k, memory.Item{Value: k + " word", Vector: []float32{float32(i), 1}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 2 {
		all.Go(func() {
			f := m.Fork(m.Load())
			for i := range n {
				k := fmt.Sprint(i % 80)
				if v, ok := m.Space("s").Get(k); ok && v.String() != k+" word" {
					t.Error(v.String())
				}
				f.Space("s").Get(k)
				if i%20 == 0 {
					hits, err := m.Space("s").Search(memory.Query{Text: "word", Vector: []float32{1, 1}})
					if err != nil || len(hits) > 10 || m.Load().Len() > 50 {
						t.Error(err, len(hits))
					}
					if _, err := f.Space("t").Put(k, i); err != nil {
						t.Error(err)
					}
				}
			}
			if err := f.CheckDerived(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Equal(t, 50, m.Load().Len())
	require.NoError(t, m.CheckDerived())
}

// The name that Get looks up lies on the stack, which may be moved meanwhile.
func TestGetWhileStacksGrow(t *testing.T) {
	m := memory.New(memory.Options{})
	var paths [][]string
	for i := range 4 {
		p := []string{fmt.Sprint("user", i), fmt.Sprintf("%0*d", 30*i, i)}
		paths = append(paths, p)
		for k := range 20 {
			require.NoError(t, errOf(m.Space(p...).Put(fmt.Sprint("key", k), i*100+k)))
		}
	}
	var all sync.WaitGroup
	for g := range quicker(3000) {
		all.Go(func() {
			var down func(depth int)
			down = func(depth int) {
				var frame [64]byte
				frame[depth%64] = byte(depth)
				i, k := (g+depth)%4, depth%20
				v, ok := m.Space(paths[i]...).Get(fmt.Sprint("key", k))
				if !ok || v.Int() != int64(i*100+k) {
					t.Errorf("%d %d: %v %v", i, k, ok, v.Int())
				}
				if depth < 20 {
					down(depth + 1)
				}
				_ = frame
			}
			down(g % 8)
		})
	}
	all.Wait()
}
