package memory_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/filter"
	"github.com/cowstore/cowstore/memory/value"
	"github.com/cowstore/cowstore/memory/vector"
)

// Whatever is printed or logged is short, and has nothing of what lies inside.
func TestWhatIsPrintedIsShort(t *testing.T) {
	large := strings.Repeat("wörter ", 50_000)
	m := memory.New(memory.Options{NoText: true})
	path := []string{"user", large, "notes", "more", "and", "more", "of", "it", "and", "so", "on"}
	s := m.Space(path...)
	it := memory.Item{Value: map[string]any{large: []any{large}}, Vector: make([]float32, 2000), Metadata: map[string]any{"m": large}, TTL: time.Hour}
	_, err := s.PutItem(large, it)
	require.NoError(t, err)
	require.NoError(t, m.Batch(func(b *memory.Batch) error {
		for i := range 10_000 {
			if err := b.Space("many").Put(fmt.Sprint(i), i); err != nil {
				return err
			}
		}
		return nil
	}))
	e, _ := s.Entry(large)
	snapshot := m.Load()
	for name, v := range map[string]any{
		"string": freeze(t, large), "list": freeze(t, []any{large}), "map": e.Value, "bytes": freeze(t, []byte(large)),
		"number": freeze(t, json.Number("1."+strings.Repeat("1", 1<<18))), "absent": memory.Value{},
		"entry": e, "no entry": memory.Entry{}, "hit": memory.Hit{Entry: e, Score: 0.5},
		"snapshot": snapshot, "none": memory.Snapshot{},
	} {
		var text, lines bytes.Buffer
		slog.New(slog.NewTextHandler(&text, nil)).Info("", "v", v)
		slog.New(slog.NewJSONHandler(&lines, nil)).Info("", "v", v)
		require.True(t, json.Valid(lines.Bytes()))
		for i, is := range append([]string{text.String(), lines.String(), fmt.Sprintln(v)},
			fmt.Sprintf("%v", v), fmt.Sprintf("%+v", v), fmt.Sprintf("%#v", v), fmt.Sprintf("%s", v), fmt.Sprintf("%q", v)) {
			require.LessOrEqual(t, len(is), 400, "%s, %d: %s", name, i, is)
			require.NotContains(t, is, "0xc0")
			require.NotContains(t, is, "%!")
		}
		a := testing.AllocsPerRun(10, func() { _ = fmt.Sprint(v) })
		require.Less(t, a, 100.0, name)
	}
	require.Equal(t, "[version=2 entries=10001 spaces=2]", fmt.Sprint(snapshot))
	require.Equal(t, "[version=0 entries=0 spaces=0]", fmt.Sprint(memory.Snapshot{}))
}

func TestWhatIsPrinted(t *testing.T) {
	at := time.Date(2027, 1, 2, 3, 4, 5, 6, time.UTC)
	for _, c := range []struct {
		v              any
		println, quote string
	}{
		{"Ada", "Ada", `"Ada"`}, {7, "7", `"7"`}, {-1.5, "-1.5", `"-1.5"`}, {uint64(math.MaxUint64), "18446744073709551615", `"18446744073709551615"`},
		{true, "true", `"true"`}, {nil, "null", `"null"`}, {[]byte("ab"), "bytes of 2", `"bytes of 2"`}, {at, "2027-01-02T03:04:05.000000006Z", ""},
		{[]any{1, 2}, "list of 2", ""}, {map[string]int{"a": 1}, "map of 1", ""}, {json.Number("1e300"), "1e300", ""},
	} {
		v := freeze(t, c.v)
		require.Equal(t, c.println, fmt.Sprint(v))
		require.Equal(t, c.println, fmt.Sprintf("%s", v))
		require.Equal(t, c.println, v.LogValue().String())
		if c.quote != "" {
			require.Equal(t, c.quote, fmt.Sprintf("%q", v))
		}
	}
	require.Equal(t, "absent", fmt.Sprint(memory.Value{}))
	require.Equal(t, "  7|1.50", fmt.Sprintf("%3d|%.2f", freeze(t, 7), freeze(t, 1.5)))

	m := memory.New(memory.Options{})
	s := m.Space("user", "42")
	_, err := s.PutItem("name", memory.Item{Value: "Ada", Vector: []float32{1}, Metadata: map[string]any{"a": 1}})
	require.NoError(t, err)
	e, _ := s.Entry("name")
	require.Equal(t, "[key=name value=Ada metadata=map of 1 dim=1 revision=1]", fmt.Sprint(e))
	hits, err := s.Search(memory.Query{Text: "ada"})
	require.NoError(t, err)
	require.Regexp(t, `^\[score=1 key=name value=Ada metadata=map of 1 dim=1 revision=1]$`, fmt.Sprint(hits[0]))
}

// The JSON of a Value is all of it, and that of a Snapshot is an error and not {}.
func TestJSONOfWhatIsPrintedShort(t *testing.T) {
	text, err := json.Marshal(freeze(t, map[string]any{"a": []any{1, "x"}}))
	require.NoError(t, err)
	require.JSONEq(t, `{"a":[1,"x"]}`, string(text))
	_, err = json.Marshal(map[string]any{"s": memory.New(memory.Options{}).Load()})
	require.ErrorContains(t, err, "call Export")
}

// A write returns the version that it published, or 0 if it changed nothing or failed.
func TestAWriteReturnsWhatItBecame(t *testing.T) {
	m := memory.New(memory.Options{})
	s := m.Space("s")
	next := func(rev uint64, err error) {
		t.Helper()
		require.NoError(t, err)
		require.Equal(t, m.Load().Version(), rev)
	}
	none := func(rev uint64, err error) {
		t.Helper()
		require.Zero(t, rev)
	}
	to := func(memory.Value) (any, error) { return 1, nil }
	next(s.Put("a", 1))
	next(s.Put("a", 1))
	next(s.PutItem("b", memory.Item{Value: 1}))
	next(s.Insert("c", 1))
	none(s.Insert("c", 1))
	next(s.Modify("a", to))
	none(s.Modify("none", to))
	next(s.Upsert("d", to))
	rev, err := s.SetIf("a", 5, 2)
	next(rev, err)
	none(s.SetIf("a", 1, 2))
	none(s.SetIf("a", memory.Pending, 2))
	e, _ := s.Entry("a")
	require.Equal(t, rev, e.Revision)
	next(s.PutVector("a", []float32{1}, nil))
	none(s.PutVector("b", []float32{1, 2}, nil))
	next(s.DeleteVector("a"))
	none(s.DeleteVector("a"))
	none(s.DeleteIf("a", 1))
	none(s.DeleteIf("none", 0))
	next(s.Delete("d"))
	none(s.Delete("d"))
	next(s.Configure(memory.SpaceOptions{MaxEntries: 2}))
	none(s.Configure(memory.SpaceOptions{MaxEntries: 2}))
	require.Equal(t, 2, s.Len())
	version := m.Load().Version()
	n, err := s.Clear()
	require.NoError(t, err)
	require.Equal(t, 2, n)
	n, err = s.Clear()
	require.NoError(t, err)
	require.Zero(t, n)
	_, found, err := s.Take("a")
	require.NoError(t, err)
	require.False(t, found)
	require.Equal(t, version+1, m.Load().Version())
}

// A delete of what is absent returns 0, though its version sweeps what has expired.
func TestADeleteOfNothingThatSweepsReturnsZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{TTL: time.Nanosecond})
		s := m.Space("s")
		_, err := s.Put("a", 1)
		require.NoError(t, err)
		time.Sleep(time.Nanosecond)
		rev, err := s.Delete("a")
		require.NoError(t, err)
		require.Zero(t, rev)
		require.Equal(t, uint64(2), m.Load().Version())
	})
}

// Errors have the name of this package once, in front, and name the space and the key.
func TestTextsOfErrors(t *testing.T) {
	m := memory.New(memory.Options{MaxBytes: 2000})
	s := m.Space("user", "42")
	require.NoError(t, errOf(s.PutItem("v", memory.Item{Value: 1, Vector: []float32{1, 2}})))
	search := func(q memory.Query) error {
		_, err := s.Search(q)
		return err
	}
	_, at := m.At(99)
	var changes error
	for _, err := range m.Changes(t.Context(), 99) {
		changes = err
	}
	_, imported := m.Import(t.Context(), strings.NewReader(`{"space":[],"key":"k","vector":[]}`))
	_, badValue := m.Import(t.Context(), strings.NewReader(`{"space":["s"],"key":"k","vector":[1,"x"]}`))
	_, as := memory.As[int](freeze(t, "x"))
	for _, c := range []struct {
		err, is error
		has     string
	}{
		{errOf(s.Insert("v", 1)), memory.ErrExists, `memory: space ["user" "42"], key "v": key exists`},
		{errOf(s.SetIf("v", 7, 1)), memory.ErrRevision, `key "v": key is not at that revision`},
		{errOf(s.Put("k", map[string]any{"c": make(chan int)})), value.ErrUnsupported, `memory: space ["user" "42"], key "k": chan int at "c": not a JSON-like value`},
		{errOf(s.PutItem("k", memory.Item{Value: make(chan int)})), value.ErrUnsupported, `memory: space ["user" "42"], key "k": chan int: `},
		{errOf(s.PutVector("k", []float32{1}, nil)), memory.ErrDimension, `memory: space ["user" "42"], key "k": wrong dimension: have 1, want 2`},
		{errOf(s.PutVector("k", nil, nil)), vector.ErrEmpty, `key "k": empty vector`},
		{errOf(m.Space().Put("", strings.Repeat("x", 5000))), memory.ErrFull, "memory: more than a limit allows"},
		{search(memory.Query{}), memory.ErrQuery, `memory: space ["user" "42"]: bad query: neither a Text nor a Vector, and a Filter alone is for List: empty vector`},
		{search(memory.Query{Vector: []float32{}}), vector.ErrEmpty, `memory: space ["user" "42"]: empty vector`},
		{search(memory.Query{Text: "x", Vector: []float32{}}), vector.ErrEmpty, `memory: space ["user" "42"]: empty vector`},
		{search(memory.Query{Vector: []float32{1}}), memory.ErrDimension, `memory: space ["user" "42"]: wrong dimension: `},
		{search(memory.Query{Text: "x", K: -1}), memory.ErrQuery, `memory: space ["user" "42"]: bad query: K is -1`},
		{search(memory.Query{Vector: []float32{1, 2}, Metric: 9}), memory.ErrQuery, `bad query: Metric(9)`},
		{search(memory.Query{Text: "x", Filter: filter.Meta("x").Eq(make(chan int))}), filter.ErrInvalid, `bad query: erroneous filter on metadata x: chan int: not a`},
		{at, cow.ErrUnpublished, "memory: version 99"},
		{changes, cow.ErrUnpublished, "memory: version 99"},
		{imported, vector.ErrEmpty, "memory: line 1: malformed entry: vector: empty vector"},
		{badValue, memory.ErrMalformed, "memory: line 1: malformed entry: vector: "},
		{as, nil, "value: as int: "},
	} {
		require.ErrorContains(t, c.err, c.has)
		if c.is != nil {
			require.ErrorIs(t, c.err, c.is)
		}
		pkg := "memory: "
		if c.err == as {
			pkg = "value: "
		}
		require.Equal(t, 1, strings.Count(c.err.Error(), pkg), c.err)
		require.True(t, strings.HasPrefix(c.err.Error(), pkg), c.err)
		for _, name := range []string{"cow: ", "vector: e", "vector: w", "text: "} {
			if !errors.Is(c.err, memory.ErrMalformed) {
				require.NotContains(t, c.err.Error(), name)
			}
		}
	}
}
