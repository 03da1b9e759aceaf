package durable

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What any of them has acknowledged is there when the file is opened again.
func TestRowsAreInTheFile(t *testing.T) {
	for _, k := range []Kind{Cow, CowPast, Update, BatchOf(Batch{64, time.Millisecond}), Bunt, SQLite} {
		t.Run(k.ID, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "rows")
			s, err := k.Open(path)
			require.NoError(t, err)
			require.NoError(t, s.SetAll(func(yield func(key, value string) bool) {
				for i := range 100 {
					if !yield(fmt.Sprint(i), "before") {
						return
					}
				}
			}))
			var wg sync.WaitGroup
			for w := range 4 {
				wg.Go(func() {
					for i := range 5 {
						if err := s.Set(fmt.Sprint(10*w+i), "after"); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			require.NoError(t, s.Close())
			s, err = k.Open(path)
			require.NoError(t, err)
			all := map[string]string{}
			require.NoError(t, s.Each(func(key string, r Row) { all[key] = r.Value }))
			require.NoError(t, s.Close())
			require.Len(t, all, 100)
			for i := range 100 {
				want := "before"
				if i < 40 && i%10 < 5 {
					want = "after"
				}
				require.Equal(t, want, all[fmt.Sprint(i)], i)
			}
		})
	}
}

func TestRowsDecode(t *testing.T) {
	r := Row{1 << 40, "text"}
	got, err := DecodeRow(r.Append(nil))
	require.NoError(t, err)
	require.Equal(t, r, got)
	_, err = DecodeRow(nil)
	require.Error(t, err)
}
