package memory_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/value"
)

type profile struct {
	Name  string   `json:"name"`
	Likes []string `json:"likes"`
}

func TestTypedSpaces(t *testing.T) {
	space := memory.New(memory.Options{}).Space("profiles")
	s := memory.Of[profile](space)
	_, err := s.Get("ada")
	require.ErrorIs(t, err, memory.ErrNotFound)
	mine := profile{"Ada", []string{"tea"}}
	require.NoError(t, errOf(s.Put("ada", mine)))
	mine.Likes[0] = "coffee"
	got, err := s.Get("ada")
	require.NoError(t, err)
	require.Equal(t, profile{"Ada", []string{"tea"}}, got)
	got.Likes[0] = "coffee"
	require.NoError(t, errOf(s.Update("ada", func(p *profile, found bool) error {
		require.True(t, found)
		require.Equal(t, []string{"tea"}, p.Likes)
		p.Likes = append(p.Likes, "chess")
		return nil
	})))
	require.NoError(t, errOf(s.Update("bob", func(p *profile, found bool) error {
		require.False(t, found)
		p.Name = "Bob"
		return nil
	})))
	broken := errors.New("broken")
	require.ErrorIs(t, errOf(s.Update("bob", func(p *profile, _ bool) error { p.Name = "nobody"; return broken })), broken)
	hits, err := s.Search(memory.Query{Text: "chess"})
	require.NoError(t, err)
	require.Len(t, hits, 1)
	require.Equal(t, profile{"Ada", []string{"tea", "chess"}}, hits[0].Of)
	var names []string
	for e, err := range s.All() {
		require.NoError(t, err)
		names = append(names, e.Key+e.Of.Name)
	}
	require.Equal(t, []string{"adaAda", "bobBob"}, names)

	require.NoError(t, errOf(space.Put("number", 7)))
	_, err = s.Get("number")
	var of *memory.KeyError
	require.ErrorAs(t, err, &of)
	require.Equal(t, "number", of.Key)
	require.Error(t, errOf(s.Update("number", func(*profile, bool) error { return nil })))
}

func TestUndoOfOneWrite(t *testing.T) {
	m := memory.New(memory.Options{})
	m.DB().Retain(cow.Retention{Versions: 100})
	s := m.Space("s")
	require.NoError(t, errOf(s.Put("k", 1)))
	rev, err := s.Put("k", 2)
	require.NoError(t, err)
	require.NoError(t, errOf(s.Put("other", 3)))
	require.NoError(t, m.Undo(t.Context(), rev))
	v, _ := s.Get("k")
	require.EqualValues(t, 1, v.Int())
	require.Equal(t, []string{"k", "other"}, keys(s.Load()))
	require.NoError(t, errOf(s.Put("k", 5)))
	require.ErrorIs(t, m.Undo(t.Context(), rev), cow.ErrConflict)
	require.ErrorIs(t, m.Undo(t.Context(), 99), cow.ErrUnpublished)
	require.ErrorIs(t, m.Undo(t.Context(), 0), cow.ErrUnpublished)
	require.NoError(t, m.CheckDerived())
}

func TestNeverExpires(t *testing.T) {
	m := memory.New(memory.Options{TTL: time.Hour})
	s := m.Space("s")
	require.NoError(t, errOf(s.PutItem("forever", memory.Item{Value: 1, TTL: memory.Never})))
	require.NoError(t, errOf(s.Put("hour", 1)))
	require.NoError(t, errOf(s.Configure(memory.SpaceOptions{TTL: memory.Never})))
	require.NoError(t, errOf(s.Put("none", 1)))
	for key, never := range map[string]bool{"forever": true, "hour": false, "none": true} {
		e, _ := s.Entry(key)
		require.Equal(t, never, e.Expires.IsZero(), key)
	}
	require.ErrorIs(t, errOf(s.PutItem("k", memory.Item{Value: 1, TTL: -1})), value.ErrUnsupported)
	require.Panics(t, func() { _, _ = s.Configure(memory.SpaceOptions{TTL: -1}) })
}

// An import has spaces configured as they were.
func TestExportsHaveTheOptionsOfSpaces(t *testing.T) {
	m := memory.New(memory.Options{})
	options := map[string]memory.SpaceOptions{
		"a": {MaxEntries: 3, TTL: time.Hour + time.Second}, "b": {MaxBytes: 1 << 40}, "c": {TTL: memory.Never}, "": {MaxEntries: 100},
	}
	for path, o := range options {
		require.NoError(t, errOf(m.Space("in", path).Configure(o)))
	}
	require.NoError(t, errOf(m.Space("in", "a").Put("k", 1)))
	var b strings.Builder
	require.NoError(t, m.Load().Export(&b))
	again := memory.New(memory.Options{})
	require.Equal(t, len(options)+1, count(again.Import(t.Context(), strings.NewReader(b.String()))))
	for path, o := range options {
		require.Equal(t, o, again.Load().Space("in", path).Options())
	}
	for _, line := range []string{
		`{"space":[],"options":{"max_entries":-1}}`, `{"space":[],"options":{"ttl":"-1h"}}`, `{"space":[],"options":{"more":1}}`,
		`{"space":[],"options":{},"key":"k"}`, `{"options":{}}`, `{"space":[],"options":7}`,
	} {
		_, err := again.Import(t.Context(), strings.NewReader(line))
		require.ErrorIs(t, err, memory.ErrMalformed, line)
	}
}
