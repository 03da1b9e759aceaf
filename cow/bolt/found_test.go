package bolt_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

// A key in a branch page that is not the first of the page below misleads nobody who reads, but
// bbolt, when it writes, would leave the old page beside the new one. It is found, and
// all rows come out.
func TestAKeyOfABranchIsFound(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{})
	require.NoError(t, s.db.Update(func(tx *cow.Tx) error {
		for i := range 500 {
			s.jobs.Edit(tx).Set(fmt.Sprintf("%04d", 2*i+1), job{N: i})
		}
		return nil
	}))
	want := s.now()
	require.NoError(t, s.db.Close())
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	found := 0
	for p := 2; p < len(good)/pageSize; p++ {
		b := pageOf(good, p)
		if binary.NativeEndian.Uint16(b[8:]) != 1 { // a branch
			continue
		}
		for i := range int(binary.NativeEndian.Uint16(b[10:])) {
			at := 16 + 16*i
			at += int(binary.NativeEndian.Uint32(b[at:])) + int(binary.NativeEndian.Uint32(b[16+16*i+4:])) - 1
			for _, by := range []byte{1, 0xff} {
				b[at] += by
				src, dst := temp(t), temp(t)
				require.NoError(t, os.WriteFile(src, good, 0o600))
				b[at] -= by
				_, err := bolt.Check(src)
				require.ErrorIs(t, err, bolt.ErrDamaged)
				require.ErrorIs(t, newShop().open(src, bolt.Options{}), bolt.ErrDamaged)
				left, err := bolt.Salvage(dst, src)
				require.NoError(t, err)
				require.Len(t, left, 1)
				is := open(t, dst, bolt.Options{})
				require.Equal(t, want, is.now(), "no row is left out")
				require.NoError(t, is.db.Close())
				found++
			}
		}
	}
	require.Greater(t, found, 4)
}

// What a file says of itself is not believed where it cannot be.
func TestVersionsThatCannotBe(t *testing.T) {
	for _, of := range [][2]uint64{{1 << 63, 1 << 63}, {1<<64 - 1, 1<<64 - 1}, {1<<64 - 1, 0}, {7, 6}} {
		path := temp(t)
		require.NoError(t, bolt.CreateAt(path, new(cow.DB).Lineage().ID, of[0], of[1]))
		require.ErrorIs(t, newShop().open(path, bolt.Options{}), bolt.ErrDamaged)
		_, err := bolt.Check(path)
		require.ErrorIs(t, err, bolt.ErrDamaged)
	}
}

// A file may have a text for a lineage that no cursor has, which DB.Restore once took. It opens,
// with all that it has, and gets a lineage.
func TestALineageThatNoDBHasMade(t *testing.T) {
	for _, lineage := range []string{"", "x", " PPX4P3PXMKBNN6MVAUCR5Z6X3D", "ppx4", "a\n", "ü", strings.Repeat("A", 1000)} {
		path := temp(t)
		require.NoError(t, bolt.CreateAt(path, lineage, 5, 5))
		s := open(t, path, bolt.Options{})
		require.True(t, s.file.Renewed())
		require.EqualValues(t, 5, s.db.Load().Version())
		require.NoError(t, s.add("a", 1))
		id := s.db.Lineage().ID
		version, err := s.db.ParseCursor(s.db.Cursor(6))
		require.NoError(t, err)
		require.EqualValues(t, 6, version)
		require.NoError(t, s.db.Close())
		again := open(t, path, bolt.Options{})
		require.False(t, again.file.Renewed())
		require.Equal(t, id, again.db.Lineage().ID)
		require.NoError(t, again.db.Close())
	}
}
