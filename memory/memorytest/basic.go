package memorytest

import (
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"time"
)

// basicChecks are of one caller.
var basicChecks = []check{
	{"basic/what was put is got", func(p *probe) {
		p.absent(space, "k", "before Put")
		p.put(space, "k", "v")
		p.holds(space, "k", "v", "after Put")
		p.put(space, "k", map[string]any{"a": "w"})
		p.holds(space, "k", map[string]any{"a": "w"}, "after another Put")
		p.absent(space, "K", "another key")
	}},
	{"basic/Delete", func(p *probe) {
		d := need[Deleter](p)
		p.put(space, "k", "v")
		p.put(space, "other", "w")
		must.NoError(p, d.Delete(space, "k"))
		p.absent(space, "k", "after Delete")
		p.holds(space, "other", "w", "of another key")
		p.put(space, "k", "again")
		p.holds(space, "k", "again", "after Put again")
	}},
	{"basic/List", func(p *probe) {
		l := need[Lister](p)
		p.lists(l, space)
		p.put(space, "b", 1)
		p.put(space, "a", 1)
		p.put(space, "b", 2)
		p.lists(l, space, "a", "b")
		if d, ok := p.b.(Deleter); ok {
			must.NoError(p, d.Delete(space, "b"))
			p.lists(l, space, "a")
		}
	}},
	{"basic/Insert", func(p *probe) {
		in := need[Inserter](p)
		for i, want := range []string{"first", "first"} {
			done, err := in.Insert(space, "k", []string{"first", "second"}[i])
			must.NoError(p, err)
			must.Equal(p, i == 0, done)
			p.holds(space, "k", want, "after Insert")
		}
	}},
	{"basic/Modify", func(p *probe) {
		m := need[Modifier](p)
		p.put(space, "k", "v")
		must.NoError(p, m.Modify(space, "k", func(v any) (any, error) { return v.(string) + "+", nil }))
		p.holds(space, "k", "v+", "after Modify")
		must.Error(p, m.Modify(space, "absent", func(v any) (any, error) { return "stored", nil }), "Modify of what is absent")
		p.absent(space, "absent", "after Modify")
	}},
	{"basic/Take", func(p *probe) {
		t := need[Taker](p)
		p.put(space, "k", "v")
		v, found, err := t.Take(space, "k")
		must.NoError(p, err)
		must.True(p, found)
		p.same("v", v, "what Take returned")
		p.absent(space, "k", "after Take")
		_, found, err = t.Take(space, "k")
		must.NoError(p, err)
		must.False(p, found, "taken twice")
	}},
	{"basic/Batch", func(p *probe) {
		b := need[Batcher](p)
		p.put(space, "a", "old")
		must.NoError(p, b.Batch(func(tx Backend) error {
			if err := tx.Put(space, "a", "new"); err != nil {
				return err
			}
			if err := tx.Put([]string{"other"}, "b", "new"); err != nil {
				return err
			}
			v, found, err := tx.Get(space, "a")
			must.NoError(p, err)
			must.True(p, found)
			p.same("new", v, "a Batch sees what it put")
			return nil
		}))
		p.holds(space, "a", "new", "after Batch")
		p.holds([]string{"other"}, "b", "new", "after Batch")
	}},
}

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

type (
	level int
	label string
)

// typeChecks hold that values come back with the types that they went in with.
func typeChecks() []check {
	values := []kind{
		{name: "nil", fresh: func() any { return nil }},
		{name: "bool", must: true, fresh: func() any { return true }},
		{name: "string", must: true, fresh: func() any { return "text \x00 é" }},
		{name: "empty string", must: true, fresh: func() any { return "" }},
		{name: "float64", must: true, fresh: func() any { return 1.0 }},
		{name: "int", must: true, fresh: func() any { return 3 }},
		{name: "large int64", fresh: func() any { return int64(1<<53 + 1) }},
		{name: "uint64", fresh: func() any { return uint64(math.MaxUint64) }},
		{name: "int8", fresh: func() any { return int8(-8) }},
		{name: "float32", fresh: func() any { return float32(0.1) }},
		{name: "json.Number", fresh: func() any { return json.Number("1.50") }},
		{name: "named int", fresh: func() any { return level(3) }},
		{name: "named string", fresh: func() any { return label("x") }},
		{name: "duration", fresh: func() any { return time.Minute }},
		{name: "time", fresh: func() any { return time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC) }},
		{name: "array", fresh: func() any { return [2]string{"a", "b"} }},
		{name: "nil map", fresh: func() any { return map[string]any(nil) }},
		{name: "nil slice", fresh: func() any { return []string(nil) }},
		{name: "empty map", must: true, fresh: func() any { return map[string]any{} }},
		{name: "empty slice", must: true, fresh: func() any { return []any{} }},
		{name: "nil pointer", fresh: func() any { return (*profile)(nil) }},
		{name: "map of ints", fresh: func() any { return map[int]string{1: "a", -2: "b"} }},
		{name: "numbers in any", must: true, fresh: func() any { return map[string]any{"int": 1, "float": 1.0, "list": []any{2, 2.0}} }},
	}
	var all []check
	for _, k := range append(values, kinds()...) {
		all = append(all, check{"types/" + k.name, func(p *probe) {
			k.allowed(p)
			p.accepted(k.name, k.must, p.b.Put(space, "k", k.fresh()))
			p.holds(space, "k", k.fresh(), "what was put came back as something else")
		}})
	}
	return all
}

// failureChecks hold that a function that does not return properly has no effect,
// and does not keep others out.
func failureChecks() []check {
	ends := []struct {
		name string
		end  func() error
	}{
		{"an error", func() error { return errRefused }},
		{"a panic", func() error { panic("by the test") }},
		{"runtime.Goexit", func() error { runtime.Goexit(); return nil }},
	}
	value := func() any { return map[string]any{"a": "x", "in": map[string]any{"b": "y"}, "list": []any{"z"}} }
	spaces := [][]string{{"one"}, {"two"}}
	var all []check
	for _, e := range ends {
		all = append(all, check{"half an update/Modify that ends with " + e.name, func(p *probe) {
			m := need[Modifier](p)
			p.put(space, "k", value())
			err := p.finish(start(func() error {
				return m.Modify(space, "k", func(v any) (any, error) {
					spoil(v)
					return v, e.end()
				})
			}))
			must.Error(p, err)
			p.alive()
			p.holds(space, "k", value(), "half an update is stored")
		}}, check{"half an update/Batch that ends with " + e.name, func(p *probe) {
			b := need[Batcher](p)
			for _, s := range spaces {
				p.put(s, "k", value())
				p.put(s, "deleted", value())
			}
			err := p.finish(start(func() error {
				return b.Batch(func(tx Backend) error {
					for i, s := range spaces {
						v, _, err := tx.Get(s, "k")
						if err != nil {
							return err
						}
						spoil(v)
						for _, key := range []string{"k", "new"} {
							if err := tx.Put(s, key, "half"); err != nil {
								return err
							}
						}
						if d, ok := tx.(Deleter); ok {
							if err := d.Delete(s, "deleted"); err != nil {
								return err
							}
						}
						if i == 1 {
							return e.end()
						}
					}
					return nil
				})
			}))
			must.Error(p, err)
			p.alive()
			for _, s := range spaces {
				p.holds(s, "k", value(), "half an update is stored")
				p.holds(s, "deleted", value(), "half an update is stored")
				p.absent(s, "new", "half an update is stored")
				if l, ok := p.b.(Lister); ok {
					p.lists(l, s, "k", "deleted")
				}
			}
		}})
	}
	return all
}

// alive checks that others can read and write.
func (p *probe) alive() {
	p.Helper()
	p.succeed(start(func() error {
		if _, _, err := p.b.Get(space, "alive"); err != nil {
			return err
		}
		return p.b.Put(space, "alive", true)
	}))
}
