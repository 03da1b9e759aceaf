package chaos_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/etcd"
	"github.com/cowstore/cowstore/cow/etcd/chaos/cluster"
)

var errOrder = errors.New("a move is missing, or happened twice")

// together calls f with the numbers below n, all at once.
func together(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(i) })
	}
	all.Wait()
}

// contents are the rows of a bank, and which version wrote them.
type contents struct {
	from, to  map[int]int
	last      map[string]int
	revisions map[any]uint64
}

func (b *bank) at(s *cow.Snapshot) contents {
	c := contents{maps.Collect(b.from.In(s).All()), maps.Collect(b.to.In(s).All()), maps.Collect(b.last.In(s).All()), map[any]uint64{}}
	for k := range b.from.In(s).Keys() {
		c.revisions[fmt.Sprint("from", k)] = b.from.In(s).Revision(k)
	}
	for k := range b.last.In(s).Keys() {
		c.revisions[k] = b.last.In(s).Revision(k)
	}
	return c
}

// same demands that banks went through the same versions, and that no snapshot is torn.
func same(t *testing.T, banks ...*bank) {
	t.Helper()
	var latest uint64
	for _, b := range banks {
		s, err := b.replica.Fresh(t.Context())
		require.NoError(t, err)
		require.True(t, latest == 0 || latest == s.Version(), "%d and %d", latest, s.Version())
		latest = s.Version()
		require.Equal(t, banks[0].db.Lineage(), b.db.Lineage())
	}
	for v := uint64(0); v <= latest; v++ {
		var want *contents
		var at time.Time
		for _, b := range banks {
			s, err := b.db.At(v)
			if errors.Is(err, cow.ErrCompacted) {
				continue // it was loaded later
			}
			require.NoError(t, err)
			require.Zero(t, b.sum(s), "version %d is torn", v)
			is := b.at(s)
			if want == nil {
				want = &is
			}
			require.Equal(t, *want, is, "version %d", v)
			_ = at
		}
	}
}

func TestReplicas(t *testing.T) {
	c := start(t, cluster.Options{})
	banks := []*bank{open(t, client(t, c), "bank", quick), open(t, client(t, c), "bank", quick), open(t, client(t, c), "bank/", quick)}
	const writers, moves = 4, 40
	together(len(banks)*writers, func(w int) {
		b := banks[w%len(banks)]
		name := fmt.Sprint("w", w)
		for n := range moves {
			if err := b.move(context.Background(), name, n+1, w, n%7, n); err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			if is, _ := b.last.Get(name); is != n+1 {
				t.Errorf("%s does not see what it wrote: %d and not %d", name, is, n+1)
			}
		}
	})
	banks = append(banks, open(t, client(t, c), "bank", etcd.Options{}))
	same(t, banks...)
	require.Equal(t, uint64(len(banks)-1)*writers*moves, banks[0].db.Load().Version())
}
