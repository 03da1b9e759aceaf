package snapshot

import (
	"testing"

	"github.com/cowstore/cowstore/snapshot/clone"

	"github.com/stretchr/testify/require"
)

// A leaflet has a Clone as cowview writes it, but that it counts.
type leaflet struct {
	Tags  []string
	calls int
}

func (l leaflet) Clone() leaflet {
	l = clone.Of[leaflet]()(l)
	l.calls++
	return l
}

func (leaflet) ClonedByCowview(leaflet) {}

// A bound embeds a leaflet, whose methods it has, and has a Clone of its own.
type bound struct {
	leaflet
	own int
}

func (b bound) Clone() bound {
	b.leaflet = b.leaflet.Clone()
	b.own++
	return b
}

// got returns what a map hands out that v was put into.
func got[V any](t *testing.T, v V) V {
	t.Helper()
	m, err := Collect(Options[V]{}, func(yield func(int, V) bool) { yield(1, v) })
	require.NoError(t, err)
	v, ok := m.Get(1)
	require.True(t, ok)
	return v
}

func TestAGeneratedCloneIsForWholeValues(t *testing.T) {
	tags := []string{"a", "b"}
	l := leaflet{Tags: tags}
	require.Equal(t, leaflet{tags, 2}, got(t, l), "once in, once out")

	// Parts are looked into: what they share stays shared.
	type pair struct{ a, b leaflet }
	p := got(t, pair{l, l})
	require.Equal(t, pair{l, l}, p)
	require.Same(t, &p.a.Tags[0], &p.b.Tags[0])
	require.NotSame(t, &tags[0], &p.a.Tags[0])

	s := got(t, []*leaflet{&l, &l})
	require.Equal(t, []*leaflet{&l, &l}, s)
	require.Same(t, s[0], s[1])

	type around struct{ leaflet }
	require.Equal(t, around{l}, got(t, around{l}), "it is a part of what embeds it")
	require.Equal(t, l, *got(t, &l), "and of a pointer")
	require.Equal(t, any(l), got[any](t, l), "and of an interface")
}

func TestACloneBesideAGeneratedOneIsTrusted(t *testing.T) {
	b := got(t, bound{leaflet: leaflet{Tags: []string{"a"}}})
	require.Equal(t, 2, b.own)
	require.Equal(t, 2, b.calls)
	type pair struct{ b bound }
	require.Equal(t, 2, got(t, pair{}).b.own)
}
