package memory_test

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/memory"
)

func TestImportTakesTimesOf1970(t *testing.T) {
	m := memory.New(memory.Options{})
	_, err := m.Import(t.Context(), strings.NewReader(`{"space":["s"],"key":"a","value":1,"created":"1970-01-01T00:00:00Z","updated":"1970-01-01T00:00:00Z"}
{"space":["s"],"key":"b","value":1,"created":"1969-12-31T23:59:59.999999999Z","updated":"1970-01-01T00:00:00.000000001Z"}
{"space":["s"],"key":"gone","value":1,"expires":"1970-01-01T00:00:00Z"}`))
	require.NoError(t, err)
	s := m.Space("s")
	require.Equal(t, 2, s.Len())
	for _, key := range []string{"a", "b"} {
		e, _ := s.Entry(key)
		require.Less(t, time.Unix(0, 0).Sub(e.Created).Abs(), time.Second, key)
		require.Less(t, time.Unix(0, 0).Sub(e.Updated).Abs(), time.Second, key)
	}
	// A write keeps when an entry was created, and tells when it was updated.
	require.NoError(t, errOf(s.Put("a", 2)))
	require.NoError(t, errOf(s.PutItem("b", memory.Item{Value: 2})))
	e, _ := s.Entry("a")
	require.True(t, e.Created.Equal(time.Unix(0, 0)))
	require.Greater(t, e.Updated.Year(), 2000)
	e, _ = s.Entry("b")
	require.True(t, e.Created.Equal(time.Unix(0, -1)))
	var b strings.Builder
	require.NoError(t, m.Load().Export(&b))
	require.Contains(t, b.String(), `"created":"1970-01-01T00:00:00Z"`)
}

// A member that may be absent may be null.
func TestImportTakesNull(t *testing.T) {
	m := memory.New(memory.Options{TTL: time.Hour})
	n, err := m.Import(t.Context(), strings.NewReader(`{"space":["s"],"key":"a","value":null,"vector":null,"metadata":null,"created":null,"updated":null,"expires":null,"revision":null,"options":null,"cursor":null,"time":null}
{"space":["s"],"key":"b","vector":[1]}`))
	require.NoError(t, err)
	require.Equal(t, 2, n)
	e, ok := m.Space("s").Entry("a")
	require.True(t, ok)
	require.True(t, e.Value.IsNull())
	require.Zero(t, e.Dim)
	require.False(t, e.Metadata.Exists())
	require.True(t, e.Expires.IsZero())
	require.Greater(t, e.Created.Year(), 2000)
	for _, line := range []string{`{"space":["s"],"key":"a","vector":null}`, `{"space":null,"key":"a","value":1}`, `{"space":["s"],"key":null,"value":1}`,
		`{"space":["s"],"key":"a","value":1,"vector":null,"vector":null}`} {
		_, err := m.Import(t.Context(), strings.NewReader(line))
		require.ErrorIs(t, err, memory.ErrMalformed, line)
	}
}

func TestMaxLine(t *testing.T) {
	line := func(value string) string { return `{"space":[],"key":"k","value":` + value + `}` }
	text := `"` + strings.Repeat("x", 1000) + `"`
	length := len(line(text))
	for _, end := range []string{"", "\n", "\n" + line("1")} {
		m := memory.New(memory.Options{MaxLine: length})
		_, err := m.Import(t.Context(), strings.NewReader(line(text)+end))
		require.NoError(t, err)
		m = memory.New(memory.Options{MaxLine: length - 1})
		_, err = m.Import(t.Context(), strings.NewReader(line(text)+end))
		require.ErrorIs(t, err, memory.ErrMalformed)
		require.ErrorContains(t, err, "line 1")
		require.ErrorContains(t, err, "Options.MaxLine")
	}
	// What a value takes is limited too, before it takes it.
	for _, many := range []string{"[" + strings.Repeat("0,", 1000) + "0]", strings.Repeat("[", 999) + strings.Repeat("]", 999), `{"a":[` + strings.Repeat("{},", 1000) + "{}]}"} {
		m := memory.New(memory.Options{MaxLine: 4000})
		_, err := m.Import(t.Context(), strings.NewReader(line(many)))
		require.ErrorIs(t, err, memory.ErrMalformed)
		require.ErrorContains(t, err, "Options.MaxLine")
		m = memory.New(memory.Options{MaxLine: 50_000})
		_, err = m.Import(t.Context(), strings.NewReader(line(many)))
		require.NoError(t, err)
	}
	require.Panics(t, func() { memory.New(memory.Options{MaxLine: -1}) })
	long := memory.New(memory.Options{MaxLine: 300_000})
	_, err := long.Import(t.Context(), strings.NewReader(line(`"`+strings.Repeat("x", 200_000)+`"`)+"\n"+line(`"`+strings.Repeat("y", 250_000)+`"`)+"\n"))
	require.NoError(t, err)
	v, _ := long.Space().Get("k")
	require.Equal(t, strings.Repeat("y", 250_000), v.String())
	_, err = long.Import(t.Context(), strings.NewReader(line(`"`+strings.Repeat("x", 300_000)+`"`)))
	require.ErrorIs(t, err, memory.ErrMalformed)
}

// Besides what is stored, reading a line allocates in all no more than four times its
// length.
func TestImportAllocatesLittle(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const n, node = 1 << 17, 32
	for name, c := range map[string]struct {
		member string
		nodes  int
		other  int // bytes that are stored besides
	}{
		"numbers":  {`"value":[` + strings.Repeat("0,", n) + `0]`, n, 0},
		"floats":   {`"value":[` + strings.Repeat("1.5,", n) + `0]`, n, 0},
		"lists":    {`"value":[` + strings.Repeat("[],", n) + `0]`, n, 0},
		"objects":  {`"value":[` + strings.Repeat("{},", n) + `0]`, n, 0},
		"members":  {`"value":[` + strings.Repeat(`{"some":1,"name":2},`, n) + `0]`, 4 * n, 0},
		"strings":  {`"value":[` + strings.Repeat(`"",`, n) + `0]`, n, 0},
		"one text": {`"value":"` + strings.Repeat("x", 4*n) + `"`, 1, 4 * n},
		"digits":   {`"value":[` + strings.Repeat("123456789012345678901,", n) + `0]`, n, n * (16 + 24)},
		"vector":   {`"vector":[` + strings.Repeat("1,", n) + `1]`, 0, 3 * 4 * n},
	} {
		t.Run(name, func(t *testing.T) {
			line := `{"space":["s"],"key":"k",` + c.member + `}`
			m := memory.New(memory.Options{NoText: true})
			defer debug.SetGCPercent(debug.SetGCPercent(-1))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := m.Import(t.Context(), strings.NewReader(line))
			runtime.ReadMemStats(&after)
			require.NoError(t, err)
			taken := int(after.TotalAlloc-before.TotalAlloc) - c.nodes*node - c.other
			require.Less(t, taken, 4*len(line)+1<<18, "%.1f times the line", float64(taken)/float64(len(line)))
		})
	}
}

// What overflows the numbers of a search is still a score.
func TestScoresAreFinite(t *testing.T) {
	m := memory.New(memory.Options{})
	s := m.Space("s")
	const huge = math.MaxFloat32
	require.NoError(t, errOf(s.PutVector("plus", []float32{huge, huge}, nil)))
	require.NoError(t, errOf(s.PutVector("minus", []float32{-huge, -huge}, nil)))
	require.NoError(t, errOf(s.PutVector("both", []float32{huge, -huge}, nil)))
	for _, metric := range []memory.Metric{memory.Cosine, memory.Dot, memory.L2} {
		for _, q := range [][]float32{{huge, huge}, {-huge, huge}, {1, 1}} {
			hits, err := s.Search(memory.Query{Vector: q, Metric: metric})
			require.NoError(t, err)
			require.Len(t, hits, 3)
			for _, h := range hits {
				require.False(t, math.IsInf(h.Score, 0) || math.IsNaN(h.Score), fmt.Sprint(metric, q, h.Key, h.Score))
			}
			again, err := s.Search(memory.Query{Vector: q, Metric: metric, MinScore: hits[0].Score})
			require.NoError(t, err)
			require.Equal(t, hits[0].Key, again[0].Key)
		}
	}
}
