package memorytest

import (
	"fmt"
)

// Spaces that are not the same, and that are easily taken for each other.
var (
	plainSpaces  = [][]string{{"a"}, {"a", "b"}, {"a", "b", "c"}, {"ab"}, {"b", "a"}, {"c"}, {"A"}}
	trickySpaces = [][]string{
		{"a:b", "c"}, {"a", "b:c"}, {"a:b:c"}, {"a/b", "c"}, {"a", "b/c"}, {"a/b/c"}, {"a/b"}, {"a", ""}, {"", "a"}, {"", "", "a"}, {"a", "", ""}, {""}, {"", ""},
		{"a\x00b"}, {"a\x00", "b"}, {"a", "\x00b"}, {"a.b"}, {"a|b"}, {"a,b"}, {"a b"}, {"a\nb"}, {"a\tb"}, {"a-b"}, {"a_b"}, {"a", "b", ""}, {"a\x1fb"},
		{"a\\", "b"}, {"a\\:b"}, {"a%3Ab"}, {"a%2Fb"}, {".."}, {"a", ".."}, {"a", "..", "a"}, {"."}, {"a", "."}, {"a "}, {" a"}, {"[a b]"}, {"[a", "b]"},
		{`a","b`}, {`"a"`, "b"}, {`["a","b"]`}, {"1:a"}, {"1:a1:b"}, {"é"}, {"e\u0301"}, {"\xff"}, {"\xfe"}, {"\ufffd"}, {},
	}
	trickyKeys = []string{
		"", "k", "K", "a:k", "b:k", "b:c", "c", "a/k", "b/k", "/k", "k/", "\x00", "k\x00", "a\x00k", ".", "..", "../k", "k ", " k", "%6B", "é", "e\u0301", "\xff", "\xfe",
		"\ufffd", "*", "k*", "k%", "_", "k_", "k\n", "__meta", "metadata", "-1", "0", "00",
	}
)

// spaceChecks hold that nothing of one space or key is seen in another.
var spaceChecks = []check{
	{"scope collision/spaces that look the same when joined", func(p *probe) {
		kept := p.fill()
		for i, s := range kept {
			p.holds(s, "k", i, fmt.Sprintf("another space was taken for %q", s))
		}
	}},
	{"scope collision/List", func(p *probe) {
		l := need[Lister](p)
		kept := p.fill()
		for i, s := range kept {
			p.put(s, fmt.Sprint("own ", i), i)
		}
		for i, s := range kept {
			p.lists(l, s, "k", fmt.Sprint("own ", i))
		}
	}},
	{"scope collision/Delete", func(p *probe) {
		d := need[Deleter](p)
		kept := p.fill()
		for i, s := range kept {
			must.NoError(p, d.Delete(s, "k"))
			p.absent(s, "k", "after Delete")
			for j := i + 1; j < len(kept); j++ {
				p.holds(kept[j], "k", j, fmt.Sprintf("deleted in %q", s))
			}
		}
	}},
	{"scope collision/keys", func(p *probe) {
		var kept []string
		for i, k := range trickyKeys {
			if err := p.b.Put([]string{"a"}, k, i); err == nil {
				kept = append(kept, k)
			} else {
				must.NotEqual(p, "k", k, "a plain key is refused: %v", err)
			}
		}
		for i, k := range trickyKeys {
			for _, other := range kept {
				if other == k {
					p.holds([]string{"a"}, k, i, fmt.Sprintf("another key was taken for %q", k))
				}
			}
		}
		if l, ok := p.b.(Lister); ok {
			p.lists(l, []string{"a"}, kept...)
		}
	}},
	{"scope collision/a space and a key that look the same when joined", func(p *probe) {
		places := []struct {
			space []string
			key   string
		}{
			{[]string{"a"}, "b:c"}, {[]string{"a", "b"}, "c"}, {[]string{"a:b"}, "c"}, {[]string{"a"}, "b/c"}, {[]string{"a/b"}, "c"}, {[]string{"a"}, "b\x00c"},
			{[]string{"a\x00b"}, "c"}, {[]string{"a"}, "b.c"}, {[]string{"a.b"}, "c"}, {[]string{"a", "b", "c"}, ""}, {[]string{"a"}, "b"}, {[]string{"a", ""}, "b"}, {[]string{"a"}, ":b"},
		}
		kept := places[:0:0]
		var values []string
		for _, at := range places {
			v := fmt.Sprintf("%q %q", at.space, at.key)
			if err := p.b.Put(at.space, at.key, v); err == nil {
				kept, values = append(kept, at), append(values, v)
			}
		}
		for i, at := range kept {
			p.holds(at.space, at.key, values[i], "another place was taken for it")
		}
	}},
	{"scope collision/vectors", func(p *probe) {
		v := need[Vectors](p)
		var kept [][]string
		for i, s := range append(plainSpaces[:len(plainSpaces):len(plainSpaces)], trickySpaces...) {
			err := v.PutVector(s, "k", []float32{1, float32(i)}, map[string]any{"space": fmt.Sprintf("%q", s)})
			if i < len(plainSpaces) {
				must.NoError(p, err)
			}
			if err == nil {
				kept = append(kept, s)
			}
		}
		for _, s := range kept {
			want := map[string]any{"space": fmt.Sprintf("%q", s)}
			_, metadata, found, err := v.GetVector(s, "k")
			must.NoError(p, err)
			must.True(p, found)
			p.same(want, metadata, "another space was taken for it")
			hits, err := v.SearchVector(s, []float32{1, 0}, 1000)
			must.NoError(p, err)
			must.Len(p, hits, 1, "a search found vectors of other spaces")
			p.same(want, hits[0].Metadata, "another space was searched")
		}
	}},
}

// fill puts the number of each space into it, by the key "k", and returns those that
// the backend accepts.
func (p *probe) fill() (kept [][]string) {
	p.Helper()
	for _, s := range plainSpaces {
		p.put(s, "k", len(kept))
		kept = append(kept, s)
	}
	for _, s := range trickySpaces {
		if p.b.Put(s, "k", len(kept)) == nil {
			kept = append(kept, s)
		}
	}
	return kept
}
