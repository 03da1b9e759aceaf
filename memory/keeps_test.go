package memory_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
)

// A shown is all that an entry has, as text.
type shown struct{ value, vector, metadata, expires, created, updated string }

func show(s memory.Space, key string) (is shown) {
	e, ok := s.Entry(key)
	if !ok {
		return shown{}
	}
	begin := func(t time.Time) string {
		if t.IsZero() {
			return "never"
		}
		return fmt.Sprint(t.Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)))
	}
	v, _ := s.Vector(key)
	is = shown{value: e.Value.String(), expires: begin(e.Expires), created: begin(e.Created), updated: begin(e.Updated)}
	if v != nil {
		is.vector = fmt.Sprint(v)
	}
	if e.Metadata.Exists() {
		b, _ := e.Metadata.MarshalJSON()
		is.metadata = string(b)
	}
	return is
}

// What each verb keeps, and what it sets: the table of doc.go, cell by cell.
func TestWhatEachVerbKeeps(t *testing.T) {
	const key = "k"
	minute := map[string]any{"m": 2}
	modified := func(v any) func(memory.Value) (any, error) {
		return func(memory.Value) (any, error) { return v, nil }
	}
	// An entry begins at 0s, with a time to live of 10m0s; the verb comes at 1m0s, in a space
	// of 1h0m0s: what expires at 1h1m0s was set anew.
	whole := shown{"tea", "[1 0]", `{"m":1}`, "10m0s", "0s", "0s"}
	bare := shown{"tea", "", "", "10m0s", "0s", "0s"}
	vector := shown{"", "[1 0]", `{"m":1}`, "10m0s", "0s", "0s"}
	for _, c := range []struct {
		verb  string
		do    func(v verbs) error
		wants map[shown]shown // by what there was; the zero one: nothing
	}{
		{"Put", func(v verbs) error { return v.Put(key, "coffee") }, map[shown]shown{
			whole:  {"coffee", "", `{"m":1}`, "1h1m0s", "0s", "1m0s"},
			bare:   {"coffee", "", "", "1h1m0s", "0s", "1m0s"},
			vector: {"coffee", "[1 0]", `{"m":1}`, "1h1m0s", "0s", "1m0s"},
			{}:     {"coffee", "", "", "1h1m0s", "1m0s", "1m0s"},
		}},
		{"Put of the same", func(v verbs) error { return v.Put(key, "tea") }, map[shown]shown{
			whole: {"tea", "[1 0]", `{"m":1}`, "1h1m0s", "0s", "1m0s"},
			bare:  {"tea", "", "", "1h1m0s", "0s", "1m0s"},
		}},
		{"Put of nil", func(v verbs) error { return v.Put(key, nil) }, map[shown]shown{
			whole: {"", "", `{"m":1}`, "1h1m0s", "0s", "1m0s"},
		}},
		{"Insert", func(v verbs) error { return v.Insert(key, "coffee") }, map[shown]shown{
			vector: {"coffee", "[1 0]", `{"m":1}`, "1h1m0s", "0s", "1m0s"},
			{}:     {"coffee", "", "", "1h1m0s", "1m0s", "1m0s"},
		}},
		{"Modify", func(v verbs) error { return v.Modify(key, modified("coffee")) }, map[shown]shown{
			whole: {"coffee", "", `{"m":1}`, "10m0s", "0s", "1m0s"},
			bare:  {"coffee", "", "", "10m0s", "0s", "1m0s"},
		}},
		{"Modify to the same", func(v verbs) error { return v.Modify(key, modified("tea")) }, map[shown]shown{
			whole: {"tea", "[1 0]", `{"m":1}`, "10m0s", "0s", "1m0s"},
		}},
		{"Upsert", func(v verbs) error { return v.Upsert(key, modified("coffee")) }, map[shown]shown{
			whole:  {"coffee", "", `{"m":1}`, "10m0s", "0s", "1m0s"},
			vector: {"coffee", "[1 0]", `{"m":1}`, "1h1m0s", "0s", "1m0s"},
			{}:     {"coffee", "", "", "1h1m0s", "1m0s", "1m0s"},
		}},
		{"SetIf", func(v verbs) error {
			e, _ := v.Entry(key)
			return v.SetIf(key, e.Revision, "coffee")
		}, map[shown]shown{
			whole: {"coffee", "", `{"m":1}`, "1h1m0s", "0s", "1m0s"},
		}},
		{"PutItem", func(v verbs) error { return v.PutItem(key, memory.Item{Value: "coffee"}) }, map[shown]shown{
			whole:  {"coffee", "", "", "1h1m0s", "0s", "1m0s"},
			bare:   {"coffee", "", "", "1h1m0s", "0s", "1m0s"},
			vector: {"coffee", "", "", "1h1m0s", "0s", "1m0s"},
			{}:     {"coffee", "", "", "1h1m0s", "1m0s", "1m0s"},
		}},
		{"PutItem of all", func(v verbs) error {
			return v.PutItem(key, memory.Item{Value: "tea", Vector: []float32{0, 1}, Metadata: minute, TTL: time.Minute})
		}, map[shown]shown{
			whole: {"tea", "[0 1]", `{"m":2}`, "2m0s", "0s", "1m0s"},
		}},
		{"PutVector", func(v verbs) error { return v.PutVector(key, []float32{0, 1}, minute) }, map[shown]shown{
			whole:  {"tea", "[0 1]", `{"m":2}`, "10m0s", "0s", "1m0s"},
			bare:   {"tea", "[0 1]", `{"m":2}`, "10m0s", "0s", "1m0s"},
			vector: {"", "[0 1]", `{"m":2}`, "10m0s", "0s", "1m0s"},
			{}:     {"", "[0 1]", `{"m":2}`, "1h1m0s", "1m0s", "1m0s"},
		}},
		{"PutVector without metadata", func(v verbs) error { return v.PutVector(key, []float32{0, 1}, nil) }, map[shown]shown{
			whole: {"tea", "[0 1]", "", "10m0s", "0s", "1m0s"},
		}},
		{"DeleteVector", func(v verbs) error { v.DeleteVector(key); return nil }, map[shown]shown{
			whole:  {"tea", "", "", "10m0s", "0s", "1m0s"},
			bare:   bare,
			vector: {},
		}},
		{"Put, PutVector", func(v verbs) error {
			require.NoError(t, v.Put(key, "coffee"))
			return v.PutVector(key, []float32{0, 0, 1}, nil) // of the vector that went nothing is left
		}, map[shown]shown{
			whole: {"coffee", "[0 0 1]", "", "1h1m0s", "0s", "1m0s"},
		}},
		{"Put twice", func(v verbs) error {
			require.NoError(t, v.Put(key, "coffee"))
			return v.Put(key, "tea")
		}, map[shown]shown{
			whole: {"tea", "", `{"m":1}`, "1h1m0s", "0s", "1m0s"},
		}},
	} {
		for from, want := range c.wants {
			for _, alone := range []bool{true, false} {
				t.Run(fmt.Sprint(c.verb, from, alone), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						m := memory.New(memory.Options{})
						m.DB().Retain(cow.Retention{Versions: 10})
						s := m.Space("s")
						require.NoError(t, errOf(s.Configure(memory.SpaceOptions{TTL: time.Hour})))
						switch it := (memory.Item{Value: "tea", Vector: []float32{1, 0}, Metadata: map[string]any{"m": 1}, TTL: 10 * time.Minute}); from {
						case vector: // its expiry is not to be had by a verb
							_, err := m.Import(t.Context(), strings.NewReader(`{"space":["s"],"key":"k","vector":[1,0],"metadata":{"m":1},"expires":"2000-01-01T00:10:00Z"}`))
							require.NoError(t, err)
						case bare:
							it.Vector, it.Metadata = nil, nil
							fallthrough
						case whole:
							require.NoError(t, errOf(s.PutItem(key, it)))
						}
						require.Equal(t, from, show(s, key))
						time.Sleep(time.Minute)
						before := m.Load().Version()
						if alone {
							require.NoError(t, c.do(&counting{Space: s}))
						} else {
							require.NoError(t, m.Batch(func(b *memory.Batch) error {
								require.NoError(t, c.do(b.Space("s")))
								e, _ := b.Space("s").Entry(key)
								require.Equal(t, len(strings.Fields(want.vector)), e.Dim)
								return nil
							}))
						}
						require.Equal(t, want, show(s, key))

						// Each index shows what the entry has, and no more.
						for query, at := range map[string][]float32{"[1 0]": {1, 0}, "[0 1]": {0, 1}, "[0 0 1]": {0, 0, 1}} {
							if want.vector != "" && len(strings.Fields(query)) != len(strings.Fields(want.vector)) {
								continue
							}
							hits, err := s.Search(memory.Query{Vector: at, MinScore: 0.5})
							require.NoError(t, err)
							require.Equal(t, query == want.vector, len(hits) == 1, query)
						}
						for _, word := range []string{"tea", "coffee"} {
							hits, err := s.Search(memory.Query{Text: word})
							require.NoError(t, err)
							require.Equal(t, want.value == word, len(hits) == 1, word)
						}
						require.NoError(t, m.CheckDerived())

						// An export and an Undo have the whole entry as it was.
						other := memory.New(memory.Options{})
						_, err := other.Import(t.Context(), strings.NewReader(exported(t, m)))
						require.NoError(t, err)
						require.Equal(t, want, show(other.Space("s"), key))
						for v := m.Load().Version(); v > before; v-- {
							require.NoError(t, m.Undo(t.Context(), v))
						}
						require.Equal(t, from, show(s, key))
						require.NoError(t, m.CheckDerived())
					})
				})
			}
		}
	}
}

// A merge takes whole entries; one that a resolver gives another value is as after Put.
func TestAResolvedValueHasNoVectorOfAnother(t *testing.T) {
	for value, want := range map[any]string{"coffee": "", "tea": "[0 1]", "water": ""} {
		m := memory.New(memory.Options{})
		s := m.Space("s")
		base := m.Load()
		fork := m.Fork(base)
		require.NoError(t, errOf(s.PutItem("k", memory.Item{Value: "coffee", Vector: []float32{1, 0}})))
		require.NoError(t, errOf(fork.Space("s").PutItem("k", memory.Item{Value: "tea", Vector: []float32{0, 1}, Metadata: map[string]any{"m": 1}})))
		_, err := m.Merge(t.Context(), base, fork.Load(), func(c memory.Conflict) (memory.Entry, error) {
			c.Theirs.Value = freeze(t, value)
			return c.Theirs, nil
		})
		require.NoError(t, err)
		is := show(s, "k")
		require.Equal(t, want, is.vector)
		require.Equal(t, []string{fmt.Sprint(value), `{"m":1}`}, []string{is.value, is.metadata})
		hits, err := s.Search(memory.Query{Vector: []float32{0, 1}})
		require.NoError(t, err)
		require.Equal(t, want != "", len(hits) == 1)
		require.NoError(t, m.CheckDerived())
	}
	// Without a conflict the entry comes as it is.
	m := memory.New(memory.Options{})
	base := m.Load()
	fork := m.Fork(base)
	require.NoError(t, errOf(fork.Space("s").PutItem("k", memory.Item{Value: "tea", Vector: []float32{0, 1}})))
	_, err := m.Merge(t.Context(), base, fork.Load(), nil)
	require.NoError(t, err)
	require.Equal(t, "[0 1]", show(m.Space("s"), "k").vector)
}

// Typed values are put as others are.
func TestATypedValueHasNoVectorOfAnother(t *testing.T) {
	type drink struct{ Name string }
	m := memory.New(memory.Options{})
	s := memory.Of[drink](m.Space("s"))
	for name, write := range map[string]func() error{
		"Put": func() error { return errOf(s.Put("k", drink{"coffee"})) },
		"Update": func() error {
			return errOf(s.Update("k", func(d *drink, _ bool) error { d.Name = "coffee"; return nil }))
		},
	} {
		require.NoError(t, errOf(s.Space.PutItem("k", memory.Item{Value: drink{"tea"}, Vector: []float32{1}})))
		require.NoError(t, errOf(s.Update("k", func(*drink, bool) error { return nil })))
		require.Equal(t, "[1]", show(s.Space, "k").vector, "it is the same")
		require.NoError(t, write())
		require.Empty(t, show(s.Space, "k").vector, name)
	}
}
