package cow_test

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/internal/sink"
)

// A pinner is a sink that keeps pins, or says why not.
type pinner struct {
	aSink
	told []string
	err  error
}

func (p *pinner) tell(what string) func() error {
	p.told = append(p.told, what)
	return func() error { return p.err }
}

func (p *pinner) Pin(name string, version uint64) func() error {
	return p.tell(fmt.Sprint("pin ", name, version))
}
func (p *pinner) Unpin(name string) func() error { return p.tell("unpin " + name) }

// Pins are there once the sink has them, and stay until it has let go of them.
func TestASinkKeepsPins(t *testing.T) {
	c := newCounts()
	for i := range 3 {
		require.NoError(t, c.set("a", i))
	}
	require.NoError(t, c.db.Pin("own", 3))
	require.NoError(t, c.set("a", 9))
	p := new(pinner)
	l := sink.For(&c.db)
	require.NoError(t, l.Attach(p, l.Contents(), nil))
	pins := func() map[string]uint64 {
		all := map[string]uint64{}
		for name, s := range c.db.Pins() {
			all[name] = s.Version()
		}
		return all
	}
	require.Equal(t, map[string]uint64{"own": 3}, pins(), "it was in the contents")

	require.NoError(t, c.db.Pin("p", 4))
	require.ErrorIs(t, c.db.Pin("p", 5), cow.ErrUnpublished)
	require.ErrorIs(t, c.db.Pin("p", 1), cow.ErrCompacted)
	require.NoError(t, c.db.Pin("q", 3), "of another pin")
	require.False(t, c.db.Unpin("none"))
	require.Equal(t, []string{"pin p4", "pin q3"}, p.told)

	p.err = errors.New("no")
	require.Equal(t, p.err, c.db.Pin("p", 3))
	require.Equal(t, p.err, c.db.Pin("r", 3))
	require.False(t, c.db.Unpin("q"))
	require.Equal(t, map[string]uint64{"own": 3, "p": 4, "q": 3}, pins())
	p.err = nil
	require.True(t, c.db.Unpin("q"))
	require.NoError(t, c.db.Pin("p", 3))
	require.Equal(t, map[string]uint64{"own": 3, "p": 3}, pins())

	l.Fail(errTest)
	require.ErrorIs(t, c.db.Pin("p", 4), errTest)
	require.False(t, c.db.Unpin("p"))
	require.NoError(t, c.db.Close())
	require.Equal(t, map[string]uint64{"own": 3, "p": 3}, pins())
}

// What the contents of one DB say of its pins makes the same pins in another, which share what
// they have in common, and have indexes.
func TestContentsHavePins(t *testing.T) {
	c := newCounts()
	c.db.Retain(cow.Retention{Versions: 100})
	for i := range 40 {
		require.NoError(t, c.set(fmt.Sprint(i%7), i))
		if i%11 == 5 {
			require.NoError(t, c.db.Update(func(tx *cow.Tx) error { c.t.Edit(tx).Delete(fmt.Sprint((i + 2) % 7)); return nil }))
		}
	}
	current := c.db.Load().Version()
	for i, version := range []uint64{0, 3, 4, 4, 11, 12, 30, current} {
		require.NoError(t, c.db.Pin(fmt.Sprint("p", i), version))
	}
	d := newCounts()
	byNumber, err := cow.NewIndex(d.t, "number", func(r cow.Row[string, int]) int { return r.Value() }, cow.IndexOptions[string]{})
	require.NoError(t, err)
	require.NoError(t, d.db.Pin("dropped", 0))
	require.NoError(t, sink.For(&d.db).Attach(new(pinner), sink.For(&c.db).Contents(), nil))
	n := 0
	is := maps.Collect(d.db.Pins())
	for name, want := range c.db.Pins() {
		n++
		got, ok := is[name]
		require.True(t, ok)
		require.Equal(t, want.Version(), got.Version())
		require.Equal(t, collect(c.t.In(want)), collect(d.t.In(got)))
		for key := range c.t.In(want).Keys() {
			require.Equal(t, c.t.In(want).Revision(key), d.t.In(got).Revision(key))
		}
		last := -1
		for number, row := range byNumber.In(d.t.In(got)).All() {
			require.Less(t, last, number)
			require.Equal(t, number, row.Value())
			last = number
		}
		require.Equal(t, byNumber.In(d.t.In(got)).Len(), d.t.In(got).Len())
		at, err := d.db.At(want.Version())
		require.NoError(t, err)
		require.Equal(t, want.Version(), at.Version())
	}
	require.Len(t, is, n)
	require.Equal(t, collect(c.t.In(c.db.Load())), collect(d.t.In(d.db.Load())))

	// A row that a pin cannot have is an error, and the DB is as it was.
	e := newCounts()
	bad := sink.For(&c.db).Contents()
	for i := range bad.Pins {
		bad.Pins[i].Rows = func(yield func(sink.Row, error) bool) {
			yield(sink.Row{Key: []byte("x"), Revision: 1 << 40}, nil)
		}
	}
	require.ErrorContains(t, sink.For(&e.db).Attach(new(pinner), bad, nil), "has a row of version")
	require.Zero(t, e.db.Load().Version())
	require.Empty(t, maps.Collect(e.db.Pins()))
}
