package promises_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cowstore/cowstore/bench/promises"
	"github.com/cowstore/cowstore/bench/result"
)

func read(t *testing.T, lines ...string) (*result.Lines, error) {
	t.Helper()
	var paths []string
	for _, text := range lines {
		path := filepath.Join(t.TempDir(), "rounds.txt")
		require.NoError(t, os.WriteFile(path, []byte("goos: linux\n"+text+"PASS\n"), 0o600))
		paths = append(paths, path)
	}
	return result.Read(paths...)
}

func TestJudge(t *testing.T) {
	r, err := read(t,
		"BenchmarkGet/store=ours-2 100 10 ns/get 0.02 objects/get\nBenchmarkGet/store=peer-2 7 20 ns/get 0 objects/get\nBenchmarkGet/store=few 1 50 ns/get\n",
		"BenchmarkGet/store=ours-2 100 30 ns/get 0 objects/get\nBenchmarkGet/store=peer-2 7 20 ns/get 3 objects/get\nBenchmarkGet/store=ours-2 100 11 ns/get 0 objects/get\nBenchmarkGet/store=peer-2 1 11 ns/get 0 objects/get\n")
	require.NoError(t, err)
	const ours, peer = "Get/store=ours", "Get/store=peer"
	for _, c := range []struct {
		line                              string
		figure, of, ratio, low, high, max float64
		verdict                           promises.Verdict
	}{
		{ours + "|" + peer + "|ns/get|1", 11, 20, 1, 0.5, 1.5, 1, promises.Held},
		{ours + "|" + peer + "|ns/get|0.9", 11, 20, 1, 0.5, 1.5, 0.9, promises.Missed},
		{ours + "|" + peer + "|ns/get|", 11, 20, 1, 0.5, 1.5, 0, promises.Held},
		{ours + "|Get/store=few|ns/get|1", 11, 50, 0.22, 0.2, 0.6, 1, promises.Held},
		{ours + "|22|ns/get|0.4", 11, 22, 0.5, 10. / 22, 30. / 22, 0.4, promises.Missed},
		{"Get/store=few|25|ns/get|2", 50, 25, 2, 2, 2, 2, promises.Held},
		{ours + "|0.01|objects/get|0", 0, 0.01, 0, 0, 2, 0, promises.Held},
		{peer + "|" + ours + "|objects/get|1", 0, 0, 0, 0, math.Inf(1), 1, promises.Held},
		{ours + "|Get/store=few|objects/get|1", 0, 0, 0, 0, 0, 1, promises.NotMeasured},
		{"Get/store=gone|" + peer + "|ns/get|1", 0, 0, 0, 0, 0, 1, promises.NotMeasured},
		{"Get/store=gone|1|ns/get|", 0, 0, 0, 0, 0, 0, promises.NotMeasured},
	} {
		all, err := promises.Parse("reads|Get|1k|" + c.line)
		require.NoError(t, err)
		j := promises.Judge(all, r)[0]
		require.Equal(t, c.verdict, j.Verdict, c.line)
		require.Equal(t, all[0], j.Promise)
		require.Equal(t, c.max, j.Limit)
		require.InDeltaSlice(t, []float64{c.figure, c.of, c.ratio, c.low}, []float64{j.OurFigure, j.PeerFigure, j.Ratio, j.Low}, 1e-9, c.line)
		require.True(t, j.High == c.high || j.High-c.high < 1e-9 && c.high-j.High < 1e-9, c.line)
	}
}

func TestParse(t *testing.T) {
	const line = "reads | Get | 1k | Get | Set | ns/get | 1.5\n"
	all, err := promises.Parse("# what this is\n\n" + line + "reads | Get | 1M | Get | 2 | ns/get |")
	require.NoError(t, err)
	require.Equal(t, []promises.Promise{
		{Group: "reads", Name: "Get", At: "1k", Ours: "Get", Peer: "Set", Unit: "ns/get", Limit: 1.5, Limited: true},
		{Group: "reads", Name: "Get", At: "1M", Ours: "Get", Peer: "2", Unit: "ns/get"},
	}, all)
	for want, text := range map[string]string{
		"line 2: wrong number of fields":                   line + "reads | Get | 1M | Get | Set | ns/get",
		"line 1: only at and limit may be empty":           "reads | Get | 1M | Get | | ns/get | 1",
		`line 1: limit: strconv.ParseFloat: parsing "low"`: "reads | Get | 1k | Get | Set | ns/get | low",
		`line 3: "Get" is there twice`:                     line + "\n" + line,
	} {
		_, err := promises.Parse(text)
		require.ErrorContains(t, err, want)
	}
	require.NotEmpty(t, promises.All())
}
