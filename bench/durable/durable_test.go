package durable

import (
	"fmt"
	"maps"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// What any of them has acknowledged is there when the file is opened again.
func TestRowsAreInTheFile(t *testing.T) {
	for _, k := range []Kind{Cow, CowPast, Update, Batch, Bunt, SQLite} {
		t.Run(k.ID, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "rows")
			s, err := k.Open(path)
			require.NoError(t, err)
			want := map[string]string{}
			for i := range 100 {
				want[fmt.Sprint(i)] = "before"
			}
			require.NoError(t, s.SetAll(maps.All(want)))
			var wg sync.WaitGroup
			for i := range 20 {
				want[fmt.Sprint(i)] = "after"
				wg.Go(func() {
					if err := s.Set(fmt.Sprint(i), "after"); err != nil {
						t.Error(err)
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
			require.Equal(t, want, all)
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
