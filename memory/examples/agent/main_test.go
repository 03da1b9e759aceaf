package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/filter"
	"github.com/cowstore/cowstore/memory/vector"
	"github.com/stretchr/testify/require"
)

func remember(t *testing.T, a *Agent, key string, f Fact) (version uint64) {
	t.Helper()
	version, err := a.Turn(func(turn *Turn) error { return turn.Remember(key, f) })
	require.NoError(t, err)
	return version
}

func start(t *testing.T) (*memory.Memory, *Agent) {
	t.Helper()
	m := memory.New(memory.Options{})
	a := NewAgent(m, "ada")
	remember(t, a, "language", Fact{Text: "Prefers short answers, in French.", Kind: "preference", Turn: 1})
	remember(t, a, "trip", Fact{Text: "Takes a train to Lyon.", Kind: "plan", Turn: 2})
	return m, a
}

func text(a *Agent, key string) string {
	v, _ := a.facts.Get(key)
	return v.String()
}

func TestRecall(t *testing.T) {
	m, a := start(t)
	remember(t, NewAgent(m, "bob"), "trip", Fact{Text: "Takes a train to Lyon.", Kind: "plan"})
	keys := func(question string, filters ...filter.Filter) (keys []string) {
		hits, err := a.Recall(question, filters...)
		require.NoError(t, err)
		for _, h := range hits {
			keys = append(keys, h.Key)
		}
		return keys
	}
	require.Equal(t, "trip", keys("Which train to Lyon?")[0])
	require.Equal(t, "language", keys("Answers in french?")[0])
	require.Equal(t, []string{"language"}, keys("Which train to Lyon?", filter.Meta("kind").Eq("preference")))
	require.Empty(t, keys("Which train to Lyon?", filter.Meta("kind").Eq("plan"), filter.Meta("turn").Lt(2)))

	_, err := a.Recall("?")
	require.ErrorIs(t, err, vector.ErrZero)
}

func TestATurnHappensAsAWhole(t *testing.T) {
	m, a := start(t)
	before := m.Load().Version()
	failed := errors.New("the model has failed")
	version, err := a.Turn(func(turn *Turn) error {
		require.True(t, turn.Forget("trip"))
		require.NoError(t, turn.Remember("x", Fact{Text: "x"}))
		return failed
	})
	require.ErrorIs(t, err, failed)
	require.Zero(t, version)
	require.Equal(t, before, m.Load().Version())
	require.Equal(t, "Takes a train to Lyon.", text(a, "trip"))
}

func TestUndo(t *testing.T) {
	_, a := start(t)
	version, err := a.Turn(func(turn *Turn) error {
		turn.Forget("language")
		return turn.Remember("trip", Fact{Text: "Flies to Lyon."})
	})
	require.NoError(t, err)
	remember(t, a, "pet", Fact{Text: "Has a cat."})
	require.NoError(t, a.Undo(t.Context(), version))
	require.Equal(t, "Takes a train to Lyon.", text(a, "trip"))
	require.Equal(t, "Prefers short answers, in French.", text(a, "language"))
	require.Equal(t, "Has a cat.", text(a, "pet")) // was learned later
	hits, err := a.Recall("Flies")
	require.NoError(t, err)
	require.False(t, slices.ContainsFunc(hits, func(h memory.Hit) bool { return h.Value.String() == "Flies to Lyon." }))

	version = remember(t, a, "trip", Fact{Text: "Flies to Lyon."})
	remember(t, a, "trip", Fact{Text: "Stays at home."})
	require.ErrorIs(t, a.Undo(t.Context(), version), cow.ErrConflict)
	require.Equal(t, "Stays at home.", text(a, "trip"))
	require.ErrorIs(t, a.Undo(t.Context(), version+100), cow.ErrUnpublished)
}

func TestUndoOfATurnThatDidNothing(t *testing.T) {
	_, a := start(t)
	version, err := a.Turn(func(turn *Turn) error { turn.Forget("none"); return nil })
	require.NoError(t, err)
	remember(t, a, "pet", Fact{Text: "Has a cat."})
	require.NoError(t, a.Undo(t.Context(), version))
	require.Equal(t, "Has a cat.", text(a, "pet"))

	version, err = a.Turn(func(turn *Turn) error { // nothing in the end
		defer turn.Forget("fish")
		return turn.Remember("fish", Fact{Text: "Has a fish."})
	})
	require.NoError(t, err)
	remember(t, a, "dog", Fact{Text: "Has a dog."})
	require.NoError(t, a.Undo(t.Context(), version))
	require.Equal(t, "Has a dog.", text(a, "dog"))
}

func TestWhatIf(t *testing.T) {
	m, a := start(t)
	try := func(keep bool, err error) func(*Agent) (bool, error) {
		return func(draft *Agent) (bool, error) {
			remember(t, draft, "trip", Fact{Text: "Flies to Lyon."})
			require.Equal(t, "Flies to Lyon.", text(draft, "trip"))
			require.Equal(t, "Takes a train to Lyon.", text(a, "trip"))
			remember(t, a, "pet", Fact{Text: "Has a cat."}) // meanwhile
			return keep, err
		}
	}
	require.NoError(t, a.WhatIf(t.Context(), try(false, nil)))
	require.Equal(t, "Takes a train to Lyon.", text(a, "trip"))
	failed := errors.New("the model has failed")
	require.ErrorIs(t, a.WhatIf(t.Context(), try(true, failed)), failed)
	require.Equal(t, "Takes a train to Lyon.", text(a, "trip"))
	before := m.Load().Version()
	require.NoError(t, a.WhatIf(t.Context(), try(true, nil)))
	require.Equal(t, "Flies to Lyon.", text(a, "trip"))
	require.Equal(t, "Has a cat.", text(a, "pet"))
	require.Equal(t, before+2, m.Load().Version()) // the cat, and the merge as a whole

	require.NoError(t, a.WhatIf(t.Context(), func(draft *Agent) (bool, error) { // both write one fact
		remember(t, draft, "pet", Fact{Text: "Has a dog."})
		remember(t, a, "pet", Fact{Text: "Has two cats."})
		return true, nil
	}))
	require.Equal(t, "Has a dog.", text(a, "pet"))
}

func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, a := start(t)
		remember(t, a, "mood", Fact{Text: "Is in a hurry.", Kind: "mood", For: time.Hour})
		call := m.Load() // one call of a model sees one memory
		time.Sleep(59 * time.Minute)
		require.Equal(t, "Is in a hurry.", text(a, "mood"))
		time.Sleep(2 * time.Minute)
		require.Equal(t, "", text(a, "mood"))
		hits, err := a.Recall("in a hurry", filter.Meta("kind").Eq("mood"))
		require.NoError(t, err)
		require.Empty(t, hits)
		_, ok := a.facts.In(call).Get("mood")
		require.True(t, ok)
	})
}

func TestSaveAndLoad(t *testing.T) {
	m, a := start(t)
	remember(t, a, "mood", Fact{Text: "Is in a hurry.", Kind: "mood", For: time.Hour})
	file := filepath.Join(t.TempDir(), "memory.jsonl")
	var writer sync.WaitGroup
	writer.Go(func() {
		for range 100 {
			remember(t, a, "pet", Fact{Text: "Has a cat."})
		}
	})
	require.NoError(t, Save(m, file))
	require.NoError(t, Save(m, file)) // over the first
	writer.Wait()
	require.NoError(t, Save(m, file))

	m2 := memory.New(memory.Options{})
	require.NoError(t, Load(t.Context(), m2, file))
	b := NewAgent(m2, "ada")
	for e := range a.facts.List(memory.ListOptions{}) {
		got, ok := b.facts.Entry(e.Key)
		require.True(t, ok)
		require.True(t, memory.Equal(e.Value, got.Value))
		require.True(t, memory.Equal(e.Metadata, got.Metadata))
		require.True(t, e.Expires.Equal(got.Expires))
	}
	want, err := a.Recall("Which train?")
	require.NoError(t, err)
	got, err := b.Recall("Which train?")
	require.NoError(t, err)
	require.Equal(t, len(want), len(got))
	require.Equal(t, want[0].Score, got[0].Score)

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, text[:len(text)-10], 0o600))
	m3 := memory.New(memory.Options{})
	require.ErrorIs(t, Load(t.Context(), m3, file), memory.ErrMalformed)
	require.Zero(t, m3.Load().Len())
}

func Example() {
	dir, err := os.MkdirTemp("", "agent")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for range 2 { // the second remembers what the first has learned
		if err := run(context.Background(), filepath.Join(dir, "memory.jsonl")); err != nil {
			panic(err)
		}
	}
	// Output:
	// I know 0 facts already.
	// — Which train to Lyon?
	//   trip: Takes a train to Lyon in May. (plan, turn 1)
	//   language: Prefers short answers, in French. (preference, turn 1)
	// — What is planned for Lyon?
	//   trip: Takes a train to Lyon in May. (plan, turn 1)
	// — What is planned for Lyon?
	//   trip: Flies to Lyon instead. Decided: true (plan, turn 2)
	// — Is the trip to Lyon forgotten?
	//   trip: Flies to Lyon instead. Decided: true (plan, turn 2)
	// I know 3 facts already.
	// — Which train to Lyon?
	//   trip: Takes a train to Lyon in May. (plan, turn 1)
	//   language: Prefers short answers, in French. (preference, turn 1)
	// — What is planned for Lyon?
	//   trip: Takes a train to Lyon in May. (plan, turn 1)
	// — What is planned for Lyon?
	//   trip: Flies to Lyon instead. Decided: true (plan, turn 2)
	// — Is the trip to Lyon forgotten?
	//   trip: Flies to Lyon instead. Decided: true (plan, turn 2)
}
