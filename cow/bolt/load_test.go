package bolt_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/bolt"
	"github.com/cowstore/cowstore/cow/hook"
	"github.com/cowstore/cowstore/cow/inspect"
)

// What Load loads is what the file has, with its past and its pins, and the file stays as it is.
func TestLoadOnlyReads(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{}, forever)
	for i := range 5 {
		require.NoError(t, s.add("a", i, "x"))
	}
	require.NoError(t, s.db.Pin("second", 2))
	want, lineage := s.now(), s.db.Lineage()
	is := newShop()
	is.db.Retain(forever)
	require.ErrorIs(t, bolt.Load(path, &is.db, bolt.Options{}), bolt.ErrLocked)
	require.NoError(t, s.db.Close())
	before, err := os.ReadFile(path)
	require.NoError(t, err)

	require.NoError(t, bolt.Load(path, &is.db, bolt.Options{}))
	require.Equal(t, want, is.now())
	require.Equal(t, lineage, is.db.Lineage())
	was, err := is.db.At(1)
	require.NoError(t, err)
	require.Equal(t, 1, is.jobs.In(was).Len())
	pins := 0
	for name, at := range is.db.Pins() {
		require.Equal(t, "second", name)
		require.EqualValues(t, 2, at.Version())
		pins++
	}
	require.Equal(t, 1, pins)

	state := is.db.Stats().Sink
	require.Equal(t, hook.Refused, state.State)
	require.ErrorIs(t, state.Err, bolt.ErrReadOnly)
	page := httptest.NewRecorder()
	inspect.Handler(&is.db, inspect.Options{}).ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/", nil))
	require.Contains(t, page.Body.String(), bolt.ErrReadOnly.Error())
	require.ErrorIs(t, is.add("b", 1), bolt.ErrReadOnly)
	require.ErrorIs(t, is.db.Pin("third", 3), bolt.ErrReadOnly)
	require.Equal(t, want, is.now())
	require.ErrorIs(t, bolt.Load(path, &is.db, bolt.Options{}), bolt.ErrNotEmpty)
	again := open(t, path, bolt.Options{}, forever) // the file is free
	require.Equal(t, want, again.now())
	require.NoError(t, again.db.Close())
	require.NoError(t, is.db.Close())

	other := newShop()
	require.NoError(t, bolt.Load(path, &other.db, bolt.Options{}))
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, len(before), len(after))
	require.ErrorIs(t, bolt.Load(path+".none", new(cow.DB), bolt.Options{}), fs.ErrNotExist)
	require.NoFileExists(t, path+".none")
	require.ErrorIs(t, bolt.Load(path, new(cow.DB), bolt.Options{}), cow.ErrSchema)
}

func TestLoadOfAFileThatMustNotBeWritten(t *testing.T) {
	path := temp(t)
	s := open(t, path, bolt.Options{}, forever)
	require.NoError(t, s.add("a", 1, "x"))
	require.NoError(t, s.db.Close())
	require.NoError(t, os.Chmod(path, 0o400))
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	is := newShop()
	require.NoError(t, bolt.Load(path, &is.db, bolt.Options{}))
	require.Equal(t, 1, is.jobs.Len())
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
}
