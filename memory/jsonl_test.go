package memory_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory"
	"github.com/cowstore/cowstore/memory/value"
	"github.com/cowstore/cowstore/memory/vector"
)

func export(t testing.TB, s memory.Snapshot) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, s.Export(&b))
	return b.String()
}

func TestExportAndImportAreInverse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{})
		type point struct{ X, Y int }
		for i, v := range []any{
			nil, true, 0, -1, int64(math.MaxInt64), uint64(math.MaxUint64), uint64(math.MaxInt64) + 1, 1.5, -0.25, 1e300, math.SmallestNonzeroFloat64, 1e21, 3.0,
			"", "text \"quoted\" <b>&amp; \u2028 é 漢 🙂\x00\x1f\n", []any{}, map[string]any{}, []any{1, "a", nil, []any{2.5}},
			map[string]any{"": 1, "a.b": map[string]any{"c": []any{uint64(math.MaxUint64), -7}}, "<": nil}, point{1, 2}, []string{"x"},
		} {
			time.Sleep(time.Second + 7)
			require.NoError(t, errOf(m.Space("values").Put(fmt.Sprintf("%02d", i), v)))
		}
		require.NoError(t, errOf(m.Space().Put("", "root and empty")))
		require.NoError(t, errOf(m.Space("a", "", "b/c:d").PutVector("v", []float32{0.1, -0, math.MaxFloat32, math.SmallestNonzeroFloat32}, map[string]any{"n": 1, "f": 0.1})))
		require.NoError(t, errOf(m.Space("a").PutItem("both", memory.Item{Value: "some words", Vector: []float32{1}, TTL: time.Hour})))
		require.NoError(t, errOf(m.Space("a").PutItem("metadata", memory.Item{Value: 1, Metadata: map[string]any{}})))
		require.NoError(t, errOf(m.Space("a").PutItem("gone", memory.Item{Value: 1, TTL: time.Second})))
		time.Sleep(time.Minute)
		require.NoError(t, errOf(m.Space("a").Modify("both", func(memory.Value) (any, error) { return "other words", nil })))

		s := m.Load()
		text := export(t, s)
		require.Equal(t, text, export(t, s), "the same bytes")
		require.Equal(t, s.Len(), strings.Count(text, "\n"))
		require.NotContains(t, text, "gone")
		time.Sleep(time.Minute)
		n := memory.New(memory.Options{TTL: time.Second}) // which is not for what is imported
		count, err := n.Import(t.Context(), strings.NewReader(text))
		require.NoError(t, err)
		require.Equal(t, s.Len(), count)
		require.EqualValues(t, (count+15)/16, n.Load().Version(), "a few at a time")
		require.Equal(t, text, export(t, n.Load()))
		requireSameContent(t, s, n.Load())
		require.NoError(t, n.CheckDerived())
		require.Equal(t, []string{"both"}, hitKeys(n.Space("a").Search(memory.Query{Text: "words"})))
		time.Sleep(time.Hour)
		require.False(t, func() bool { _, ok := n.Space("a").Get("both"); return ok }(), "what expires expires there, too")
		require.True(t, func() bool { _, ok := n.Space("a").Get("metadata"); return ok }())
	})
}

// requireSameContent compares all but revisions.
func requireSameContent(t testing.TB, want, is memory.Snapshot) {
	t.Helper()
	require.Equal(t, spaces(want, memory.SpacesOptions{}), spaces(is, memory.SpacesOptions{}))
	for path := range want.Spaces(memory.SpacesOptions{}) {
		v, w := want.Space(path...), is.Space(path...)
		require.Equal(t, keys(v), keys(w))
		for e := range v.List(memory.ListOptions{}) {
			f, ok := w.Entry(e.Key)
			require.True(t, ok)
			require.True(t, memory.Equal(e.Value, f.Value), "%q %q: %v %v", path, e.Key, e.Value.Any(), f.Value.Any())
			require.True(t, memory.Equal(e.Metadata, f.Metadata))
			require.True(t, e.Created.Equal(f.Created) && e.Updated.Equal(f.Updated) && e.Expires.Equal(f.Expires))
			a, _ := v.Vector(e.Key)
			b, _ := w.Vector(e.Key)
			require.Equal(t, a, b)
		}
	}
}

func TestImportReplacesAndKeepsOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(memory.Options{TTL: time.Hour})
		s := m.Space("s")
		require.NoError(t, errOf(s.PutItem("a", memory.Item{Value: "old words", Vector: []float32{1, 2}, Metadata: map[string]any{"n": 1}})))
		require.NoError(t, errOf(s.Put("b", 1)))
		require.NoError(t, errOf(m.Space("t").Put("a", 1)))
		before := m.Load()
		time.Sleep(time.Minute)
		n, err := m.Import(t.Context(), strings.NewReader("\n  \n"+`{"space":["s"],"key":"a","value":"new"}`+"\r\n\n"+
			`{"space":["s"],"key":"c","vector":[3,4],"created":"2001-02-03T04:05:06.000000007Z","updated":"2001-02-03T05:05:06+01:00","expires":"2100-01-01T00:00:00Z"}`))
		require.NoError(t, err)
		require.Equal(t, 2, n)
		require.Equal(t, before.Version()+1, m.Load().Version())
		require.Equal(t, []string{"a", "b", "c"}, keys(s.Load()))
		e, _ := s.Entry("a")
		require.Equal(t, "new", e.Value.String())
		require.Zero(t, e.Dim)
		require.False(t, e.Metadata.Exists())
		require.True(t, e.Expires.IsZero())
		require.True(t, e.Created.Equal(time.Now()))
		require.Empty(t, hitKeys(s.Search(memory.Query{Text: "old"})))
		require.Equal(t, []string{"c"}, hitKeys(s.Search(memory.Query{Vector: []float32{1, 1}})))
		e, _ = s.Entry("c")
		require.False(t, e.Value.Exists())
		require.True(t, e.Created.Equal(time.Date(2001, 2, 3, 4, 5, 6, 7, time.UTC)))
		require.True(t, e.Updated.Equal(time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)))
		require.True(t, e.Expires.Equal(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)))
		require.Equal(t, 1, m.Space("t").Len())
		require.NoError(t, m.CheckDerived())

		n, err = m.Import(t.Context(), strings.NewReader("\n\n"))
		require.NoError(t, err)
		require.Zero(t, n)
	})
}

// Of two lines for one entry the last counts. What has expired is not seen.
func TestImportOfTwoForOneAndOfTheExpired(t *testing.T) {
	m := memory.New(memory.Options{})
	n, err := m.Import(t.Context(), strings.NewReader(`{"space":["s"],"key":"a","value":"one","vector":[1]}
{"space":["s"],"key":"a","value":"two"}
{"space":["s"],"key":"gone","value":"gone","vector":[1,2],"expires":"2001-01-01T00:00:00Z"}`))
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.Equal(t, []string{"a"}, keys(m.Space("s").Load()))
	require.Equal(t, 1, m.Load().Len())
	require.NoError(t, m.CheckDerived())
	require.NoError(t, errOf(m.Space("s").PutVector("b", []float32{1, 2, 3}, nil)))
	require.NoError(t, m.CheckDerived())
}

func TestImportRefusesWhatIsNoEntry(t *testing.T) {
	good := `{"space":["s"],"key":"good","value":1,"vector":[1]}`
	deep := strings.Repeat("[", 1500) + strings.Repeat("]", 1500)
	deeper := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	for name, c := range map[string]struct {
		line string
		also error
	}{
		"bad JSON":             {`{"space":["s"],"key":"a","value":1`, nil},
		"no JSON":              {`hello`, nil},
		"no object":            {`["s","a",1]`, nil},
		"null":                 {`null`, nil},
		"unknown member":       {`{"space":["s"],"key":"a","value":1,"colour":"red"}`, nil},
		"upper case":           {`{"Space":["s"],"key":"a","value":1}`, nil},
		"two of a member":      {`{"space":["s"],"key":"a","key":"b","value":1}`, nil},
		"no space":             {`{"key":"a","value":1}`, nil},
		"no key":               {`{"space":["s"],"value":1}`, nil},
		"neither":              {`{"space":["s"],"key":"a","metadata":{}}`, nil},
		"null space":           {`{"space":null,"key":"a","value":1}`, nil},
		"null in space":        {`{"space":["s",null],"key":"a","value":1}`, nil},
		"number in space":      {`{"space":[1],"key":"a","value":1}`, nil},
		"space is a string":    {`{"space":"s","key":"a","value":1}`, nil},
		"null key":             {`{"space":["s"],"key":null,"value":1}`, nil},
		"number key":           {`{"space":["s"],"key":1,"value":1}`, nil},
		"empty vector":         {`{"space":["s"],"key":"a","vector":[]}`, vector.ErrEmpty},
		"null in vector":       {`{"space":["s"],"key":"a","vector":[null]}`, nil},
		"text in vector":       {`{"space":["s"],"key":"a","vector":["1"]}`, nil},
		"vector is an object":  {`{"space":["s"],"key":"a","vector":{}}`, nil},
		"large in vector":      {`{"space":["s"],"key":"a","vector":[1e39]}`, nil},
		"NaN in vector":        {`{"space":["s"],"key":"a","vector":[NaN]}`, nil},
		"wrong dimension":      {`{"space":["s"],"key":"a","vector":[1,2]}`, memory.ErrDimension},
		"NaN":                  {`{"space":["s"],"key":"a","value":NaN}`, nil},
		"Infinity":             {`{"space":["s"],"key":"a","value":-Infinity}`, nil},
		"too large a number":   {`{"space":["s"],"key":"a","value":[1e999]}`, nil},
		"too deep":             {`{"space":["s"],"key":"a","value":` + deep + `}`, value.ErrTooDeep},
		"much too deep":        {`{"space":["s"],"key":"a","value":` + deeper + `}`, nil},
		"too deep metadata":    {`{"space":["s"],"key":"a","value":1,"metadata":{"a":` + deep + `}}`, value.ErrTooDeep},
		"not UTF-8":            {`{"space":["s"],"key":"` + "\xff" + `","value":1}`, memory.ErrUTF8},
		"two values":           {`{"space":["s"],"key":"a","value":1} {"space":["s"],"key":"b","value":1}`, nil},
		"something after":      {`{"space":["s"],"key":"a","value":1},`, nil},
		"metadata is a list":   {`{"space":["s"],"key":"a","value":1,"metadata":[1]}`, nil},
		"metadata is a number": {`{"space":["s"],"key":"a","value":1,"metadata":1}`, nil},
		"late time":            {`{"space":["s"],"key":"a","value":1,"expires":"2300-01-01T00:00:00Z"}`, nil},
		"early time":           {`{"space":["s"],"key":"a","value":1,"created":"1600-01-01T00:00:00Z"}`, nil},
		"no time":              {`{"space":["s"],"key":"a","value":1,"updated":"yesterday"}`, nil},
		"a number as time":     {`{"space":["s"],"key":"a","value":1,"updated":17}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := memory.New(memory.Options{})
			require.NoError(t, errOf(m.Space("s").Put("x", 1)))
			before := m.Load()
			n, err := m.Import(t.Context(), strings.NewReader(good+"\n\n"+c.line+"\n"+good))
			if c.also == memory.ErrDimension {
				require.ErrorIs(t, err, memory.ErrDimension)
			} else {
				require.ErrorIs(t, err, memory.ErrMalformed)
			}
			if c.also != nil {
				require.ErrorIs(t, err, c.also)
			}
			require.ErrorContains(t, err, "line 3")
			require.Less(t, len(err.Error()), 5000)
			require.Zero(t, n)
			require.True(t, before == m.Load(), "nothing is imported")
		})
	}
}

func TestImportPassesOnTheErrorOfItsReader(t *testing.T) {
	m := memory.New(memory.Options{})
	broken := errors.New("broken")
	_, err := m.Import(t.Context(), io.MultiReader(strings.NewReader(`{"space":["s"],"key":"a","value":1}`+"\n"), errReader{broken}))
	require.ErrorIs(t, err, broken)
	require.Zero(t, m.Load().Version())
	_, err = m.Import(t.Context(), io.MultiReader(strings.NewReader(`{"space":["s"],"key":"a",`), errReader{broken}))
	require.ErrorIs(t, err, broken)
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

func TestImportRefusesALineThatIsTooLong(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("reads 64 MiB")
	}
	m := memory.New(memory.Options{})
	_, err := m.Import(t.Context(), io.MultiReader(strings.NewReader(`{"space":["`), endless{}))
	require.ErrorIs(t, err, memory.ErrMalformed)
	require.ErrorContains(t, err, "line 1")
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

func TestExportRefusesWhatIsNotUTF8(t *testing.T) {
	for name, put := range map[string]func(m *memory.Memory) error{
		"path":    func(m *memory.Memory) error { return errOf(m.Space("a", "\xff").Put("k", 1)) },
		"key":     func(m *memory.Memory) error { return errOf(m.Space("a").Put("\xff", 1)) },
		"value":   func(m *memory.Memory) error { return errOf(m.Space("a").Put("k", []any{map[string]any{"x": "\xff"}})) },
		"map key": func(m *memory.Memory) error { return errOf(m.Space("a").Put("k", []any{map[string]any{"\xff": "x"}})) },
		"metadata": func(m *memory.Memory) error {
			return errOf(m.Space("a").PutVector("k", []float32{1}, map[string]any{"x": "\xff"}))
		},
		// The parts make a rune only together.
		"parts":         func(m *memory.Memory) error { return errOf(m.Space("\xc3", "\xa9").Put("k", 1)) },
		"path and key":  func(m *memory.Memory) error { return errOf(m.Space("\xc3").Put("\xa9", 1)) },
		"key and value": func(m *memory.Memory) error { return errOf(m.Space("a").Put("\xc3", "\xa9")) },
	} {
		t.Run(name, func(t *testing.T) {
			m := memory.New(memory.Options{})
			require.NoError(t, errOf(m.Space("A").Put("k", strings.Repeat("x", 1<<18))), "more than is buffered")
			require.NoError(t, put(m))
			var b bytes.Buffer
			require.ErrorIs(t, m.Load().Export(&b), memory.ErrUTF8)
			require.ErrorIs(t, m.Backup(&b), memory.ErrUTF8)
			require.Zero(t, b.Len(), "nothing is written")
		})
	}
}

func TestExportPassesOnTheErrorOfItsWriter(t *testing.T) {
	m := memory.New(memory.Options{})
	require.NoError(t, errOf(m.Space("s").Put("a", 1)))
	r, w := io.Pipe()
	require.NoError(t, r.Close())
	require.ErrorIs(t, m.Load().Export(w), io.ErrClosedPipe)
	require.NoError(t, memory.Snapshot{}.Export(w), "there is nothing to write")
}

// What is exported is one version, whatever is written meanwhile.
func TestExportShowsOneVersion(t *testing.T) {
	m := memory.New(memory.Options{})
	write := func(n int) {
		require.NoError(t, m.Batch(func(b *memory.Batch) error {
			for i := range 20 {
				if err := b.Space(fmt.Sprint("s", i%3)).PutItem(fmt.Sprint(i), memory.Item{Value: n, Vector: []float32{float32(n)}, Metadata: map[string]any{"n": n}}); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	write(0)
	n := 0
	var b bytes.Buffer
	require.NoError(t, m.Load().Export(writerFunc(func(p []byte) (int, error) {
		n++
		write(n)
		return b.Write(p)
	})))
	require.Positive(t, n)
	// In parallel as well.
	stop := make(chan bool)
	done := make(chan bool)
	go func() {
		defer close(done)
		for n := n; ; n++ {
			select {
			case <-stop:
				return
			default:
				write(n)
			}
		}
	}()
	for i := range quicker(50) {
		if i > 0 {
			b.Reset()
			require.NoError(t, m.Load().Export(&b))
		}
		seen := make(map[int]bool)
		lines := 0
		for d := json.NewDecoder(&b); d.More(); lines++ {
			var r struct {
				Value    int
				Vector   []int
				Metadata struct{ N int }
			}
			require.NoError(t, d.Decode(&r))
			seen[r.Value], seen[r.Vector[0]], seen[r.Metadata.N] = true, true, true
		}
		require.Equal(t, 20, lines)
		require.Len(t, seen, 1)
	}
	close(stop)
	<-done
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func FuzzImport(f *testing.F) {
	f.Add([]byte(`{"space":["s"],"key":"a","value":{"n":[1,2.5,null,true,"x"]},"vector":[1,-2],"metadata":{"n":1},"created":"2001-02-03T04:05:06.7Z","updated":"2001-02-03T04:05:06+01:00","expires":"2100-01-01T00:00:00Z"}`))
	f.Add([]byte(`{"space":[],"key":"","value":-0}` + "\n" + `{"space":["",""],"key":"\u0000","value":1e21}`))
	f.Add([]byte(`{"space":["s"],"key":"a","value":18446744073709551615}` + "\n\n" + `{"space":["s"],"key":"a","value":[[[]]]}`))
	f.Add([]byte(`{"space":["s"],"key":"\ud800","value":"\u2028<"}`))
	f.Add([]byte(`{"space":["s"],"key":"a","vector":["1"]}`))
	f.Add([]byte(`{"space":["s"] "key":"a","value":1}`))
	f.Add([]byte(`{"space":["s"],"key":"a","value":1.0e2,"metadata":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m := memory.New(memory.Options{})
		n, err := m.Import(t.Context(), bytes.NewReader(text))
		if err != nil {
			require.Zero(t, n)
			require.Zero(t, m.Load().Version())
			require.ErrorContains(t, err, "memory: line ")
			return
		}
		for line := range bytes.Lines(text) {
			require.True(t, len(bytes.TrimSpace(line)) == 0 || json.Valid(line), "%q is no JSON", line)
		}
		require.NoError(t, m.CheckDerived())
		s := m.Load()
		first := export(t, s)
		again := memory.New(memory.Options{})
		n, err = again.Import(t.Context(), strings.NewReader(first))
		require.NoError(t, err)
		require.Equal(t, strings.Count(first, "\n"), n)
		requireSameContent(t, s, again.Load())
		require.Equal(t, first, export(t, again.Load()))
	})
}
