package cow

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// A DB keeps no fork that nobody uses, neither alive nor in mind.
func TestForksAreLetGo(t *testing.T) {
	db := new(DB)
	family := db.catalog()
	fork := func() {
		for i := range 1000 {
			db.Fork(db.Load())
			if i%100 == 0 {
				runtime.GC()
			}
		}
	}
	fork()
	for tries := 0; len(family.family(db)) > 0; tries++ {
		require.Less(t, tries, 100, "%d forks are alive", len(family.family(db)))
		runtime.GC()
	}
	kept := db.Fork(db.Load())
	fork()
	require.Less(t, len(family.forks), 600)
	require.Contains(t, family.family(db), kept)
}
