//go:build linux

package bolt_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

const createRows = 500

// createChild makes a file of a DB that has rows, and commits to it.
func createChild(path string) {
	s := newShop()
	err := s.db.Update(func(tx *cow.Tx) error {
		for i := range createRows {
			s.total.Edit(tx).Set(i, i)
		}
		return nil
	})
	fmt.Println("begun", err)
	if err := s.open(path, bolt.Options{}); err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println("open")
	for i := 1; ; i++ {
		if err := s.add("k", i); err != nil {
			fmt.Println("error", err)
			return
		}
		fmt.Println("acked", i)
	}
}

// Whenever a process is killed that makes a file: there is none under the name, or it
// opens, and has all that the DB had and what was acknowledged.
func TestKilledWhileAFileIsMade(t *testing.T) {
	none, had, leftovers := 0, 0, 0
	for range times(25, 500) {
		path := temp(t)
		lines := runChild(t, "create "+path, time.Duration(1+rand.IntN(15_000))*time.Microsecond)
		left, err := os.ReadDir(filepath.Dir(path))
		require.NoError(t, err)
		_, err = os.Stat(path)
		if err == nil {
			had++
		} else {
			none++
			require.Len(t, lines, 1, "it was there once")
		}
		for _, f := range left {
			if f.Name() != filepath.Base(path) {
				leftovers++
			}
		}
		s := open(t, path, bolt.Options{})
		n := 0
		for k, v := range s.total.All() {
			if k > 0 {
				require.Equal(t, k, v)
				n++
			}
		}
		job, _ := s.jobs.Get("k")
		if err == nil {
			require.Equal(t, createRows-1, n)
			require.GreaterOrEqual(t, job.N, len(lines)-2, "an acknowledged commit is lost")
			require.EqualValues(t, 1+job.N, s.db.Load().Version())
		} else {
			require.Zero(t, n)
			require.Zero(t, s.db.Load().Version())
		}
		requireAlone(t, path)
		require.NoError(t, s.db.Close())
	}
	t.Logf("%d without a file, %d with one, %d leftovers", none, had, leftovers)
}
