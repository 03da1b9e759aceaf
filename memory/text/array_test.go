package text

import (
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestArray(t *testing.T) {
	type version struct {
		a array[int]
		m map[uint32]int
	}
	r := rand.New(rand.NewPCG(1, 1))
	past := []version{{m: map[uint32]int{}}}
	for step := range 400 {
		v := past[len(past)-1]
		if r.IntN(8) == 0 {
			v = past[r.IntN(len(past))]
		}
		v.m = maps.Clone(v.m)
		edit := newEdit()
		for range r.IntN(40) {
			switch grow := step%100 < 50; {
			case grow == (r.IntN(4) > 0):
				i, p := v.a.add(edit)
				require.Zero(t, *p)
				for j := range i + 1 {
					if _, taken := v.m[j]; taken != (j < i) {
						t.Fatalf("of %d, which is said to be the lowest free number, and %d, taken is %v", i, j, taken)
					}
				}
				*p = step
				v.m[i] = step
			case len(v.m) > 0:
				for i := range v.m {
					if r.IntN(3) == 0 {
						*v.a.write(edit, i) = -step
						v.m[i] = -step
						break
					}
					v.a.remove(edit, i)
					delete(v.m, i)
					break
				}
			}
		}
		past = append(past, v)
		for _, v := range []version{v, past[r.IntN(len(past))]} {
			require.EqualValues(t, len(v.m), requireArray(t, v.a.root, v.a.height))
			require.Equal(t, sizeBelow(v.a.root), v.a.bytes)
			for i, want := range v.m {
				if *v.a.at(i) != want {
					t.Fatalf("value %d is %d, not %d", i, *v.a.at(i), want)
				}
			}
		}
	}
	// One that was large is as one that never was.
	v := past[len(past)-1]
	edit := newEdit()
	for len(v.m) < 3000 {
		i, p := v.a.add(edit)
		*p, v.m[i] = 1, 1
	}
	for i := range v.m {
		v.a.remove(edit, i)
	}
	require.Nil(t, v.a.root)
	require.Zero(t, v.a.height)
	require.Zero(t, v.a.bytes)
}

// sizeBelow returns what n and all below it take.
func sizeBelow[T any](n *node[T]) int {
	if n == nil {
		return 0
	}
	total := n.size()
	if n.kids != nil {
		for _, k := range n.kids {
			total += sizeBelow(k)
		}
	}
	return total
}
