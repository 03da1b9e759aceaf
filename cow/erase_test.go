package cow_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/cowtest"
	"github.com/cowstore/cowstore/cow/internal/sink"
	"github.com/cowstore/cowstore/snapshot"
)

// An erasing is a DB with a table, a derived one, and what was erased from them.
type erasing struct {
	db     *cow.DB
	notes  *cow.Table[string, []string]
	other  *cow.Table[string, []string]
	words  *cow.Table[string, int] // derived: how many notes have a word, and of "" how many there are
	byWord *cow.Index[string, []string, string]
	late   *cow.Table[string, []string] // derived, since some version: notes
}

func newErasing(t testing.TB) *erasing {
	x := &erasing{db: new(cow.DB)}
	x.notes = cow.NewTable[string](x.db, "notes", cow.Options[[]string]{Codec: cow.Versioned[[]string]{}})
	x.other = cow.NewTable[string](x.db, "other", cow.Options[[]string]{Codec: cow.Versioned[[]string]{}})
	var err error
	x.byWord, err = cow.NewMultiIndex(x.notes, "word", func(r cow.Row[string, []string], add func(string)) {
		for _, w := range r.Shared() {
			add(w)
		}
	}, cow.IndexOptions[string]{})
	require.NoError(t, err)
	x.words, err = cow.NewDerived(x.db, "words", cow.Options[int]{}, func(tx *cow.Tx, e *cow.Editor[string, int]) error {
		count := func(words []string, n int) {
			for _, w := range words {
				_ = e.Upsert(w, func(v *int, _ bool) error { *v += n; return nil })
				if v, _ := e.Get(w); v == 0 {
					e.Delete(w)
				}
			}
		}
		for c := range x.notes.Changes(tx) {
			if old, ok := c.Old(); ok {
				count(old, -1)
			}
			if is, ok := c.New(); ok {
				count(is, 1)
			}
		}
		switch n, _ := e.Get(""); x.notes.Edit(tx).Len() {
		case n:
		case 0:
			e.Delete("")
		default:
			e.Set("", x.notes.Edit(tx).Len())
		}
		return nil
	})
	require.NoError(t, err)
	return x
}

// copies makes a derived table that has what a table has.
func copies[V any](of *cow.Table[string, V]) func(tx *cow.Tx, e *cow.Editor[string, V]) error {
	return func(tx *cow.Tx, e *cow.Editor[string, V]) error {
		for c := range of.Changes(tx) {
			if v, ok := c.New(); ok {
				e.Set(c.Key, v)
			} else {
				e.Delete(c.Key)
			}
		}
		return nil
	}
}

// derive derives one more table from now on.
func (x *erasing) derive(t testing.TB) {
	late, err := cow.NewDerived(x.db, "late", cow.Options[[]string]{}, copies(x.notes))
	require.NoError(t, err)
	x.late = late
}

// contents are all rows that a snapshot has, with their revisions, and what follows from them.
func (x *erasing) contents(s *cow.Snapshot) map[string]string {
	all := map[string]string{}
	for key, v := range x.notes.In(s).All() {
		all["notes "+key] = fmt.Sprint(v, x.notes.In(s).Revision(key))
	}
	for key, v := range x.other.In(s).All() {
		all["other "+key] = fmt.Sprint(v, x.other.In(s).Revision(key))
	}
	for word, n := range x.words.In(s).All() {
		all["words "+word] = fmt.Sprint(n)
	}
	if x.late != nil {
		for key, v := range x.late.In(s).All() {
			all["late "+key] = fmt.Sprint(v)
		}
	}
	for word, row := range x.byWord.In(x.notes.In(s)).All() {
		all["index "+word+" "+row.Key()] = fmt.Sprint(row.Revision())
	}
	return all
}

// without returns contents as if the note of key had never been there.
func (x *erasing) without(s *cow.Snapshot, keys ...string) map[string]string {
	all := x.contents(s)
	for _, key := range keys {
		words, ok := x.notes.In(s).Get(key)
		if ok {
			words = append(words, "") // of what is counted
		}
		for _, w := range words {
			n := 0
			fmt.Sscan(all["words "+w], &n)
			if all["words "+w] = fmt.Sprint(n - 1); n == 1 {
				delete(all, "words "+w)
			}
			delete(all, "index "+w+" "+key)
		}
		delete(all, "notes "+key)
		delete(all, "late "+key)
	}
	return all
}

func TestEraseTakesOneKeyOutOfEveryVersion(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 36))
		x := newErasing(t)
		if seed%5 > 0 {
			x.db.Retain(cow.Retention{Versions: []int{500, 25}[seed%2]})
		}
		var was []*cow.Snapshot
		key := func() string { return fmt.Sprint("k", min(r.IntN(6), r.IntN(6))) } // some seldom
		step := func() {
			require.NoError(t, x.db.Update(func(tx *cow.Tx) error {
				for range 1 + r.IntN(3) {
					e := x.notes.Edit(tx)
					switch r.IntN(12) {
					case 0, 1:
						e.Delete(key())
					case 2:
						e.Clear()
					case 3:
						x.other.Edit(tx).Set(key(), []string{"x"})
					default:
						words := []string{"a", "b", "c", "d"}
						r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
						e.Set(key(), words[:r.IntN(4)])
					}
				}
				return nil
			}))
			if s := x.db.Load(); len(was) == 0 || was[len(was)-1].Version() < s.Version() {
				was = append(was, s)
			}
			if r.IntN(20) == 0 {
				require.NoError(t, x.db.Pin(fmt.Sprint("p", r.IntN(4)), x.db.Load().Version()))
			}
		}
		var gone []string
		for range 1 + r.IntN(2) {
			for range r.IntN(150) {
				step()
				if x.late == nil && r.IntN(50) == 0 {
					x.derive(t)
				}
			}
			// A commit of its own, in which other keys change too.
			keys := []string{key()}
			if r.IntN(3) == 0 {
				keys = append(keys, "never")
			}
			before := x.db.Load().Version()
			others, err := x.db.Erase(context.Background(), func(tx *cow.Tx) error {
				for _, key := range keys {
					x.notes.Erase(tx, key)
				}
				if r.IntN(2) == 0 {
					x.notes.Edit(tx).Set("set", []string{"a"})
				}
				return nil
			})
			require.NoError(t, err)
			require.Empty(t, others)
			require.Equal(t, before+1, x.db.Load().Version())
			gone = append(gone, keys...)
			for i, s := range was { // what a reader holds is as it was; what is held for readers is not
				at, err := x.db.At(s.Version())
				if err != nil {
					require.ErrorIs(t, err, cow.ErrCompacted)
					continue
				}
				require.Equal(t, s.Version(), at.Version())
				require.Equal(t, x.without(s, keys...), x.contents(at), "seed %d version %d", seed, s.Version())
				was[i] = at
			}
			was = append(was, x.db.Load())
			for name, s := range x.db.Pins() {
				for _, key := range keys {
					require.False(t, x.notes.In(s).Has(key), name)
				}
				at, err := x.db.At(s.Version())
				require.NoError(t, err)
				require.Equal(t, x.contents(at), x.contents(s))
			}
		}
		if seed%5 == 0 {
			continue
		}
		// The commits tell how each version follows from the one before.
		var last uint64
		for last = range x.db.Versions() {
			break
		}
		told := x.contents(mustIndex(x.db.At(last)))
		maps.DeleteFunc(told, func(k, _ string) bool { return strings.HasPrefix(k, "index ") || strings.HasPrefix(k, "late ") })
		for c, err := range x.db.Commits(last) {
			require.NoError(t, err)
			require.Equal(t, last+1, c.Version())
			last = c.Version()
			at := mustIndex(x.db.At(c.Version()))
			apply(t, told, x.notes, "notes ", c, at)
			apply(t, told, x.other, "other ", c, at)
			is := maps.Clone(x.contents(at))
			maps.DeleteFunc(is, func(k, _ string) bool { return !strings.HasPrefix(k, "notes ") && !strings.HasPrefix(k, "other ") })
			maps.DeleteFunc(told, func(k, _ string) bool { return strings.HasPrefix(k, "words ") })
			require.Equal(t, is, told, "seed %d version %d", seed, c.Version())
			for change := range x.words.Rows(c) {
				n, ok := x.words.In(at).Get(change.Key)
				now, has := change.New()
				require.Equal(t, []any{n, ok}, []any{now, has})
			}
			if erased := c.Version(); erased == x.db.Load().Version() {
				for _, key := range gone[len(gone)-1:] {
					require.Equal(t, cow.Erased, didTo(x.notes, c, key))
				}
			}
		}
		require.Equal(t, x.db.Load().Version(), last)
	}
}

func didTo(table *cow.Table[string, []string], c *cow.Commit, key string) snapshot.Kind {
	for change := range table.Rows(c) {
		if change.Key == key {
			return change.Kind
		}
	}
	return 0
}

// apply applies what a commit did to a table to what is told of it.
func apply(t *testing.T, told map[string]string, table *cow.Table[string, []string], prefix string, c *cow.Commit, at *cow.Snapshot) {
	for change := range table.Rows(c) {
		old, had := change.Old()
		if was, ok := told[prefix+change.Key]; change.Kind != cow.Erased {
			require.Equal(t, ok, had, "%s %s", prefix, change.Key)
			require.True(t, !had || strings.HasPrefix(was, fmt.Sprint(old)))
		} else {
			require.False(t, ok)
			require.False(t, had)
		}
		if is, ok := change.New(); ok {
			told[prefix+change.Key] = fmt.Sprint(is, c.Version())
			require.Equal(t, c.Version(), table.In(at).Revision(change.Key))
		} else {
			delete(told, prefix+change.Key)
		}
	}
}

func TestEraseTellsWhoElseHasIt(t *testing.T) {
	x := newErasing(t)
	_, err := x.notes.Set("secret", []string{"a"})
	require.NoError(t, err)
	fork := x.db.Fork(x.db.Load())
	without := x.db.Fork(nil)
	others, err := x.db.Erase(context.Background(), func(tx *cow.Tx) error { x.notes.Erase(tx, "secret"); return nil })
	require.NoError(t, err)
	require.Equal(t, []*cow.DB{fork}, others)
	others, err = fork.Erase(context.Background(), func(tx *cow.Tx) error { x.notes.Erase(tx, "secret"); return nil })
	require.NoError(t, err)
	require.Empty(t, others)
	require.False(t, x.notes.Of(fork).Has("secret"))
	_ = without
}

func TestEraseIsAnUpdate(t *testing.T) {
	x := newErasing(t)
	x.db.Retain(cow.Retention{Versions: 100})
	_, err := x.notes.Set("k", []string{"a"})
	require.NoError(t, err)
	_, err = x.db.Erase(context.Background(), func(tx *cow.Tx) error {
		x.notes.Erase(tx, "k")
		require.False(t, x.notes.Edit(tx).Has("k"))
		return context.Canceled
	})
	require.Equal(t, context.Canceled, err)
	require.True(t, x.notes.Has("k"))
	require.EqualValues(t, 1, x.db.Load().Version())
	_, err = x.db.Erase(context.Background(), func(*cow.Tx) error { return nil })
	require.NoError(t, err)
	require.EqualValues(t, 1, x.db.Load().Version(), "nothing was erased or changed")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = x.db.Erase(ctx, func(tx *cow.Tx) error { x.notes.Erase(tx, "k"); return nil })
	require.ErrorIs(t, err, context.Canceled)
	require.PanicsWithValue(t, "cow: Table.Erase outside of DB.Erase: use Edit and Delete, which leave the past as it is", func() {
		_ = x.db.Update(func(tx *cow.Tx) error { x.notes.Erase(tx, "k"); return nil })
	})
	// Set again in the same update, the new row stays, and the old one is gone.
	_, err = x.db.Erase(context.Background(), func(tx *cow.Tx) error {
		x.notes.Erase(tx, "k")
		x.notes.Edit(tx).Set("k", []string{"new"})
		return nil
	})
	require.NoError(t, err)
	v, _ := x.notes.Get("k")
	require.Equal(t, []string{"new"}, v)
	require.False(t, x.notes.In(mustIndex(x.db.At(1))).Has("k"))
	for c, err := range x.db.Commits(0) {
		require.NoError(t, err)
		for change := range x.notes.Rows(c) {
			_, had := change.Old()
			require.False(t, had)
			require.Equal(t, cow.Erased, change.Kind)
		}
	}
}

// Who follows gets what was erased as told, and what was not told yet without it.
func TestErasedForAFollower(t *testing.T) {
	x := newErasing(t)
	x.db.Retain(cow.Retention{Versions: 100})
	for i := range 4 {
		_, err := x.notes.Set(fmt.Sprint("k", i%2), []string{fmt.Sprint(i)})
		require.NoError(t, err)
	}
	_, err := x.db.Erase(context.Background(), func(tx *cow.Tx) error { x.notes.Erase(tx, "k1"); return nil })
	require.NoError(t, err)
	var told []string
	for c, err := range x.db.Commits(1) {
		require.NoError(t, err)
		for change := range x.notes.Rows(c) {
			told = append(told, fmt.Sprint(c.Version(), " ", change))
		}
	}
	require.Equal(t, []string{`3 changed "k0"`, `5 erased "k1"`}, told)
}

// Writers and readers go on while much of the past is made anew; what they find is whole.
func TestEraseBesideWriters(t *testing.T) {
	x := newErasing(t)
	x.db.Retain(cow.Retention{Age: time.Hour})
	for i := range 3000 {
		_, err := x.notes.Set([]string{"secret", "a", "b"}[i%3], []string{fmt.Sprint("w", i)})
		require.NoError(t, err)
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			_, err := x.notes.Set("a", []string{fmt.Sprint("v", i)})
			require.NoError(t, err)
			s, err := x.db.At(uint64(i % 3000))
			require.NoError(t, err)
			n, _ := x.words.In(s).Get("")
			require.Equal(t, x.notes.In(s).Len(), n)
		}
	}()
	_, err := x.db.Erase(context.Background(), func(tx *cow.Tx) error { x.notes.Erase(tx, "secret"); return nil })
	require.NoError(t, err)
	close(done)
	<-ended
	for v := range x.db.Versions() {
		require.False(t, x.notes.In(mustIndex(x.db.At(v))).Has("secret"))
	}
}

var aGlobal cow.DB

func TestForkOfAVariableOfThePackage(t *testing.T) {
	table := cow.NewTable[string](&aGlobal, "t", cow.Options[int]{})
	fork := aGlobal.Fork(nil)
	_, err := table.Of(fork).Set("k", 1)
	require.NoError(t, err)
	others, err := aGlobal.Erase(context.Background(), func(tx *cow.Tx) error { table.Erase(tx, "k"); return nil })
	require.NoError(t, err)
	require.Equal(t, []*cow.DB{fork}, others)
}

// What is erased at once is made anew in the order of the versions, in whatever order the updates end.
func TestErasesAtOnce(t *testing.T) {
	keys := []string{"k0", "k1", "k2", "k3"}
	for range 20 {
		x := newErasing(t)
		x.db.Retain(cow.Retention{Versions: 100})
		var was []*cow.Snapshot
		for i := range 30 {
			_, err := x.notes.Set(fmt.Sprint("k", i%6), []string{"a", "b", "c"}[:i%4])
			require.NoError(t, err)
			was = append(was, x.db.Load())
		}
		require.NoError(t, x.db.Pin("p", 20))
		s := cowtest.Attach(t, x.db, cowtest.SinkOptions{})
		var erasers sync.WaitGroup
		for i, key := range keys {
			erasers.Go(func() {
				_, err := x.db.Erase(t.Context(), func(tx *cow.Tx) error { x.notes.Erase(tx, key); return nil })
				require.NoError(t, err)
			})
			_, err := s.Await(t.Context(), i+1)
			require.NoError(t, err)
		}
		s.Ack(len(keys))
		erasers.Wait()
		for _, s := range was {
			require.Equal(t, x.without(s, keys...), x.contents(mustIndex(x.db.At(s.Version()))), "version %d", s.Version())
		}
	}
}

// While the past is made anew, and if it cannot be, it is as it was.
func TestAPastThatCannotBeMadeAnew(t *testing.T) {
	x := newErasing(t)
	during := func() error { return nil }
	_, err := cow.NewDerived(x.db, "fails", cow.Options[int]{}, func(tx *cow.Tx, _ *cow.Editor[string, int]) error {
		if tx.Replays() {
			return during()
		}
		return nil
	})
	require.NoError(t, err)
	x.db.Retain(cow.Retention{Versions: 100})
	var was []*cow.Snapshot
	for i := range 20 {
		_, err := x.notes.Set([]string{"secret", "other"}[i/7%2], []string{fmt.Sprint("w", i), "a"})
		require.NoError(t, err)
		was = append(was, x.db.Load())
	}
	require.NoError(t, x.db.Pin("p", 5))
	erase := func() error {
		_, err := x.db.Erase(t.Context(), func(tx *cow.Tx) error { x.notes.Erase(tx, "secret"); return nil })
		return err
	}
	as := func(contents func(s *cow.Snapshot, keys ...string) map[string]string) {
		for _, s := range was {
			require.Equal(t, contents(s, "secret"), x.contents(mustIndex(x.db.At(s.Version()))), "version %d", s.Version())
		}
	}
	asItWas := func() { as(func(s *cow.Snapshot, _ ...string) map[string]string { return x.contents(s) }) }
	during = func() error { asItWas(); return errTest }
	require.ErrorIs(t, erase(), errTest)
	asItWas()
	require.False(t, x.notes.Has("secret"))
	attached := make(chan sink.Contents, 1)
	during = func() error {
		asItWas()
		during = func() error { return nil }
		go func() { attached <- sink.For(x.db).Contents() }()
		select {
		case c := <-attached: // which has it in a pin
			attached <- c
		case <-time.After(20 * time.Millisecond):
		}
		return nil
	}
	require.NoError(t, erase())
	as(x.without)
	for _, p := range (<-attached).Pins { // a sink that comes meanwhile gets what is made
		for row, err := range p.Rows {
			require.NoError(t, err)
			require.NotContains(t, string(row.Key), "secret")
		}
	}
}

// A deaf sink keeps commits, and knows nothing of Erase.
type deaf struct{}

func (deaf) Room(context.Context, int) error { return nil }
func (deaf) Propose(*sink.Commit) error      { panic("proposed") }
func (deaf) Trim(uint64)                     {}
func (deaf) Close() error                    { return nil }

func TestEraseNeedsASinkThatErases(t *testing.T) {
	db := new(cow.DB)
	table := cow.NewTable[string](db, "t", cow.Options[int]{Codec: cow.Versioned[int]{}})
	_, err := table.Set("k", 1)
	require.NoError(t, err)
	line := sink.For(db)
	require.NoError(t, line.Attach(deaf{}, line.Contents(), nil))
	_, err = db.Erase(t.Context(), func(tx *cow.Tx) error { table.Erase(tx, "k"); return nil })
	require.ErrorContains(t, err, "cannot erase")
	require.True(t, table.Has("k"))
}

// If the context ends while a sink decides, the past is as it was until it has, and then it is
// made anew by itself.
func TestEraseWhoseContextEnds(t *testing.T) {
	db := new(cow.DB)
	table := cow.NewTable[string](db, "t", cow.Options[int]{Codec: cow.Versioned[int]{}})
	db.Retain(cow.Retention{Versions: 10})
	_, err := table.Set("k", 1)
	require.NoError(t, err)
	s := cowtest.Attach(t, db, cowtest.SinkOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := db.Erase(ctx, func(tx *cow.Tx) error { table.Erase(tx, "k"); return nil })
		done <- err
	}()
	_, err = s.Await(t.Context(), 1)
	require.NoError(t, err)
	cancel()
	require.ErrorIs(t, <-done, cow.ErrUnknownOutcome)
	require.True(t, table.In(mustIndex(db.At(1))).Has("k"))
	s.Ack(1)
	require.Eventually(t, func() bool { return !table.In(mustIndex(db.At(1))).Has("k") }, time.Minute, time.Millisecond)
}

// Nothing of what was erased is in memory: not for the indexes of a pin from before it was there,
// which was made from a version that had it, nor for whoever is to be notified.
func TestErasedIsNotInMemory(t *testing.T) {
	db := new(cow.DB)
	table := cow.NewTable[string](db, "t", cow.Options[*[4]int]{Immutable: true})
	order := cow.NewOrder(table, "order")
	values, err := cow.NewDerived(db, "values", cow.Options[*[4]int]{Immutable: true}, copies(table))
	require.NoError(t, err)
	cow.NewOrder(values, "order")
	db.Retain(cow.Retention{Versions: 100})
	var gone []weak.Pointer[[4]int]
	for i := range 20 {
		v := &[4]int{i}
		key := []string{"other", "secret"}[i%2]
		if key == "secret" {
			gone = append(gone, weak.Make(v))
		}
		_, err := table.Set(key, v)
		require.NoError(t, err)
	}
	for _, v := range []uint64{1, 2, 7} {
		at := mustIndex(db.At(v))
		require.NotZero(t, order.In(table.In(at)).Len())
		require.NoError(t, db.Pin(fmt.Sprint(v), v))
	}
	_, stop := db.Notify(db.Load(), table.OnKeys("never"))
	defer stop()
	_, err = db.Erase(t.Context(), func(tx *cow.Tx) error { table.Erase(tx, "secret"); return nil })
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		runtime.GC()
		return !slices.ContainsFunc(gone, func(p weak.Pointer[[4]int]) bool { return p.Value() != nil })
	}, time.Minute, time.Millisecond)
	for _, at := range db.Pins() {
		require.Equal(t, 1, order.In(table.In(at)).Len())
	}
	runtime.KeepAlive(db)
}

// What only the past has may be all that a derived table was changed for. When that is erased, the
// table is in older versions as of then, and forks of them can go on.
func TestForksOfAPastFromBeforeWhatWasErased(t *testing.T) {
	db := new(cow.DB)
	db.Retain(cow.Retention{Versions: 100})
	a := cow.NewTable[string](db, "a", cow.Options[int]{})
	copied, err := cow.NewDerived(db, "copied", cow.Options[int]{}, copies(a))
	require.NoError(t, err)
	a.Set("stays", 1)
	before := db.Load().Version()
	a.Set("goes", 1)
	a.Delete("goes")
	_, err = db.Erase(t.Context(), func(tx *cow.Tx) error { a.Erase(tx, "goes"); return nil })
	require.NoError(t, err)
	a.Set("later", 1)
	for version := before; version <= db.Load().Version(); version++ {
		s, err := db.At(version)
		require.NoError(t, err)
		require.LessOrEqual(t, copied.In(s).Version(), version)
		fork := a.Of(db.Fork(s))
		fork.Set("more", 2)
		v, _ := copied.In(fork.DB().Load()).Get("more")
		require.Equal(t, 2, v)
	}
}

// So it is where a whole snapshot stands between the versions, in which the table was not changed.
func TestForksOfAPastBehindAWholeSnapshot(t *testing.T) {
	db := new(cow.DB)
	db.Retain(cow.Retention{Versions: 100})
	a, b := cow.NewTable[string](db, "a", cow.Options[int]{}), cow.NewTable[string](db, "b", cow.Options[int]{})
	copied, err := cow.NewDerived(db, "copied", cow.Options[int]{}, copies(a))
	require.NoError(t, err)
	a.Set("stays", 1)
	a.Set("goes", 1)
	for i := range 3 {
		b.Set("b", i)
	}
	require.NoError(t, b.Update(func(e *cow.Editor[string, int]) error { // so much is changed that one is made
		for i := range 2000 {
			e.Set(fmt.Sprint(i), i)
		}
		return nil
	}))
	_, err = db.Erase(t.Context(), func(tx *cow.Tx) error { a.Erase(tx, "goes"); return nil })
	require.NoError(t, err)
	for version := uint64(1); version <= db.Load().Version(); version++ {
		s, err := db.At(version)
		require.NoError(t, err)
		require.False(t, a.In(s).Has("goes"))
		for _, table := range []*cow.Table[string, int]{a, b, copied} {
			require.LessOrEqual(t, table.In(s).Version(), version)
		}
		fork := a.Of(db.Fork(s))
		fork.Set("more", 2)
		v, _ := copied.In(fork.DB().Load()).Get("more")
		require.Equal(t, 2, v)
	}
}
