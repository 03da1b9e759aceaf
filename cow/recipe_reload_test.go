package cow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
)

// The recipe: configuration in a Store that follows a JSON file.

// A reloader keeps a Store at what a file says: one JSON object, whose fields are
// the rows. A file is taken whole or not at all: one that cannot be read, is no
// such object, has a field that V does not know, or that check refuses, changes
// nothing, and is reported, once. Rows that are the same in a new file are not
// written, so that nobody who watches them is woken.
//
// It is for one goroutine, and nobody else writes the Store.
type reloader[V any] struct {
	store  *cow.Table[string, V]
	path   string
	check  func(map[string]V) error // of all rows; nil: anything will do
	report func(error)

	seen    fs.FileInfo // of the file that was read last; nil: of none
	settled bool        // it was old enough then for its time and size to tell of changes
	text    []byte      // what it had
	result  error       // what came of that
	failure string      // what the last poll reported, or would have
}

// unsettled is how long after a change a file may change again without a sign of
// it: clocks of file systems are coarse.
const unsettled = 2 * time.Second

// run polls when it begins and at each tick, until ctx ends or ticks is closed.
// Ticks come from a time.Ticker, or from whatever tells of changes.
func (r *reloader[V]) run(ctx context.Context, ticks <-chan time.Time) {
	for {
		r.poll()
		select {
		case <-ctx.Done():
			return
		case _, ok := <-ticks:
			if !ok {
				return
			}
		}
	}
}

// poll loads the file, and reports an error unless the poll before had the same.
func (r *reloader[V]) poll() {
	err := r.load()
	if err == nil {
		r.failure = ""
		return
	}
	if err.Error() != r.failure {
		r.failure = err.Error()
		r.report(err)
	}
}

// load brings the Store up to the file, if it may have changed, and returns what
// is wrong with it.
func (r *reloader[V]) load() error {
	now, err := os.Stat(r.path)
	if err != nil {
		return err
	}
	if r.settled && os.SameFile(now, r.seen) && now.Size() == r.seen.Size() && now.ModTime().Equal(r.seen.ModTime()) {
		return r.result
	}
	settled := time.Since(now.ModTime()) > unsettled
	text, err := os.ReadFile(r.path) // what is written from here on is seen by the next load
	if err != nil {
		return err
	}
	again := r.seen != nil && bytes.Equal(text, r.text)
	r.seen, r.settled, r.text = now, settled, text
	if !again {
		r.result = r.put(text)
	}
	return r.result
}

func (r *reloader[V]) put(text []byte) error {
	rows, err := decodeRows[V](text)
	if err == nil && r.check != nil {
		err = r.check(rows)
	}
	if err == nil {
		err = r.store.Sync(maps.All(rows), func(a, b V) bool { return reflect.DeepEqual(a, b) })
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.path, err)
	}
	return nil
}

// decodeRows decodes one JSON object and nothing else.
func decodeRows[V any](text []byte) (rows map[string]V, err error) {
	if !json.Valid(text) {
		return nil, errors.New("not one JSON value")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&rows); err != nil {
		return nil, err
	}
	if rows == nil { // null: it would remove everything
		return nil, errors.New("no object")
	}
	return rows, nil
}

// The tests.

type upstream struct {
	Weight int
	Zone   string
}

// checkUpstreams refuses what no upstream may be.
func checkUpstreams(rows map[string]upstream) (err error) {
	if _, ok := rows["default"]; !ok {
		err = errors.New("no default")
	}
	for name, u := range rows {
		if u.Zone == "" {
			err = errors.Join(err, fmt.Errorf("%s has no zone", name))
		}
	}
	return err
}

// A configured is a reloader with its file, and what it has reported.
type configured struct {
	*reloader[upstream]
	t       *testing.T
	reports []error
}

func configure(t *testing.T) *configured {
	c := &configured{t: t}
	c.reloader = &reloader[upstream]{
		store:  cow.New[string](cow.Options[upstream]{}),
		path:   filepath.Join(t.TempDir(), "upstreams.json"),
		check:  checkUpstreams,
		report: func(err error) { c.reports = append(c.reports, err) },
	}
	return c
}

// write writes the file in place.
func (c *configured) write(text string) {
	require.NoError(c.t, os.WriteFile(c.path, []byte(text), 0o600))
}

// move puts another file in its place.
func (c *configured) move(text string) {
	require.NoError(c.t, os.WriteFile(c.path+".new", []byte(text), 0o600))
	require.NoError(c.t, os.Rename(c.path+".new", c.path))
}

// revisions are where the Store is, and each row.
func (c *configured) revisions() (version uint64, rows map[string]uint64) {
	m := c.store.Load()
	rows = map[string]uint64{}
	for key := range m.Keys() {
		rows[key] = m.Revision(key)
	}
	return m.Version(), rows
}

func (c *configured) requireRevisions(version uint64, rows map[string]uint64) {
	c.t.Helper()
	is, got := c.revisions()
	require.Equal(c.t, version, is)
	require.Equal(c.t, rows, got)
}

// A new file writes the rows that differ in it, all in one version.
func TestRecipeReloadWritesWhatDiffers(t *testing.T) {
	c := configure(t)
	c.write(`{"default":{"zone":"a"},"blue":{"zone":"b"},"green":{"zone":"g","weight":1}}`)
	c.poll()
	c.requireRevisions(1, map[string]uint64{"default": 1, "blue": 1, "green": 1})

	c.move(`{"green":{"weight":2,"zone":"g"},"default":{"zone":"a"},"red":{"zone":"r"}}`)
	c.poll()
	c.requireRevisions(2, map[string]uint64{"default": 1, "green": 2, "red": 2})

	c.write("{ \"red\":{\"zone\":\"r\"},\n\"default\":{\"zone\":\"a\"}, \"green\":{\"zone\":\"g\",\"weight\":2}}\n")
	c.poll()
	c.requireRevisions(2, map[string]uint64{"default": 1, "green": 2, "red": 2})
	require.Empty(t, c.reports)
}

// A bad file is reported once, and the last good one counts until there is another.
func TestRecipeReloadRefusesWhole(t *testing.T) {
	good := `{"default":{"zone":"a"}}`
	for name, bad := range map[string]string{
		"empty":     "",
		"cut off":   `{"default":{"zone":"b"},"blue":{"add`,
		"null":      "null",
		"no object": `["default"]`,
		"two":       `{"default":{"zone":"b"}} {}`,
		"unknown":   `{"default":{"zone":"b","wieght":3}}`,
		"type":      `{"default":{"zone":"b","weight":"3"}}`,
		"refused":   `{"default":{"zone":"b"},"blue":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			c := configure(t)
			c.write(good)
			c.poll()
			c.write(bad)
			c.poll()
			c.poll()
			require.Len(t, c.reports, 1)
			require.ErrorContains(t, c.reports[0], c.path)
			c.requireRevisions(1, map[string]uint64{"default": 1})

			c.write(good)
			c.poll()
			c.requireRevisions(1, map[string]uint64{"default": 1})
			c.write(bad)
			c.poll()
			require.Len(t, c.reports, 2, "it is bad again")
		})
	}
	t.Run("removed", func(t *testing.T) {
		c := configure(t)
		c.write(good)
		c.poll()
		require.NoError(t, os.Remove(c.path))
		c.poll()
		c.poll()
		require.Len(t, c.reports, 1)
		require.ErrorIs(t, c.reports[0], fs.ErrNotExist)
		c.requireRevisions(1, map[string]uint64{"default": 1})
	})
}

// A change shows although the file has the time and the size that it had; and a
// file that has been left alone for a while is not read again.
func TestRecipeReloadSeesChanges(t *testing.T) {
	c := configure(t)
	touch := func(age time.Duration) {
		at := time.Now().Add(-age).Truncate(time.Second)
		require.NoError(t, os.Chtimes(c.path, at, at))
	}
	c.write(`{"default":{"zone":"a"}}`)
	touch(-time.Hour) // by the clock of another machine: it does not settle before that
	c.poll()
	require.False(t, c.settled)
	at := c.seen.ModTime()
	c.write(`{"default":{"zone":"b"}}`)
	require.NoError(t, os.Chtimes(c.path, at, at))
	c.poll()
	c.requireRevisions(2, map[string]uint64{"default": 2})

	touch(time.Hour)
	c.poll()
	require.True(t, c.settled)
	c.text = nil // which a load that reads would set
	c.poll()
	require.Nil(t, c.text)
	c.write(`{"default":{"zone":"c"}}`)
	c.poll()
	c.requireRevisions(3, map[string]uint64{"default": 3})
}

// Who watches a row is woken when that changes, and by no other reload, good or
// bad.
func TestRecipeReloadWakesWhomItConcerns(t *testing.T) {
	noDeadlock(t)
	c := configure(t)
	c.write(`{"default":{"zone":"a"},"blue":{"zone":"b"}}`)
	c.poll()

	ctx, cancel := context.WithCancel(t.Context())
	var watcher, loop sync.WaitGroup
	woken := make(chan uint64, 10)
	watcher.Go(func() {
		defer close(woken)
		seen := c.store.DB().Load()
		for {
			now, err := c.store.DB().Watch(ctx, seen, c.store.OnKeys("blue"))
			if err != nil {
				return
			}
			woken <- c.store.In(now).Revision("blue")
			seen = now
		}
	})
	watching := func() bool { return c.store.DB().Stats().Waiting == 1 }
	until(t, watching, "the watcher watches")

	ticks := make(chan time.Time)
	loop.Go(func() { c.run(ctx, ticks) })
	tick := func() { ticks <- time.Time{} }
	for _, text := range []string{
		`{"default":{"zone":"a2"},"blue":{"zone":"b"}}`,
		`{"default":{"zone":"a2"},"blue":{}}`,
		`{"default":{"zone":"a3"},"blue":{"zone":"b"},"red":{"zone":"r"}}`,
		`{"default":{"zone":"a3"},"blue":{"zone":"b2"}}`,
	} {
		c.move(text)
		tick()
		tick() // what the first has begun has ended
	}
	close(ticks)
	loop.Wait()
	require.Equal(t, uint64(4), c.store.Load().Version())
	require.Len(t, c.reports, 1)
	require.Equal(t, uint64(4), <-woken)
	until(t, watching, "it has seen all")
	cancel()
	watcher.Wait()
	require.Empty(t, woken)
}
