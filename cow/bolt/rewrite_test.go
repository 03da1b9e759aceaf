package bolt_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
)

func TestBackupWhileWritesGoOn(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{}, forever)
	done, stop := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := s.add(fmt.Sprint(i%50), i, "x"); err != nil {
				t.Error(err)
			}
		}
	}()
	for range 5 {
		before := s.db.Load().Version()
		var b bytes.Buffer
		version, err := s.file.Backup(&b)
		require.NoError(t, err)
		require.GreaterOrEqual(t, version, before)
		copied := temp(t)
		require.NoError(t, os.WriteFile(copied, b.Bytes(), 0o600))
		is := open(t, copied, bolt.Options{}, forever)
		require.Equal(t, version, is.db.Load().Version())
		// What is in the file may be about to be published.
		require.Eventually(t, func() bool { return s.db.Load().Version() >= version }, time.Minute, time.Millisecond)
		at, err := s.db.At(version)
		require.NoError(t, err)
		require.Equal(t, s.at(at), is.now())
		_, err = is.db.At(0)
		require.NoError(t, err)
		require.True(t, is.file.Renewed())
		require.NotEqual(t, s.db.Lineage().ID, is.db.Lineage().ID)
	}
	close(stop)
	<-done
	requireAlone(t, path)
	require.NoError(t, s.db.Close())
	_, err := s.file.Backup(io.Discard)
	require.Error(t, err)
}

func TestRestore(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{}, cow.Retention{Versions: 20})
	states := map[uint64]contents{}
	for i := range 60 {
		require.NoError(t, s.add(fmt.Sprint(i%9), i, "x"))
		states[s.db.Load().Version()] = s.now()
	}
	require.ErrorIs(t, bolt.Restore(path+"2", path, 59), bolt.ErrLocked)
	require.NoError(t, s.db.Close())
	info, err := bolt.Check(path)
	require.NoError(t, err)
	for v := info.Oldest; v <= 60; v += 5 {
		dst := temp(t)
		require.NoError(t, bolt.Restore(dst, path, v))
		is := open(t, dst, bolt.Options{}, forever)
		require.Equal(t, v, is.db.Load().Version())
		require.Equal(t, states[v], is.now())
		at, err := is.db.At(info.Oldest)
		require.NoError(t, err)
		require.Equal(t, states[info.Oldest], is.at(at))
		require.NotEqual(t, info.Lineage, is.db.Lineage().ID)
		require.False(t, is.file.Renewed())
		require.NoError(t, is.add("a", 1))
	}
	dst := temp(t)
	require.ErrorIs(t, bolt.Restore(dst, path, info.Oldest-1), cow.ErrCompacted)
	require.ErrorIs(t, bolt.Restore(dst, path, 61), cow.ErrUnpublished)
	require.NoFileExists(t, dst)
	require.ErrorIs(t, bolt.Restore(path, path, 60), os.ErrExist)
	again, err := bolt.Check(path)
	require.NoError(t, err)
	require.Equal(t, info, again, "it stays as it is")
}

func TestCompactLeavesNothingErased(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{})
	require.NoError(t, s.db.Update(func(tx *cow.Tx) error {
		for i := range 2000 {
			s.jobs.Edit(tx).Set(fmt.Sprint("topsecret", i), job{Name: "topsecret"})
		}
		return nil
	}))
	require.NoError(t, s.db.Update(func(tx *cow.Tx) error {
		for i := range 1990 {
			s.jobs.Edit(tx).Delete(fmt.Sprint("topsecret", i))
		}
		for i := 1990; i < 2000; i++ {
			s.jobs.Edit(tx).Delete(fmt.Sprint("topsecret", i))
			s.jobs.Edit(tx).Set(fmt.Sprint("kept", i), job{Name: "kept"})
		}
		return nil
	}))
	want, lineage := s.now(), s.db.Lineage().ID
	require.ErrorIs(t, bolt.Compact(path), bolt.ErrLocked)
	require.NoError(t, s.db.Close())
	was, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Contains(was, []byte("topsecret")), "the test shows nothing")
	info, err := bolt.Check(path)
	require.NoError(t, err)
	require.Greater(t, info.Free, uint64(len(was)/2))
	require.Less(t, info.Free, uint64(len(was)))
	require.NoError(t, bolt.Compact(path))
	info, err = bolt.Check(path)
	require.NoError(t, err)
	require.Less(t, info.Free, uint64(10*pageSize))
	is, err := os.ReadFile(path)
	require.NoError(t, err)
	require.False(t, bytes.Contains(is, []byte("topsecret")))
	require.Less(t, len(is), len(was)/4)
	requireAlone(t, path)
	s = open(t, path, bolt.Options{})
	require.Equal(t, want, s.now())
	require.Equal(t, lineage, s.db.Lineage().ID)
	require.False(t, s.file.Renewed())
}

// Whatever is damaged, all rows that are not come out, and no others; with what is not,
// everything does.
func TestSalvage(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{}, cow.Retention{Versions: 10})
	for i := range 300 {
		require.NoError(t, s.add(fmt.Sprint("k", i), i, "x"))
	}
	want := s.now()
	require.NoError(t, s.db.Close())
	info, err := bolt.Check(path)
	require.NoError(t, err)
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	whole := 0
	for p := 2; p < len(good)/pageSize; p++ {
		bad := bytes.Clone(good)
		clear(pageOf(bad, p))
		src, dst := temp(t), temp(t)
		require.NoError(t, os.WriteFile(src, bad, 0o600))
		_, damaged := bolt.Check(src)
		left, err := bolt.Salvage(dst, src)
		if err != nil {
			require.ErrorIs(t, damaged, bolt.ErrDamaged)
			continue
		}
		require.Equal(t, damaged != nil, len(left) > 0, "%v %v", damaged, left)
		is := open(t, dst, bolt.Options{}, forever)
		require.NotEqual(t, info.Lineage, is.db.Lineage().ID)
		for k, j := range is.jobs.All() {
			require.Equal(t, want.jobs[k], j)
		}
		if len(left) == 0 {
			require.Equal(t, want, is.now())
			whole++
		}
		require.NoError(t, is.add("more", 1))
		require.NoError(t, is.db.Close())
		now, err := os.ReadFile(src)
		require.NoError(t, err)
		require.True(t, bytes.Equal(bad, now), "it stays as it is")
	}
	require.Positive(t, whole)

	// One row is damaged, by its value or by its key, which comes before or after all others then:
	// the others are there.
	for _, damage := range []struct{ was, is, row, key string }{
		{`"Name":"k7",`, `"Name":"K7",`, "k7", "k7"},
		{"kk150", "kz150", "k150", "z150"},
		{"kk150", "ka150", "k150", ""}, // out of order: nobody knows that it is a key
	} {
		bad := bytes.ReplaceAll(good, []byte(damage.was), []byte(damage.is))
		src, dst := temp(t), temp(t)
		require.NoError(t, os.WriteFile(src, bad, 0o600))
		left, err := bolt.Salvage(dst, src)
		require.NoError(t, err)
		require.NotEmpty(t, left)
		_, err = bolt.Salvage(dst, src)
		require.ErrorIs(t, err, os.ErrExist)
		require.Equal(t, "jobs", left[0].Table)
		is := open(t, dst, bolt.Options{})
		rest := maps.Clone(want.jobs)
		delete(rest, damage.row)
		require.Equal(t, rest, is.now().jobs)
		require.Equal(t, want.total, is.now().total)
		if damage.key != "" {
			require.Equal(t, damage.key, string(left[0].Key))
		}
	}
}

// Versions behind a gap in the retained past are not lost: one version more has what they
// wrote, and the one before it is as it was.
func TestSalvageBehindAGap(t *testing.T) {
	const versions = 250
	path := temp(t)
	s := open(t, path, bolt.Options{}, forever)
	key := func(version uint64) string { return fmt.Sprint("k", version%40) }
	deletes := func(version uint64) bool { return version%3 == 0 && version > 40 || version > versions-10 }
	for v := uint64(1); v <= versions; v++ {
		if deletes(v) {
			err := s.jobs.Update(func(e *cow.Editor[string, job]) error {
				e.Delete(key(v))
				e.Set("last", job{N: int(v)})
				return nil
			})
			require.NoError(t, err)
			continue
		}
		_, err := s.jobs.Set(key(v), job{N: int(v), Name: strings.Repeat("x", 100)})
		require.NoError(t, err)
	}
	require.EqualValues(t, versions, s.db.Load().Version())
	require.NoError(t, s.db.Close())
	good, err := os.ReadFile(path)
	require.NoError(t, err)

	// at returns which version wrote each row last, of those outside of a gap. A version has
	// deleted a row only if it was there.
	at := func(from, to, upto uint64) map[string]int {
		rows, all := map[string]int{}, map[string]bool{}
		for v := uint64(1); v <= upto; v++ {
			was := all[key(v)]
			all[key(v)] = !deletes(v)
			switch {
			case v >= from && v <= to:
			case deletes(v):
				if was {
					delete(rows, key(v))
				}
				rows["last"] = int(v)
			default:
				rows[key(v)] = int(v)
			}
		}
		return rows
	}
	has := func(m *cow.Map[string, job]) map[string]int {
		rows := map[string]int{}
		for k, j := range m.All() {
			rows[k] = j.N
		}
		return rows
	}
	gaps := 0
	logged := binary.BigEndian.AppendUint64(nil, 123)[:7] // the key of a version, but for its last byte
	for p := 1; p < len(good)/pageSize; p++ {
		bad := bytes.Clone(good)
		if p > 1 {
			clear(pageOf(bad, p))
		} else { // a key is damaged, and then above all that follow
			n := 0
			for at := bytes.Index(bad, append(logged, 123)); at >= 0; n++ {
				bad[at+1] = 0xff
				at = bytes.Index(bad, append(logged, 123))
			}
			require.Positive(t, n)
		}
		src, dst := temp(t), temp(t)
		require.NoError(t, os.WriteFile(src, bad, 0o600))
		left, err := bolt.Salvage(dst, src)
		if err != nil {
			continue
		}
		var from, to uint64
		for _, d := range left {
			if _, err := fmt.Sscanf(d.Err.Error(), "the retained past: versions %d to %d are missing", &from, &to); err == nil {
				break
			}
		}
		if to == 0 {
			require.NotEqual(t, 1, p)
			continue
		}
		gaps++
		if p == 1 {
			require.Equal(t, []uint64{123, 123}, []uint64{from, to})
		}
		is := open(t, dst, bolt.Options{}, forever)
		require.Equal(t, at(from, to, versions), has(is.jobs.Load()), "%d to %d", from, to)
		require.Equal(t, from, is.db.Load().Version())
		before, err := is.db.At(from - 1)
		require.NoError(t, err)
		require.Equal(t, at(from, to, from-1), has(is.jobs.In(before)))
		require.NoError(t, is.add("more", 1))
		require.NoError(t, is.db.Close())
		_, err = bolt.Check(dst)
		require.NoError(t, err)
		restored := temp(t)
		require.NoError(t, bolt.Restore(restored, dst, from-1))
		is = open(t, restored, bolt.Options{}, forever)
		require.Equal(t, at(from, to, from-1), has(is.jobs.Load()))
	}
	require.Greater(t, gaps, 4)
}
