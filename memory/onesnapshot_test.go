package memory_test

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/filter"
)

// While batches write their number everywhere, whatever a snapshot shows is of one
// batch: values, vectors, text and metadata, of all spaces.
func TestASnapshotIsOfOneBatch(t *testing.T) {
	const turn = 1000 // vectors point in so many directions
	paths := [][]string{{}, {"a"}, {"a", "b"}, {"c"}}
	m := memory.New(memory.Options{})
	write := func(n int) error {
		return m.Batch(func(b *memory.Batch) error {
			for _, p := range paths {
				s := b.Space(p...)
				sin, cos := math.Sincos(float64(n%turn) * 2 * math.Pi / turn)
				if err := s.PutItem("item", memory.Item{
					Value:    map[string]any{"text": fmt.Sprintf("batch w%d", n), "n": n},
					Vector:   []float32{float32(cos), float32(sin)},
					Metadata: map[string]any{"n": n},
				}); err != nil {
					return err
				}
				// One more, by other verbs, and one that is there in every other batch.
				if err := s.Put("value", n); err != nil {
					return err
				}
				if n%2 == 0 {
					if err := s.Put("even", n); err != nil {
						return err
					}
				} else {
					s.Delete("even")
				}
			}
			return nil
		})
	}
	require.NoError(t, write(0))
	reads, readers := quicker(2_000_000), 2
	if testing.Short() {
		reads /= 4
	}
	var stop atomic.Bool
	var torn atomic.Pointer[string]
	var done sync.WaitGroup
	fail := func(format string, args ...any) {
		s := fmt.Sprintf(format, args...)
		torn.CompareAndSwap(nil, &s)
		stop.Store(true)
	}
	var written int
	done.Go(func() {
		for n := 1; !stop.Load(); n++ {
			if err := write(n); err != nil {
				fail("%v", err)
			}
			written = n
		}
	})
	var reading sync.WaitGroup
	for reader := range readers {
		reading.Go(func() {
			last := int64(-1)
			for i := reader; i < reads && !stop.Load(); {
				s := m.Load()
				v, _ := s.Space().Get("value")
				n := v.Int()
				if n < last {
					fail("%d after %d", n, last)
				}
				last = n
				for _, p := range paths {
					view := s.Space(p...)
					e, ok := view.Entry("item")
					if !ok || e.Value.Key("n").Int() != n || e.Metadata.Key("n").Int() != n || e.Revision != s.Version() {
						fail("%q: %d is %v", p, n, e)
					}
					if v, _ := view.Get("value"); v.Int() != n {
						fail("%q: value %d is %d", p, n, v.Int())
					}
					if want := 2 + int(1-n%2); view.Len() != want {
						fail("%q: %d has %d entries", p, n, view.Len())
					}
					for e := range view.List(memory.ListOptions{Prefix: "val"}) {
						if e.Value.Int() != n {
							fail("%q: List shows %d, not %d", p, e.Value.Int(), n)
						}
					}
					i += readers * 4
					if i/8%8 != 0 {
						continue // searches take longer
					}
					sin, cos := math.Sincos(float64(n%turn) * 2 * math.Pi / turn)
					hits, err := view.Search(memory.Query{Vector: []float32{float32(cos), float32(sin)}, MinScore: 0.999999, Filter: filter.Meta("n").Eq(n)})
					if err != nil || len(hits) != 1 || hits[0].Metadata.Key("n").Int() != n {
						fail("%q: %d is searched as %v, %v", p, n, hits, err)
					}
					hits, err = view.Search(memory.Query{Text: fmt.Sprintf("w%d", n)})
					if err != nil || len(hits) != 1 || hits[0].Value.Key("n").Int() != n {
						fail("%q: w%d is %v, %v", p, n, hits, err)
					}
					hits, err = view.Search(memory.Query{Text: "batch"})
					if err != nil || len(hits) != 1 || hits[0].Value.Key("n").Int() != n {
						fail("%q: batch is %v, %v", p, hits, err)
					}
					if hits, err = view.Search(memory.Query{Text: fmt.Sprintf("w%d w%d", n-1, n+1)}); err != nil || len(hits) != 0 {
						fail("%q: in %d there is %v, %v", p, n, hits, err)
					}
					i += readers * 4
				}
			}
		})
	}
	reading.Wait()
	stop.Store(true)
	done.Wait()
	if s := torn.Load(); s != nil {
		t.Fatal(*s)
	}
	require.Positive(t, written)
	t.Logf("%d batches", written)
	require.NoError(t, m.CheckDerived())
}
