package memory_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/vector"
)

// letters embeds texts in tests: a vector of how many of two letters a text has.
type letters struct {
	mu     sync.Mutex
	calls  [][]string
	refuse func(texts []string) error
}

func (x *letters) embed(ctx context.Context, texts []string) ([][]float32, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.calls = append(x.calls, slices.Clone(texts))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if x.refuse != nil {
		if err := x.refuse(texts); err != nil {
			return nil, err
		}
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = []float32{1 + float32(strings.Count(text, "a")), 1 + float32(strings.Count(text, "b"))}
	}
	return vectors, nil
}

func TestEmbedMissing(t *testing.T) {
	x := new(letters)
	m := memory.New(memory.Options{Embed: x.embed})
	s := m.Space("s")
	for i := range 200 {
		_, err := s.Put(fmt.Sprint(i), map[string]any{"name": strings.Repeat("a", i%7), "more": []any{"b", i}})
		require.NoError(t, err)
	}
	own := []float32{0, 1}
	_, err := s.PutItem("own", memory.Item{Value: "aaa", Vector: own})
	require.NoError(t, err)
	_, err = s.Put("number", 7)
	require.NoError(t, err)
	_, err = s.PutItem("old", memory.Item{Value: "it was so", Metadata: map[string]any{"a": 1}})
	require.NoError(t, err)
	_, err = s.Supersede("old", "new", memory.Item{Value: "it is so", Metadata: map[string]any{"a": 1}, Keep: true})
	require.NoError(t, err)
	was, _ := s.Entry("new")

	n, err := m.EmbedMissing(t.Context())
	require.NoError(t, err)
	require.Equal(t, 201, n)
	require.Len(t, x.calls, 4, "64 at once")
	require.Equal(t, "b\n", x.calls[0][0], "the strings of the value, a line each")
	for e := range s.List(memory.ListOptions{}) {
		switch e.Key {
		case "number", "old":
			require.Zero(t, e.Dim, e.Key)
			require.False(t, e.Embedded)
		case "own":
			v, _ := s.Vector(e.Key)
			require.Equal(t, own, v)
			require.False(t, e.Embedded)
		default:
			require.Equal(t, 2, e.Dim, e.Key)
			require.True(t, e.Embedded)
		}
	}
	is, _ := s.Entry("new")
	require.True(t, was.Updated.Equal(is.Updated))
	require.True(t, is.Kept)
	require.True(t, memory.Equal(was.Metadata, is.Metadata))
	n, err = m.EmbedMissing(t.Context())
	require.NoError(t, err)
	require.Zero(t, n)
	require.Len(t, x.calls, 4)

	// A new text drops the vector of the old, and an equal one does not.
	_, err = s.Put("0", "abbb")
	require.NoError(t, err)
	is, _ = s.Entry("0")
	require.Zero(t, is.Dim)
	require.False(t, is.Embedded)
	n, err = m.EmbedMissing(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	v, _ := s.Vector("0")
	require.Equal(t, []float32{2, 4}, v)
	_, err = s.Put("0", "abbb")
	require.NoError(t, err)
	is, _ = s.Entry("0")
	require.True(t, is.Embedded)
	_, err = s.PutVector("0", []float32{1, 1}, nil)
	require.NoError(t, err)
	is, _ = s.Entry("0")
	require.False(t, is.Embedded)
	require.NoError(t, m.CheckDerived())

	// It goes through an export.
	var b strings.Builder
	require.NoError(t, m.Load().Export(&b))
	again := memory.New(memory.Options{Embed: x.embed})
	_, err = again.Import(t.Context(), strings.NewReader(b.String()))
	require.NoError(t, err)
	n, err = again.EmbedMissing(t.Context())
	require.NoError(t, err)
	require.Zero(t, n)
	for e := range s.List(memory.ListOptions{}) {
		is, ok := again.Space("s").Entry(e.Key)
		require.True(t, ok)
		require.Equal(t, []any{e.Kept, e.Embedded, e.Superseded, e.SupersededBy}, []any{is.Kept, is.Embedded, is.Superseded, is.SupersededBy})
	}
	require.NoError(t, again.CheckDerived())
	require.PanicsWithValue(t, "memory: nothing embeds texts: set Options.Embed", func() { _, _ = memory.New(memory.Options{}).EmbedMissing(t.Context()) })
}

// A text that is refused keeps none of the others from their vectors, and a model that is down is
// not asked for each of them.
func TestRefusedTexts(t *testing.T) {
	refused := errors.New("too long")
	x := &letters{refuse: func(texts []string) error {
		for _, text := range texts {
			if strings.Contains(text, "poison") {
				return refused
			}
		}
		return nil
	}}
	m := memory.New(memory.Options{Embed: x.embed})
	s := m.Space("s")
	for i := range 150 {
		text := fmt.Sprint("text ", i)
		if i == 70 {
			text = "poison"
		}
		_, err := s.Put(fmt.Sprint(i), text)
		require.NoError(t, err)
	}
	n, err := m.EmbedMissing(t.Context())
	require.ErrorIs(t, err, refused)
	require.Equal(t, 149, n)
	e, _ := s.Entry("70")
	require.Zero(t, e.Dim)

	x.calls, x.refuse = nil, func([]string) error { return refused }
	for i := range 100 {
		_, err := s.Put(fmt.Sprint("more", i), "another")
		require.NoError(t, err)
	}
	n, err = m.EmbedMissing(t.Context())
	require.ErrorIs(t, err, refused)
	require.Zero(t, n)
	require.Less(t, len(x.calls), 10)

	// What is no vector is refused too, and what does not fit.
	for what, v := range map[string][]float32{"empty": {}, "nil": nil, "long": {1, 2, 3}} {
		m := memory.New(memory.Options{Embed: func(_ context.Context, texts []string) (all [][]float32, err error) {
			for _, text := range texts {
				if text == "bad" {
					all = append(all, v)
				} else {
					all = append(all, []float32{1, 2})
				}
			}
			return all, nil
		}})
		_, err := m.Space("s").PutItem("first", memory.Item{Value: "good", Vector: []float32{1, 1}})
		require.NoError(t, err)
		for i, text := range []string{"good", "bad", "good", "good"} {
			_, err := m.Space("s").Put(fmt.Sprint(i), text)
			require.NoError(t, err)
		}
		n, err := m.EmbedMissing(t.Context())
		require.True(t, errors.Is(err, vector.ErrEmpty) || errors.Is(err, memory.ErrDimension), "%s: %v", what, err)
		require.Equal(t, 3, n, what)
	}
	few := memory.New(memory.Options{Embed: func(context.Context, []string) ([][]float32, error) { return nil, nil }})
	_, err = few.Space("s").Put("k", "text")
	require.NoError(t, err)
	_, err = few.EmbedMissing(t.Context())
	require.ErrorContains(t, err, "0 vectors for 1 texts")
}

// A vector comes to the entry that it was made for, and to no other.
func TestVectorsOfTextsThatChange(t *testing.T) {
	var m *memory.Memory
	tries := 0
	m = memory.New(memory.Options{Embed: func(_ context.Context, texts []string) ([][]float32, error) {
		if tries++; tries == 1 { // nobody has the writer's place
			_, err := m.Space("s").Put("k", "b")
			require.NoError(t, err)
			_, err = m.Space("s").Delete("gone")
			require.NoError(t, err)
		}
		all := make([][]float32, len(texts))
		for i, text := range texts {
			all[i] = []float32{float32(text[0]), 1}
		}
		return all, nil
	}})
	_, err := m.Space("s").Put("k", "a")
	require.NoError(t, err)
	_, err = m.Space("s").Put("gone", "a")
	require.NoError(t, err)
	n, err := m.EmbedMissing(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	v, _ := m.Space("s").Vector("k")
	require.Equal(t, []float32{'b', 1}, v)
	require.False(t, m.Space("s").Contains("gone"))
}

func TestEmbedEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("down")
		x := new(letters)
		m := memory.New(memory.Options{Embed: x.embed})
		s := m.Space("s")
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error)
		var told atomic.Int64
		go func() {
			ended <- m.EmbedEvery(ctx, func(err error) {
				require.ErrorIs(t, err, down)
				told.Add(1)
			})
		}()
		refuse := func(err error) {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.refuse = func([]string) error { return err }
		}
		dim := func(key string) int { e, _ := s.Entry(key); return e.Dim }
		put := func(key string) {
			_, err := s.Put(key, "text")
			require.NoError(t, err)
		}
		put("a")
		synctest.Wait()
		require.Equal(t, 2, dim("a"))
		refuse(down)
		put("b")
		time.Sleep(10 * time.Second)
		require.Zero(t, dim("b"))
		require.EqualValues(t, 4, told.Load()) // at 0, 1, 3 and 7 s
		refuse(nil)
		time.Sleep(time.Minute)
		require.Equal(t, 2, dim("b"))
		put("c")
		synctest.Wait()
		require.Equal(t, 2, dim("c"), "the pause is over")
		cancel(down)
		require.ErrorIs(t, <-ended, down)

		refuse(down)
		put("d")
		ctx, cancel = context.WithCancelCause(t.Context())
		go func() { ended <- m.EmbedEvery(ctx, nil) }()
		time.Sleep(time.Hour)
		cancel(down)
		require.ErrorIs(t, <-ended, down)
	})
}

func TestRecall(t *testing.T) {
	x := new(letters)
	m := memory.New(memory.Options{Embed: x.embed})
	s := m.Space("s")
	for _, text := range []string{"aaaa", "bbbb", "aabb", "word"} {
		_, err := s.Put(text, text)
		require.NoError(t, err)
	}
	_, err := m.EmbedMissing(t.Context())
	require.NoError(t, err)
	hits, err := s.Recall(t.Context(), "aaa", memory.Query{K: 1})
	require.NoError(t, err)
	require.Len(t, hits, 1)
	require.Equal(t, "aaaa", hits[0].Key, "none has the word")
	require.NoError(t, hits[0].Unembedded)

	by := func(want error, keys ...string) {
		t.Helper()
		hits, err := s.Recall(t.Context(), "word", memory.Query{})
		require.NoError(t, err)
		require.ElementsMatch(t, keys, hitKeys(hits, nil))
		for _, h := range hits {
			require.ErrorIs(t, h.Unembedded, want, h.Key)
		}
	}
	down := errors.New("down")
	x.refuse = func([]string) error { return down }
	_, err = s.Put("another", "another word")
	require.NoError(t, err)
	by(down, "word", "another")
	x.refuse = nil
	_, err = m.Space("t").PutItem("word", memory.Item{Value: "word", Vector: []float32{1}})
	require.NoError(t, err)
	s = m.Space("t")
	by(memory.ErrDimension, "word")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	hits, err = s.Recall(ctx, "word", memory.Query{})
	require.NoError(t, err)
	require.ErrorIs(t, hits[0].Unembedded, context.Canceled)
	_, err = s.Recall(ctx, "nothing", memory.Query{})
	require.ErrorIs(t, err, context.Canceled, "there is no hit to say so")

	_, err = s.Recall(t.Context(), "", memory.Query{})
	require.ErrorIs(t, err, memory.ErrQuery)
	_, err = s.Recall(t.Context(), "a", memory.Query{Text: "b"})
	require.ErrorIs(t, err, memory.ErrQuery)
	_, err = s.Recall(t.Context(), "a", memory.Query{Vector: []float32{1}})
	require.ErrorIs(t, err, memory.ErrQuery)
	_, err = s.Recall(t.Context(), "a", memory.Query{K: -1})
	require.ErrorIs(t, err, memory.ErrQuery)
	none := memory.New(memory.Options{}).Space("s")
	_, err = none.Put("k", "word")
	require.NoError(t, err)
	hits, err = none.Recall(t.Context(), "word", memory.Query{})
	require.NoError(t, err)
	require.ErrorContains(t, hits[0].Unembedded, "there is no Options.Embed")
}

// A vector that comes after ctx has ended is not used.
func TestRecallByALateVector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{Embed: func(context.Context, []string) ([][]float32, error) {
			time.Sleep(time.Second)
			return [][]float32{{1, 0}}, nil
		}})
		s := m.Space("s")
		require.NoError(t, errOf(s.PutItem("vector", memory.Item{Value: 7, Vector: []float32{1, 0}})))
		require.NoError(t, errOf(s.Put("word", "hello")))
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		for range 2 { // the second time it has ended before
			hits, err := s.Recall(ctx, "hello", memory.Query{})
			require.NoError(t, err)
			require.Len(t, hits, 1)
			require.Equal(t, "word", hits[0].Key)
			require.ErrorIs(t, hits[0].Unembedded, context.DeadlineExceeded)
		}
	})
}
