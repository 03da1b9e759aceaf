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

// got returns what a map of such values hands out that v was put into. It makes no map:
// each type of one is much to compile.
func got[V any](v V) V {
	clone := newCloner(Options[V]{})
	return clone(clone(v))
}

func TestAGeneratedCloneIsForWholeValues(t *testing.T) {
	tags := []string{"a", "b"}
	l := leaflet{Tags: tags}
	require.Equal(t, leaflet{tags, 2}, got(l), "once in, once out")

	// Parts are looked into: what they share stays shared.
	type pair struct{ a, b leaflet }
	p := got(pair{l, l})
	require.Equal(t, pair{l, l}, p)
	require.Same(t, &p.a.Tags[0], &p.b.Tags[0])
	require.NotSame(t, &tags[0], &p.a.Tags[0])

	s := got([]*leaflet{&l, &l})
	require.Equal(t, []*leaflet{&l, &l}, s)
	require.Same(t, s[0], s[1])

	type around struct{ leaflet }
	require.Equal(t, around{l}, got(around{l}), "it is a part of what embeds it")
	require.Equal(t, l, *got(&l), "and of a pointer")
	require.Equal(t, any(l), got[any](l), "and of an interface")
}

func TestACloneBesideAGeneratedOneIsTrusted(t *testing.T) {
	b := got(bound{leaflet: leaflet{Tags: []string{"a"}}})
	require.Equal(t, 2, b.own)
	require.Equal(t, 2, b.calls)
	type pair struct{ b bound }
	require.Equal(t, 2, got(pair{}).b.own)
}
