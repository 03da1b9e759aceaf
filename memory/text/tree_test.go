package text

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTerm changes the postings of one term, at the end, at random places and
// in runs, and finds all of them by seeking, in old versions too.
func TestTerm(t *testing.T) {
	type version struct {
		term
		m map[uint32]weight
	}
	steps, seeds, most := 200, uint64(3), uint32(1<<15)
	if testing.Short() {
		steps, seeds = 20, 2
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(1, seed))
		weigh := func() weight { return newWeight(1+r.Uint32N(300), uint64(1+r.Uint32N(500))) }
		v := version{m: map[uint32]weight{}}
		put := func(doc uint32) {
			v.m[doc] = weigh()
			v.put(posting{doc, v.m[doc]})
		}
		drop := func(doc uint32) {
			if _, ok := v.m[doc]; ok {
				delete(v.m, doc)
				v.remove(doc)
			}
		}
		check := func(v version) {
			requireTerm(t, &v.term, len(v.m))
			if len(v.m) == 0 {
				return // an index has no such term
			}
			docs := slices.Sorted(maps.Keys(v.m))
			var l list
			if l.open(&v.term, newRanker(1, 1)); r.IntN(2) == 0 {
				// One after the other, by spans.
				for _, d := range docs {
					if want := (posting{d, v.m[d]}); l.posts[0] != want {
						t.Fatalf("%v, not %v", l.posts[0], want)
					}
					l.skip(1)
				}
				require.Equal(t, uint32(ended), l.doc())
				return
			}
			for at := uint32(0); ; at += 1 + r.Uint32N(1<<r.IntN(12)) {
				p := l.find(at)
				for len(docs) > 0 && docs[0] < at {
					docs = docs[1:]
				}
				if len(docs) == 0 {
					require.Equal(t, posting{doc: ended}, p)
					break
				}
				if want := (posting{docs[0], v.m[docs[0]]}); p != want {
					t.Fatalf("%v, not %v", p, want)
				}
			}
		}
		if seed == 1 {
			for d := range most {
				put(d)
			}
			check(v)
		}
		var past []version
		for step := range steps {
			if step%10 == 0 {
				past = append(past, version{v.term, maps.Clone(v.m)})
			}
			n := r.Uint32N(1 << r.IntN(12))
			at := r.Uint32N(most)
			switch r.IntN(6) {
			case 0: // append, and take away again
				var end uint32
				if len(v.m) > 0 {
					end = slices.Max(slices.Collect(maps.Keys(v.m))) + 1
				}
				for d := end; d < end+n; d++ {
					put(d)
				}
				if r.IntN(2) == 0 {
					for d := end + n; d > end; d-- {
						drop(d - 1)
					}
				}
			case 1:
				for range n {
					put(r.Uint32N(most))
				}
			case 2, 3: // a run
				for d := at; d < at+2*n; d++ {
					drop(d)
				}
			case 4:
				for d := range v.m {
					if n--; n > most {
						break
					}
					drop(d)
				}
			case 5:
				for d := at + n; d > at; d-- {
					put(d)
				}
			}
			check(v)
			check(past[r.IntN(len(past))])
		}
		if v.tree != nil {
			spans := 0
			for _, l := range v.tree.limbs {
				spans += len(l.spans)
			}
			require.Less(t, spans, 10+len(v.m)/(fewPosts/4), "few postings a span")
			require.Less(t, len(v.tree.limbs), 10+spans/(v.tree.fanout()/8))
		}
		for _, d := range slices.Collect(maps.Keys(v.m)) {
			drop(d)
		}
		require.Empty(t, v.posts)
		require.Nil(t, v.tree)
		for _, v := range past {
			check(v)
		}
	}
}
