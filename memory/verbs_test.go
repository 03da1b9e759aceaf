package memory_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/filter"
	"github.com/cowstore/cowstore/memory/value"
)

func TestAppendTo(t *testing.T) {
	m := memory.New(memory.Options{TTL: time.Hour})
	s := m.Space("s")
	rev, err := s.AppendTo("list", 1, "two")
	require.NoError(t, err)
	require.EqualValues(t, 1, rev)
	rev, err = s.AppendTo("list", []string{"three"}, nil)
	require.NoError(t, err)
	require.EqualValues(t, 2, rev)
	v, _ := s.Get("list")
	require.Equal(t, []any{1, "two", []string{"three"}, nil}, v.Any())
	rev, err = s.AppendTo("list")
	require.NoError(t, err)
	require.Zero(t, rev)
	_, err = s.AppendTo("none")
	require.NoError(t, err)
	require.False(t, s.Contains("none"))

	_, err = s.Put("strings", []string{"a"})
	require.NoError(t, err)
	_, err = s.AppendTo("strings", "b")
	require.NoError(t, err)
	v, _ = s.Get("strings")
	is, err := memory.As[[]string](v)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, is)
	hits, err := s.Search(memory.Query{Text: "three"})
	require.NoError(t, err)
	require.Len(t, hits, 1)

	_, err = s.Put("text", "a")
	require.NoError(t, err)
	_, err = s.AppendTo("text", "b")
	require.ErrorIs(t, err, value.ErrUnsupported)
	require.ErrorContains(t, err, `space ["s"], key "text"`)
	_, err = s.AppendTo("list", make(chan int))
	require.ErrorIs(t, err, value.ErrUnsupported)
	require.NoError(t, m.Batch(func(b *memory.Batch) error {
		require.NoError(t, b.Space("s").AppendTo("list", 5))
		require.ErrorIs(t, b.Space("s").AppendTo("text", 1), value.ErrUnsupported)
		return nil
	}))
	v, _ = s.Get("list")
	require.Equal(t, 5, v.Len())
}

// What is kept is not evicted, however long ago it was used.
func TestWhatIsKeptIsNotEvicted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{MaxEntries: 10})
		s := m.Space("s")
		for i := range 10 {
			_, err := s.PutItem(fmt.Sprint("kept", i), memory.Item{Value: i, Keep: i < 3, TTL: time.Hour})
			require.NoError(t, err)
		}
		rev, err := s.Keep("kept3", true)
		require.NoError(t, err)
		require.Equal(t, m.Load().Version(), rev)
		e, _ := s.Entry("kept3")
		require.True(t, e.Kept)
		require.Equal(t, e.Created, e.Updated)
		rev, err = s.Keep("kept3", true)
		require.NoError(t, err)
		require.Zero(t, rev)
		_, err = s.Put("kept2", "another value")
		require.NoError(t, err)
		for i := range 500 {
			_, err := s.Put(fmt.Sprint(i), i)
			require.NoError(t, err)
		}
		require.Equal(t, 10, s.Len())
		for i := range 10 {
			require.Equal(t, i < 4, s.Contains(fmt.Sprint("kept", i)), i)
		}
		_, err = s.Keep("kept0", false)
		require.NoError(t, err)
		for i := range 20 {
			_, err := s.Put(fmt.Sprint(i), i)
			require.NoError(t, err)
		}
		require.False(t, s.Contains("kept0"))
		_, err = s.Keep("kept0", true)
		require.ErrorIs(t, err, memory.ErrNotFound)

		// Only kept ones left: there is no room for more, and what there is can be removed.
		for e := range s.List(memory.ListOptions{}) {
			_, err := s.Keep(e.Key, true)
			require.NoError(t, err)
		}
		_, err = s.Put("new", 1)
		require.ErrorIs(t, err, memory.ErrFull)
		require.ErrorContains(t, err, "more than a limit allows")
		_, err = s.Put("kept1", 1)
		require.NoError(t, err, "in place of another")
		_, err = s.Delete("kept1")
		require.NoError(t, err)
		_, err = s.Put("new", 1)
		require.NoError(t, err)
		_, err = s.PutItem("kept2", memory.Item{Value: 1})
		require.NoError(t, err)
		e, _ = s.Entry("kept2")
		require.False(t, e.Kept, "PutItem says all anew")

		// It expires all the same.
		time.Sleep(2 * time.Hour)
		require.False(t, s.Contains("kept3"))
		for i := range 20 {
			_, err := s.Put(fmt.Sprint("after", i), i)
			require.NoError(t, err)
		}
		require.NoError(t, m.CheckDerived())
	})
}

// What was superseded stays to be read, and no search finds it.
func TestSupersede(t *testing.T) {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 100})
	s := m.Space("s")
	_, err := s.PutItem("old", memory.Item{Value: "Ada drinks coffee", Vector: []float32{1, 0}, Metadata: map[string]any{"a": 1}, Keep: true})
	require.NoError(t, err)
	before := s.Load()
	rev, err := s.Supersede("old", "new", memory.Item{Value: "Ada drinks tea", Vector: []float32{0.9, 0.1}})
	require.NoError(t, err)
	require.Equal(t, m.Load().Version(), rev)
	found := func(v memory.SpaceSnapshot, q memory.Query) (keys []string) {
		hits, err := v.Search(q)
		require.NoError(t, err)
		return hitKeys(hits, nil)
	}
	queries := []memory.Query{{Text: "ada"}, {Vector: []float32{1, 0}}, {Text: "ada", Vector: []float32{1, 0}}, {Text: `"drinks"`, Below: true}}
	for _, q := range queries {
		require.Equal(t, []string{"new"}, found(s.Load(), q))
		require.Equal(t, []string{"old"}, found(before, q))
	}
	require.Empty(t, found(s.Load(), memory.Query{Text: "coffee"}))
	e, ok := s.Entry("old")
	require.True(t, ok)
	require.True(t, e.Superseded)
	require.Equal(t, "new", e.SupersededBy)
	require.True(t, e.Kept)
	require.Zero(t, e.Dim)
	require.Equal(t, "Ada drinks coffee", e.Value.String())
	require.Equal(t, "[key=old value=Ada drinks coffee metadata=map of 1 kept=true superseded-by=new revision=2]", fmt.Sprint(e))
	_, ok = s.Vector("old")
	require.False(t, ok)
	require.Equal(t, 2, s.Len())
	listed := func(o memory.ListOptions) (keys []string) {
		for e := range s.List(o) {
			keys = append(keys, e.Key)
		}
		return keys
	}
	require.Equal(t, []string{"new", "old"}, listed(memory.ListOptions{}))
	require.Equal(t, []string{"new"}, listed(memory.ListOptions{Current: true}))
	require.Equal(t, []string{"new"}, listed(memory.ListOptions{Current: true, Reverse: true, Limit: 1}))
	require.NoError(t, m.CheckDerived())
	history, err := told(s, "old")
	require.NoError(t, err)
	require.Equal(t, []string{"2 changed Ada drinks coffee→Ada drinks coffee", "1 added absent→Ada drinks coffee"}, history)
	for c, err := range s.History("old") {
		require.NoError(t, err)
		require.Equal(t, c.Version == 2, c.New.Superseded)
		require.Equal(t, c.Version == 1, c.New.Dim == 2)
		require.False(t, c.Old.Superseded)
	}

	// What is put under its key is current again: a vector, or a value.
	_, err = s.PutVector("old", []float32{0, 1}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"old", "new"}, found(s.Load(), memory.Query{Vector: []float32{0, 1}}))
	_, err = s.Supersede("old", "new", memory.Item{Value: "Ada drinks tea", Vector: []float32{0.9, 0.1}})
	require.NoError(t, err)
	_, err = s.Put("old", "Ada drinks coffee again")
	require.NoError(t, err)
	require.Equal(t, []string{"old"}, found(s.Load(), memory.Query{Text: "coffee"}))
	e, _ = s.Entry("old")
	require.False(t, e.Superseded)
	require.Zero(t, e.SupersededBy)
	require.NoError(t, m.CheckDerived())

	_, err = s.PutVector("vector", []float32{1, 1}, nil)
	require.NoError(t, err)
	_, err = s.Supersede("vector", "x", memory.Item{Value: 1})
	require.ErrorIs(t, err, memory.ErrNotFound, "it has no value")
	_, err = s.Delete("vector")
	require.NoError(t, err)
	_, err = s.Supersede("none", "x", memory.Item{Value: 1})
	require.ErrorIs(t, err, memory.ErrNotFound)
	require.ErrorContains(t, err, `key "none"`)
	_, err = s.Supersede("old", "old", memory.Item{Value: 1})
	require.ErrorIs(t, err, memory.ErrExists)
	_, err = s.Supersede("old", "x", memory.Item{Value: 1, Vector: []float32{1}})
	require.ErrorIs(t, err, memory.ErrDimension)
	require.False(t, s.Contains("x"))
	_, err = s.Supersede("old", "x", memory.Item{Value: make(chan int)})
	require.ErrorIs(t, err, value.ErrUnsupported)

	// Under the empty key, and in a chain.
	_, err = s.Supersede("old", "", memory.Item{Value: "nothing"})
	require.NoError(t, err)
	_, err = s.Supersede("", "last", memory.Item{Value: "something"})
	require.NoError(t, err)
	e, _ = s.Entry("old")
	require.True(t, e.Superseded)
	require.Empty(t, e.SupersededBy)
	require.Empty(t, found(s.Load(), memory.Query{Text: "coffee nothing"}))
	_, err = s.Reindex(t.Context())
	require.NoError(t, err)
	require.Empty(t, found(s.Load(), memory.Query{Text: "coffee nothing"}))
	require.NoError(t, m.CheckDerived())
	require.NoError(t, m.Undo(t.Context(), m.Load().Version()-1)) // what Supersede of "" did
	require.Equal(t, []string{""}, found(s.Load(), memory.Query{Text: "nothing"}))
	require.NoError(t, m.CheckDerived())
}

// What was superseded is in nobody's way when the vectors of a space get another dimension.
func TestSupersededVectorsHaveNoDimension(t *testing.T) {
	m := memory.New(memory.Options{})
	s := m.Space("s")
	_, err := s.PutItem("old", memory.Item{Value: "x", Vector: []float32{1, 2}})
	require.NoError(t, err)
	_, err = s.Supersede("old", "new", memory.Item{Value: "y"})
	require.NoError(t, err)
	_, err = s.PutVector("z", []float32{1, 2, 3}, nil)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, m.Load().Export(&b))
	again := memory.New(memory.Options{})
	_, err = again.Import(t.Context(), &b)
	require.NoError(t, err)
	e, _ := again.Space("s").Entry("old")
	require.True(t, e.Superseded)
	_, err = s.Put("old", "x")
	require.NoError(t, err)
	require.NoError(t, m.CheckDerived())
	require.NoError(t, again.CheckDerived())
	for _, line := range []string{`"value":1,"vector":[1]`, `"vector":[1]`} {
		_, err = again.Import(t.Context(), strings.NewReader(`{"space":["s"],"key":"k",`+line+`,"superseded_by":"x"}`))
		require.ErrorIs(t, err, memory.ErrMalformed)
	}
}

// A search in a Batch sees what that has written, and what it removed.
func TestSearchInABatch(t *testing.T) {
	m := memory.New(memory.Options{})
	s := m.Space("s")
	for key, text := range map[string]string{"a": "green tea", "b": "black tea", "c": "coffee"} {
		_, err := s.PutItem(key, memory.Item{Value: text, Vector: []float32{float32(key[0]), 1}})
		require.NoError(t, err)
	}
	_, err := m.Space("s", "below").Put("d", "tea below")
	require.NoError(t, err)
	_, err = m.Space("t").Put("d", "tea elsewhere")
	require.NoError(t, err)
	refused := errors.New("refused")
	err = m.Batch(func(b *memory.Batch) error {
		e := b.Space("s")
		search := func(q memory.Query) []string {
			t.Helper()
			hits, err := e.Search(q)
			require.NoError(t, err)
			for _, h := range hits {
				got, ok := b.Space(h.Space()...).Entry(h.Key)
				require.True(t, ok)
				require.Equal(t, got, h.Entry)
			}
			return hitKeys(hits, nil)
		}
		require.ElementsMatch(t, []string{"a", "b"}, search(memory.Query{Text: "tea"}))
		require.NoError(t, e.Put("a", "cocoa"))
		e.Delete("b")
		require.NoError(t, e.PutItem("x", memory.Item{Value: "white tea", Vector: []float32{1, 0}}))
		require.Equal(t, []string{"x"}, search(memory.Query{Text: "tea"}))
		require.ElementsMatch(t, []string{"x", "d"}, search(memory.Query{Text: "tea", Below: true}))
		require.ElementsMatch(t, []string{"x", "c"}, search(memory.Query{Vector: []float32{1, 0}}))
		require.NoError(t, b.Space("s", "new").Put("y", "tea of the day"))
		require.ElementsMatch(t, []string{"x", "y", "d"}, search(memory.Query{Text: "tea", Below: true}))
		b.Space("s", "below").Clear()
		require.ElementsMatch(t, []string{"x", "y"}, search(memory.Query{Text: "tea", Below: true}))
		e = b.Space("none")
		require.Empty(t, search(memory.Query{Text: "tea", Below: true}))
		_, err := e.Search(memory.Query{})
		require.ErrorIs(t, err, memory.ErrQuery)
		return refused
	})
	require.ErrorIs(t, err, refused)
	hits, err := s.Search(memory.Query{Text: "tea"})
	require.NoError(t, err)
	require.Len(t, hits, 2, "nothing of it has happened")
	require.NoError(t, m.CheckDerived())
}

func TestListsAreFiltered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(memory.Options{}).Space("s")
		start := time.Now()
		for i := range 10 {
			_, err := s.PutItem(fmt.Sprint(i), memory.Item{Value: map[string]any{"tags": []int{i % 3, 7}}, TTL: time.Hour})
			require.NoError(t, err)
			time.Sleep(time.Second)
		}
		keys := func(o memory.ListOptions) (all []string) {
			for e := range s.List(o) {
				all = append(all, e.Key)
			}
			return all
		}
		tag := filter.Val("tags").Contains(1)
		require.Equal(t, []string{"1", "4", "7"}, keys(memory.ListOptions{Filter: tag}))
		require.Equal(t, []string{"7", "4"}, keys(memory.ListOptions{Filter: tag, Reverse: true, Limit: 2}))
		require.Equal(t, []string{"4", "7"}, keys(memory.ListOptions{Filter: filter.And(tag, filter.Created().Gt(start.Add(2*time.Second)))}))
		require.Equal(t, []string{"0", "1"}, keys(memory.ListOptions{Filter: filter.ValidAt(start.Add(time.Second))}))
		require.Empty(t, keys(memory.ListOptions{Filter: filter.Val().Eq(make(chan int))}))
	})
}

// Searches go by the times of entries, as lists do.
func TestTimesInASearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		s := m.Space("s")
		put := func(key string, ttl time.Duration) {
			_, err := s.PutItem(key, memory.Item{Value: "tea", Vector: []float32{1, 2}, TTL: ttl})
			require.NoError(t, err)
			time.Sleep(time.Minute)
		}
		start := time.Now()
		put("a", 0)
		put("b", time.Hour)
		put("c", 2*time.Hour)
		put("a", 0)
		after := start.Add(30 * time.Second)
		for i, c := range []struct {
			only filter.Filter
			want []string
		}{
			{filter.Created().Lt(after), []string{"a"}},
			{filter.Created().Gt(after), []string{"b", "c"}},
			{filter.Updated().Lt(start.Add(2 * time.Minute)), []string{"b"}},
			{filter.Updated().Gte(start.Add(2 * time.Minute)), []string{"a", "c"}},
			{filter.Updated().Lt(after), []string{}},
			{filter.Expires().Lt(start.Add(90 * time.Minute)), []string{"b"}},
			{filter.ValidAt(start.Add(time.Minute)), []string{"a", "b"}},
			{filter.ValidAt(start.Add(61 * time.Minute)), []string{"a", "c"}},
		} {
			for _, q := range []memory.Query{{Text: "tea"}, {Vector: []float32{2, 1}}, {Text: "tea", Vector: []float32{2, 1}}, {Text: "tea", Below: true}} {
				q.Filter = c.only
				require.ElementsMatch(t, c.want, hitKeys(s.Search(q)), "%d: %+v", i, q)
			}
			require.Equal(t, c.want, hitKeys(hitsOf(s.List(memory.ListOptions{Filter: c.only})), nil), i)
		}
	})
}

// hitsOf returns the entries of a list as hits.
func hitsOf(list iter.Seq[memory.Entry]) (hits []memory.Hit) {
	for e := range list {
		hits = append(hits, memory.Hit{Entry: e})
	}
	return hits
}

// A near-duplicate and its write are one step: of many that are alike one is stored.
func TestPutUnlessSimilar(t *testing.T) {
	m := memory.New(memory.Options{})
	s := m.Space("s")
	q := memory.Query{MinScore: 0.9}
	like, rev, err := s.PutUnlessSimilar("a", memory.Item{Value: "tea", Vector: []float32{1, 0}}, q)
	require.NoError(t, err)
	require.Zero(t, like)
	require.EqualValues(t, 1, rev)
	like, rev, err = s.PutUnlessSimilar("b", memory.Item{Value: "tea!", Vector: []float32{1, 0.1}}, q)
	require.NoError(t, err)
	require.Zero(t, rev)
	require.Equal(t, "a", like.Key)
	require.Greater(t, like.Score, 0.9)
	_, rev, err = s.PutUnlessSimilar("a", memory.Item{Value: "tea again", Vector: []float32{1, 0.1}}, q)
	require.NoError(t, err)
	require.NotZero(t, rev, "itself is not another")
	_, rev, err = s.PutUnlessSimilar("c", memory.Item{Value: "coffee", Vector: []float32{0, 1}}, q)
	require.NoError(t, err)
	require.NotZero(t, rev)
	like, rev, err = s.PutUnlessSimilar("d", memory.Item{Value: "a coffee"}, memory.Query{Text: "coffee"})
	require.NoError(t, err)
	require.Zero(t, rev)
	require.Equal(t, "c", like.Key)
	_, _, err = s.PutUnlessSimilar("d", memory.Item{Value: "no vector, no text"}, q)
	require.ErrorIs(t, err, memory.ErrQuery)
	_, _, err = s.PutUnlessSimilar("d", memory.Item{Value: 1, Vector: []float32{1}}, q)
	require.ErrorIs(t, err, memory.ErrDimension)
	require.False(t, s.Contains("d"))

	stored := make(chan bool)
	for i := range 16 {
		go func() {
			_, rev, err := m.Space("many").PutUnlessSimilar(fmt.Sprint(i), memory.Item{Value: i, Vector: []float32{1, float32(i) / 100}}, q)
			stored <- err == nil && rev > 0
		}()
	}
	n := 0
	for range 16 {
		if <-stored {
			n++
		}
	}
	require.Equal(t, 1, n)
	require.Equal(t, 1, m.Space("many").Len())
}

// Calls that can wait end with their contexts.
func TestContextsEndWaits(t *testing.T) { synctest.Test(t, contextsEndWaits) }

func contextsEndWaits(t *testing.T) {
	m := memory.New(memory.Options{})
	s := m.Space("s")
	_, err := s.Put("a", "text")
	require.NoError(t, err)
	cause := errors.New("no more")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	version := m.Load().Version()
	_, err = s.Erase(ctx, "a")
	require.ErrorIs(t, err, cause)
	_, err = s.Reindex(ctx)
	require.ErrorIs(t, err, cause)
	require.ErrorIs(t, m.BatchContext(ctx, func(*memory.Batch) error { panic("called") }), cause)
	_, err = m.Merge(ctx, m.Load(), m.Load(), nil)
	require.ErrorIs(t, err, cause)
	m.DB().Retain(cow.Retention{Versions: 10})
	_, err = s.Put("a", "other")
	require.NoError(t, err)
	require.ErrorIs(t, m.Undo(ctx, version+1), cause)
	_, err = m.Import(ctx, strings.NewReader(`{"space":["s"],"key":"k","value":1}`))
	require.ErrorIs(t, err, cause)
	var b bytes.Buffer
	require.NoError(t, m.Backup(&b))
	_, err = memory.New(memory.Options{}).Restore(ctx, &b)
	require.ErrorIs(t, err, cause)
	_, err = s.PutItem("past", memory.Item{Value: 1, TTL: 1})
	require.NoError(t, err)
	time.Sleep(time.Nanosecond) // so that there is something to sweep
	n, err := m.Sweep(ctx)
	require.ErrorIs(t, err, cause)
	require.Zero(t, n)
	require.Equal(t, version+2, m.Load().Version())
}

// An error says what is wrong, and what is allowed.
func TestErrorsSayWhatIsWrong(t *testing.T) {
	m := memory.New(memory.Options{})
	s := m.Space("s")
	require.NoError(t, errOf(s.Configure(memory.SpaceOptions{MaxEntries: 1})))
	require.NoError(t, errOf(s.Put("a", 1)))
	require.NoError(t, errOf(s.Keep("a", true)))
	for text, err := range map[string]error{
		`memory: space ["s"]: more than a limit allows: MaxEntries is 1`:                                           errOf(s.Put("b", 1)),
		`memory: space ["s"], key "b": a TTL of -1ns has ended already: 0 is that of the space, and Never is none`: errOf(s.PutItem("b", memory.Item{Value: 1, TTL: -1})),
		`memory: space ["s"], key "b": string: metadata must be a map`:                                             errOf(s.PutItem("b", memory.Item{Value: 1, Metadata: "x"})),
		`memory: space ["s"], key "a": AppendTo a value that is no list`:                                           errOf(s.AppendTo("a", 1)),
		`memory: version 2: version is not retained, and Undo needs 1 and 2: see cow.DB.Retain`:                    m.Undo(t.Context(), 2),
		`memory: space ["s"], key "b": bad query: neither it nor the Item has a Vector, and it has no Text`:        similar(s.PutUnlessSimilar("b", memory.Item{Value: 1}, memory.Query{})),
		`memory: space ["s"]: bad query: K is -1`:                                                                  similar(s.PutUnlessSimilar("b", memory.Item{Value: 1}, memory.Query{Text: "x", K: -1})),
	} {
		require.EqualError(t, err, text)
	}
	var b *memory.Batch
	require.NoError(t, m.Batch(func(is *memory.Batch) error { b = is; return nil }))
	require.Panics(t, func() { b.Version() })
}

func similar(_ memory.Hit, _ uint64, err error) error { return err }

func TestNilFunctions(t *testing.T) {
	m := memory.New(memory.Options{})
	s := m.Space("s")
	for verb, call := range map[string]func(){
		"Batch":  func() { _ = m.Batch(nil) },
		"Batch ": func() { _ = m.DB().Update(func(tx *cow.Tx) error { return m.BatchIn(tx, nil) }) },
		"Modify": func() { _, _ = s.Modify("a", nil) },
		"Upsert": func() { _, _ = s.Upsert("a", nil) },
	} {
		require.PanicsWithValue(t, "memory: "+strings.TrimSpace(verb)+" with a nil function: give it one", call)
	}
	_, err := s.Put("a", 1)
	require.NoError(t, err, "nobody has the writer's place")
}

// What was kept before a limit came stays, and so it does in a backup. An import is a write, which
// has no room.
func TestMoreIsKeptThanALimitAllows(t *testing.T) {
	m := memory.New(memory.Options{})
	notes := m.Space("notes")
	for _, key := range []string{"a", "b"} {
		_, err := notes.PutItem(key, memory.Item{Value: key, Keep: true})
		require.NoError(t, err)
	}
	_, err := notes.Configure(memory.SpaceOptions{MaxEntries: 1})
	require.NoError(t, err)
	require.Equal(t, 2, notes.Len())
	var export, backup bytes.Buffer
	require.NoError(t, m.Load().Export(&export))
	require.NoError(t, m.Backup(&backup))
	_, err = memory.New(memory.Options{}).Import(t.Context(), &export)
	require.ErrorIs(t, err, memory.ErrFull)
	restored := memory.New(memory.Options{})
	_, err = restored.Restore(t.Context(), &backup)
	require.NoError(t, err)
	require.Equal(t, 2, restored.Space("notes").Len())
}
