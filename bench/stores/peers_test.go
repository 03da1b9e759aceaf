package stores

import (
	"fmt"
	"maps"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/buntdb"
)

// The maximum is so far off that a cache keeps what it is given, also when that
// is more than the new entries it has a place of their own for.
func TestOtterEvictsNothing(t *testing.T) {
	const n = 200_000
	s := newOtter()
	for i := range n {
		s.Set(fmt.Sprint(i), Record{})
	}
	s.(otterCache).c.CleanUp()
	require.Len(t, maps.Collect(s.All()), n)
}

// What nobody can use any more is closed, for otherwise it would never be freed.
func TestBuntDBIsClosedWhenUnreachable(t *testing.T) {
	db := newBuntDB().(*buntDB).db
	for {
		err := db.View(func(*buntdb.Tx) error { return nil })
		if err != nil {
			require.ErrorIs(t, err, buntdb.ErrDatabaseClosed)
			return
		}
		runtime.GC()
	}
}
