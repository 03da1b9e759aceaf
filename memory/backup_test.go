package memory_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
)

// aMemory returns one with all that a backup keeps.
func aMemory(t testing.TB) *memory.Memory {
	t.Helper()
	m := memory.New(memory.Options{})
	a, b := m.Space("user", "1"), m.Space("user", "2")
	for i := range 50 {
		_, err := a.PutItem(fmt.Sprint(i%30), memory.Item{Value: map[string]any{"text": fmt.Sprint("note number ", i)}, Vector: []float32{float32(i), 1, -2},
			Metadata: map[string]any{"n": i}})
		require.NoError(t, err)
	}
	_, err := b.PutItem("soon", memory.Item{Value: 1, TTL: time.Hour})
	require.NoError(t, err)
	require.NoError(t, m.Batch(func(e *memory.Batch) error {
		e.Space("user", "2").Configure(memory.SpaceOptions{MaxEntries: 7, TTL: memory.Never})
		return nil
	}))
	_, err = a.Delete("3")
	require.NoError(t, err)
	return m
}

func backup(t testing.TB, m *memory.Memory) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, m.Backup(&b))
	return b.String()
}

func TestRestoredGoesOn(t *testing.T) {
	m := aMemory(t)
	text := backup(t, m)
	n := memory.New(memory.Options{})
	n.DB().Retain(cow.Retention{Versions: 10})
	lines, err := n.Restore(t.Context(), strings.NewReader(text))
	require.NoError(t, err)
	require.Equal(t, 31, lines) // 29 and 1 entries, 1 configuration
	require.NoError(t, n.CheckDerived())
	require.Equal(t, text, backup(t, n))
	was, is := m.Load(), n.Load()
	require.Equal(t, was.Version(), is.Version())
	require.Equal(t, memory.SpaceOptions{MaxEntries: 7, TTL: memory.Never}, is.Space("user", "2").Options())
	for space := range was.Spaces(memory.SpacesOptions{}) {
		for e := range was.Space(space...).List(memory.ListOptions{}) {
			again, ok := is.Space(space...).Entry(e.Key)
			require.True(t, ok)
			require.Equal(t, e.Revision, again.Revision)
			require.True(t, e.Created.Equal(again.Created) && e.Updated.Equal(again.Updated) && e.Expires.Equal(again.Expires))
		}
	}
	for _, query := range []string{"note", "number 7", "49"} {
		a, err := was.Space("user", "1").Search(memory.Query{Text: query, K: 10})
		require.NoError(t, err)
		b, err := is.Space("user", "1").Search(memory.Query{Text: query, K: 10})
		require.NoError(t, err)
		require.Equal(t, keysAndScores(a), keysAndScores(b))
	}

	// A cursor of the one is good for the other.
	_, err = n.Space("user", "1").SetIf("4", revisionOf(is, "4"), "new")
	require.NoError(t, err)
	for c, err := range n.Resume(context.Background(), m.DB().Cursor(was.Version())) {
		require.NoError(t, err)
		require.Equal(t, was.Version()+1, c.Version)
		require.Equal(t, "4", c.Key)
		break
	}
	require.Equal(t, m.DB().Lineage().ID, n.DB().Lineage().ID)
}

func revisionOf(s memory.Snapshot, key string) uint64 {
	e, _ := s.Space("user", "1").Entry(key)
	return e.Revision
}

func keysAndScores(hits []memory.Hit) (all []string) {
	for _, h := range hits {
		all = append(all, fmt.Sprint(h.Key, " ", h.Score))
	}
	return all
}

// A backup can be imported like any other export, as new entries.
func TestABackupIsAnExport(t *testing.T) {
	m := aMemory(t)
	n := memory.New(memory.Options{})
	lines, err := n.Import(t.Context(), strings.NewReader(backup(t, m)))
	require.NoError(t, err)
	require.Equal(t, 31, lines)
	require.NotEqual(t, m.DB().Lineage().ID, n.DB().Lineage().ID)
	var a, b bytes.Buffer
	require.NoError(t, m.Load().Export(&a))
	require.NoError(t, n.Load().Export(&b))
	require.Equal(t, a.String(), b.String())
}

func TestRestoreRefuses(t *testing.T) {
	const cursor = `{"cursor":"PPX4P3PXMKBNN6MVAUCR5Z6X3D.12","time":"2027-01-01T10:00:00Z"}` + "\n"
	const good = `{"space":["s"],"key":"k","value":1,"revision":3}` + "\n"
	for _, bad := range []string{
		``, good, cursor + cursor, good + cursor,
		`{"cursor":"PPX4P3PXMKBNN6MVAUCR5Z6X3D.12"}`, `{"time":"2027-01-01T10:00:00Z"}`, `{"cursor":"","time":"2027-01-01T10:00:00Z"}`, `{"cursor":"PPX4P3PXMKBNN6MVAUCR5Z6X3D","time":"2027-01-01T10:00:00Z"}`,
		`{"cursor":" PPX4P3PXMKBNN6MVAUCR5Z6X3D.12","time":"2027-01-01T10:00:00Z"}`, `{"cursor":"PPX4P3PXMKBNN6MVAUCR5Z6X3D.12\n","time":"2027-01-01T10:00:00Z"}`,
		`{"cursor":"ABC.12","time":"2027-01-01T10:00:00Z"}`, `{"cursor":"ppx4p3pxmkbnn6mvaucr5z6x3d.12","time":"2027-01-01T10:00:00Z"}`,
		`{"cursor":"PPX4P3PXMKBNN6MVAUCR5Z6X3D.0","time":"2027-01-01T10:00:00Z"}`, `{"cursor":3,"time":"2027-01-01T10:00:00Z"}`, `{"cursor":"PPX4P3PXMKBNN6MVAUCR5Z6X3D.12","time":3}`,
		`{"cursor":"PPX4P3PXMKBNN6MVAUCR5Z6X3D.12","time":"2027-01-01T10:00:00Z","space":[]}`,
		cursor + `{"space":["s"],"key":"k","value":1,"revision":-1}`, cursor + `{"space":["s"],"key":"k","value":1,"revision":"x"}`,
	} {
		m := memory.New(memory.Options{})
		n, err := m.Restore(t.Context(), strings.NewReader(bad))
		require.ErrorIs(t, err, memory.ErrMalformed, bad)
		require.Zero(t, n)
		require.Zero(t, m.Load().Version())
	}
	for bad, sentinel := range map[string]error{
		`{"space":["s"],"key":"k","value":1,"revision":13}`: nil,
		`{"space":["s"],"key":"k","value":1}`:               nil,
		`{"space":["s"],"key":"a","vector":[1],"revision":1}` + "\n" + `{"space":["s"],"key":"b","vector":[1,2],"revision":1}`: memory.ErrDimension,
	} {
		m := memory.New(memory.Options{})
		_, err := m.Restore(t.Context(), strings.NewReader(cursor+good+bad))
		require.Error(t, err, bad)
		if sentinel != nil {
			require.ErrorIs(t, err, sentinel)
		}
		require.Zero(t, m.Load().Version())
		require.Zero(t, m.Load().Len())
		_, err = m.Restore(t.Context(), strings.NewReader(cursor+good)) // which the one before has not spoilt
		require.NoError(t, err)
		require.NoError(t, m.CheckDerived())
		_, err = m.Restore(t.Context(), strings.NewReader(cursor+good))
		require.ErrorIs(t, err, cow.ErrNotEmpty)
	}
	require.Empty(t, backup(t, memory.New(memory.Options{})))
}

// An ending is a context that ends when somebody has looked so often whether it has.
type ending struct {
	context.Context
	looks int
}

func (e *ending) Err() error {
	if e.looks--; e.looks < 0 {
		return context.Canceled
	}
	return nil
}

// Whenever the context ends, nothing is restored: while the lines are read, and while they are
// stored.
func TestRestoreEndsWithItsContext(t *testing.T) {
	text := backup(t, aMemory(t))
	for looks := 0; ; looks++ {
		m := memory.New(memory.Options{})
		n, err := m.Restore(&ending{context.Background(), looks}, strings.NewReader(text))
		if err == nil {
			require.Equal(t, 31+31+1, looks, "at each line, and when all is there")
			require.Equal(t, text, backup(t, m))
			break
		}
		require.ErrorIs(t, err, context.Canceled)
		require.Zero(t, n)
		require.Zero(t, m.Load().Version())
	}
}

// What the limits do not allow goes with later writes, not at once.
func TestRestoreKeepsAll(t *testing.T) {
	n := memory.New(memory.Options{MaxEntries: 10})
	lines, err := n.Restore(t.Context(), strings.NewReader(backup(t, aMemory(t))))
	require.NoError(t, err)
	require.Equal(t, 31, lines)
	require.Equal(t, 30, n.Load().Len())
	_, err = n.Space("user", "1").Put("x", 1)
	require.NoError(t, err)
	require.Equal(t, 10, n.Load().Len())
}
