package check

import (
	"errors"
	"maps"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/snapshot"
)

// A row is a row of a model. It is immutable.
type row[V any] struct {
	value V
	rev   uint64
	write int // which write it was: a merge takes that along
}

// A table is a plain map that a table of a DB has to agree with. It is immutable
// once it is part of a version.
type table[K comparable, V any] map[K]row[V]

// same reports whether two tables hold the same writes.
func (m table[K, V]) same(n table[K, V]) bool {
	return maps.EqualFunc(m, n, func(a, b row[V]) bool { return a.write == b.write })
}

// A merge of plain maps, of base to theirs into ours, for version; it returns the
// result, and how many keys were changed on both sides.
func merge[K comparable, V any](ours, base, theirs table[K, V], version uint64) (table[K, V], int) {
	next, conflicts := maps.Clone(ours), 0
	keys := maps.Clone(base)
	maps.Copy(keys, theirs)
	for k := range keys {
		switch was, is, other := base[k].write, ours[k].write, theirs[k].write; {
		case other == was, other == is:
		case is != was:
			conflicts++
		case other == 0:
			delete(next, k)
		default:
			next[k] = row[V]{theirs[k].value, version, other}
		}
	}
	return next, conflicts
}

// An edit does random things to a table of a DB and to its model, which it changes.
type edit[K comparable, V any] struct {
	editor *cow.Editor[K, V]
	model  table[K, V]
	key    *rapid.Generator[K]
	value  *rapid.Generator[V]
	clone  func(V) V
	spoil  func(V) // modifies a value as far as one can
	writes *int
}

var errModify = errors.New("modify")

// step does one thing.
func (x edit[K, V]) step(t *rapid.T) {
	e, k := x.editor, x.key.Draw(t, "key")
	old, found := x.model[k]
	put := func(v V) {
		*x.writes++
		x.model[k] = row[V]{v, e.Version(), *x.writes}
	}
	value := func() (given, kept V) {
		v := x.value.Draw(t, "value")
		return v, x.clone(v)
	}
	switch do := rapid.SampledFrom([]string{"set", "insert", "setIf", "modify", "modify badly", "upsert", "delete", "deleteIf", "take", "clear"}).Draw(t, "do"); do {
	case "set":
		v, kept := value()
		e.Set(k, v)
		x.spoil(v)
		put(kept)
	case "insert":
		v, kept := value()
		if err := e.Insert(k, v); found {
			require.ErrorIs(t, err, cow.ErrExists)
		} else {
			require.NoError(t, err)
			put(kept)
		}
	case "setIf", "deleteIf":
		rev := rapid.SampledFrom([]uint64{old.rev, 0, old.rev + 1}).Draw(t, "rev")
		v, kept := value()
		f := func() error { return e.SetIf(k, rev, v) }
		if do == "deleteIf" {
			f = func() error { return e.DeleteIf(k, rev) }
		}
		switch err := f(); {
		case rev != old.rev || rev == e.Version(): // what this update wrote is pending
			require.ErrorIs(t, err, cow.ErrRevision)
		case do == "deleteIf":
			require.NoError(t, err)
			delete(x.model, k)
		default:
			require.NoError(t, err)
			put(kept)
		}
	case "modify", "upsert":
		v, kept := value()
		var err error
		if do == "modify" {
			err = e.Modify(k, func(is *V) error {
				require.Equal(t, old.value, *is)
				*is = v
				return nil
			})
		} else {
			err = e.Upsert(k, func(is *V, had bool) error {
				require.Equal(t, found, had)
				require.Equal(t, old.value, *is)
				*is = v
				return nil
			})
		}
		x.spoil(v)
		if do == "modify" && !found {
			require.ErrorIs(t, err, cow.ErrNotFound)
			break
		}
		require.NoError(t, err)
		put(kept)
	case "modify badly":
		err := e.Modify(k, func(is *V) error { x.spoil(*is); return errModify })
		if found {
			require.ErrorIs(t, err, errModify)
		} else {
			require.ErrorIs(t, err, cow.ErrNotFound)
		}
	case "delete":
		require.Equal(t, found, e.Delete(k))
		delete(x.model, k)
	case "take":
		v, ok := e.Take(k)
		require.Equal(t, found, ok)
		require.Equal(t, old.value, v)
		x.spoil(v)
		delete(x.model, k)
	case "clear":
		if rapid.IntRange(0, 3).Draw(t, "clear") == 0 {
			e.Clear()
			clear(x.model)
		}
	}
	requireTable(t, x.model, e.Map(), x.spoil)
}

// requireTable requires that a map is what the model says, and modifies what it
// gives out as far as one can.
func requireTable[K comparable, V any](t *rapid.T, want table[K, V], m *snapshot.Map[K, V], spoil func(V)) {
	require.Equal(t, len(want), m.Len())
	for k, r := range want {
		v, ok := m.Get(k)
		require.True(t, ok)
		require.Equal(t, r.rev, m.Revision(k))
		require.Equal(t, r.value, v)
		spoil(v)
	}
	n := 0
	for k := range m.Keys() {
		require.Contains(t, want, k)
		n++
	}
	require.Equal(t, len(want), n)
}
