package peers

import (
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/stores"
)

// The maximum is so far off that a cache keeps what it is given, also when that
// is more than the new entries it has a place of their own for.
func TestOtterEvictsNothing(t *testing.T) {
	const n = 200_000
	s := newOtter()
	for i := range n {
		s.Set(fmt.Sprint(i), stores.Record{})
	}
	s.(otterCache).c.CleanUp()
	require.Len(t, maps.Collect(s.All()), n)
}
