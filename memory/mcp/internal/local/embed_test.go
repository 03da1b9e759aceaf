package local_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory/mcp/internal/local"
)

// An endpoint is one for embeddings, whose vectors say how often a text has an a, and a b.
type endpoint struct {
	mu    sync.Mutex
	calls [][]string
	fails int           // so many calls to come
	takes time.Duration // each call
	dim   int           // of vectors, if not 2
}

func (e *endpoint) embed(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	e.mu.Lock()
	e.calls = append(e.calls, texts)
	fails, takes, dim := e.fails > 0, e.takes, max(e.dim, 2)
	e.fails--
	e.mu.Unlock()
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if fails {
		return nil, errors.New("overloaded")
	}
	for _, t := range texts {
		v := make([]float32, dim)
		v[0], v[1] = float32(strings.Count(t, "a")), 1+float32(strings.Count(t, "b"))
		vectors = append(vectors, v)
	}
	return vectors, nil
}

func (e *endpoint) texts() (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.calls {
		n += len(c)
	}
	return n
}

func withVectors(s *local.Store) (n int) {
	list, _, _, _ := s.Inspect()
	for _, sum := range list {
		n += sum.Vectors
	}
	return n
}

func TestTextsGetVectors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{takes: time.Second}
		s := open(t, "", local.Options{Embed: e.embed})
		first := as[remembered](t, do(t, s, "remember", `{"key":"k","text":"aaaa"}`))
		do(t, s, "remember", `{"key":"l","text":"bbbb"}`)
		do(t, s, "create_entities", family)
		do(t, s, "create_relations", ties)
		do(t, s, "remember", `{"key":"own","text":"with a vector","vector":[9,9]}`)
		require.Equal(t, 1, withVectors(s), "a write does not wait")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Equal(t, 6, withVectors(s))
		require.Equal(t, 5, e.texts())

		h := as[hits](t, do(t, s, "recall", `{"query":"aaa aa","kind":"note"}`))
		require.Equal(t, "k", h.Hits[0].Key, "by its vector alone")

		require.Len(t, as[struct{ History []change }](t, do(t, s, "history", `{"key":"k"}`)).History, 1, "a vector is no history")
		changes := do(t, s, "changes", `{}`)
		require.Equal(t, 1, strings.Count(changes, `"key":"k"`))
		do(t, s, "undo", fmt.Sprintf(`{"revision":%d}`, first.Revision))
		require.Empty(t, as[hits](t, do(t, s, "recall", `{"key":"k"}`)).Hits)

		do(t, s, "remember", `{"key":"l","text":"now another"}`)
		require.Equal(t, 4, withVectors(s), "a vector goes with its text")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Equal(t, 5, withVectors(s))
	})
}

func TestEmbeddingIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{fails: 4}
		s := open(t, "", local.Options{Embed: e.embed})
		do(t, s, "remember", `{"key":"k","text":"aaaa"}`)
		time.Sleep(14 * time.Second)
		synctest.Wait()
		require.Equal(t, 4, e.texts())
		require.Zero(t, withVectors(s))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Equal(t, 5, e.texts(), "after 1, 2, 4 and 8 seconds")
		require.Equal(t, 1, withVectors(s))
	})
}

func TestATextThatIsRefusedDoesNotKeepTheOthers(t *testing.T) {
	for range 20 { // which texts go together is a matter of chance
		synctest.Test(t, func(t *testing.T) {
			e := new(endpoint)
			s := open(t, "", local.Options{Embed: func(ctx context.Context, texts []string) ([][]float32, error) {
				if slices.Contains(texts, "long") {
					return nil, errors.New("too long")
				}
				return e.embed(ctx, texts)
			}})
			for i := range 30 {
				do(t, s, "remember", fmt.Sprintf(`{"text":"%d"}`, i))
				if i == 0 {
					do(t, s, "remember", `{"text":"long"}`)
				}
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			require.Equal(t, 30, withVectors(s))
		})
	}
}

func TestEmbeddingIsNotInTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{takes: time.Hour}
		s := open(t, "", local.Options{Embed: e.embed})
		start := time.Now()
		do(t, s, "remember", `{"key":"k","text":"aaaa"}`)
		synctest.Wait()
		do(t, s, "remember", `{"key":"k","text":"aaaa bbb"}`)
		require.Zero(t, time.Since(start))
		require.Equal(t, []string{"k"}, as[hits](t, do(t, s, "recall", `{"query":"bbb"}`)).keys())
		require.Equal(t, 2*time.Second, time.Since(start), "so long a query waits for its vector")
		require.NoError(t, s.Close(), "which ends the call that is under way")
	})
}

func TestATextThatChangedMeanwhileKeepsNoOldVector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{takes: time.Second}
		s := open(t, "", local.Options{Embed: e.embed})
		do(t, s, "remember", `{"key":"k","text":"aaaa"}`)
		synctest.Wait() // the call is under way
		do(t, s, "remember", `{"key":"k","text":"bbbb"}`)
		time.Sleep(time.Second)
		synctest.Wait()
		require.Zero(t, withVectors(s))
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, 1, withVectors(s))
		require.Equal(t, 2, e.texts())
	})
}

func TestVectorsThatDoNotFitAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		e := &endpoint{}
		s := open(t, "", local.Options{Embed: e.embed, Log: slog.New(slog.NewTextHandler(&log, nil))})
		do(t, s, "remember", `{"key":"own","text":"x","vector":[1,2,3]}`)
		do(t, s, "remember", `{"key":"k","text":"aaaa"}`)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, 1, e.texts(), "not again and again")
		require.Contains(t, log.String(), "vectors cannot be used")
		require.Equal(t, []string{"k"}, as[hits](t, do(t, s, "recall", `{"query":"aaaa"}`)).keys(), "the text is searched all the same")
		log.Reset()
		require.Empty(t, as[hits](t, do(t, s, "recall", `{"query":"nothing has this"}`)).keys(), "and that is no error")
		require.Contains(t, log.String(), "a query has no vector")
		require.NoError(t, s.Close())
	})
}

func TestWhatHasNoVectorYetGetsOneAfterOpening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.cow")
	s, err := local.Open(path, local.Options{})
	require.NoError(t, err)
	for i := range 150 {
		do(t, s, "remember", fmt.Sprintf(`{"text":"a note %d"}`, i))
	}
	require.NoError(t, s.Close())
	e := new(endpoint)
	s = open(t, path, local.Options{Embed: e.embed})
	require.Eventually(t, func() bool { return withVectors(s) == 150 }, waitFor, tick)
	require.Equal(t, 150, e.texts())
	for _, c := range e.calls {
		require.LessOrEqual(t, len(c), 64)
	}
}
