package cow_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/cowtest"
	"github.com/cowstore/cowstore/cow/internal/sink"
	"github.com/cowstore/cowstore/snapshot"
)

// jsonCodec is a Codec for tests.
type jsonCodec[V any] struct{}

func (jsonCodec[V]) Append(b []byte, v V) ([]byte, error) {
	text, err := json.Marshal(v)
	return append(b, text...), err
}

func (jsonCodec[V]) Decode(b []byte) (v V, err error) {
	err = json.Unmarshal(b, &v)
	return v, err
}

// counts is a DB with a table of numbers, a second one, and a Sink.
type counts struct {
	db   cow.DB
	t, u *cow.Table[string, int]
	sink *cowtest.Sink
}

func newCounts() *counts {
	c := new(counts)
	c.t = cow.NewTable[string](&c.db, "t", cow.Options[int]{Codec: jsonCodec[int]{}})
	c.u = cow.NewTable[string](&c.db, "u", cow.Options[int]{Codec: jsonCodec[int]{}})
	return c
}

func (c *counts) attach(t *testing.T, o cowtest.SinkOptions) *counts {
	t.Helper()
	c.sink = cowtest.Attach(t, &c.db, o)
	return c
}

// set sets a key of the first table.
func (c *counts) set(key string, n int) error {
	return c.db.Update(func(tx *cow.Tx) error { c.t.Edit(tx).Set(key, n); return nil })
}

// get returns what is published.
func (c *counts) get(key string) int {
	n, _ := c.t.In(c.db.Load()).Get(key)
	return n
}

// begin begins an update and returns once it is proposed. The channel gets what it
// returns.
func (c *counts) begin(t *testing.T, key string, n int) <-chan error {
	t.Helper()
	before := len(c.sink.Pending())
	err := outcome(func() error { return c.set(key, n) })
	_, waited := c.sink.Await(t.Context(), before+1)
	require.NoError(t, waited)
	return err
}

// outcome calls f in a goroutine of its own and returns what it returns.
func outcome(f func() error) <-chan error {
	c := make(chan error, 1)
	go func() { c <- f() }()
	return c
}

// commit makes updates of a replica of c.db, which happen there, and returns their
// commits, which come from elsewhere for c.
func (c *counts) elsewhere(t *testing.T, updates ...func(r *counts, tx *cow.Tx)) []*sink.Commit {
	t.Helper()
	r := newCounts().attach(t, cowtest.SinkOptions{Of: c.sink})
	var commits []*sink.Commit
	for _, f := range updates {
		err := outcome(func() error {
			return r.db.Update(func(tx *cow.Tx) error { f(r, tx); return nil })
		})
		_, waited := r.sink.Await(t.Context(), 1)
		require.NoError(t, waited)
		commits = append(commits, r.sink.Ack(1)...)
		require.NoError(t, <-err)
	}
	return commits
}

// setting is an update for elsewhere.
func setting(key string, n int) func(r *counts, tx *cow.Tx) {
	return func(r *counts, tx *cow.Tx) { r.t.Edit(tx).Set(key, n) }
}

// collect returns the rows of a map.
func collect[K comparable, V any](m *snapshot.Map[K, V]) map[K]V { return maps.Collect(m.All()) }

// index makes another index of the table of numbers.
func (c *counts) index() error {
	_, err := cow.NewMultiIndex(c.t, "another", itself[int], cow.IndexOptions[string]{})
	return err
}
