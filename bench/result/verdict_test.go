package result

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// verdictOf returns the verdict on four stores with those figures, of which a round
// was so many times as much or as little at most.
func verdictOf(more bool, noise, spread, own, shared, copies, plain float64) []string {
	w, c := caseOf(more, noise, map[string]float64{"own": own, "shared": shared, "copies": copies, "plain": plain, "worse": math.NaN()},
		"own", "copies", "worse", "shared", "plain")
	w.Name, w.Columns[0].Name, w.Columns[0].Unit = "Work", "rate", "/s"
	for _, row := range c.Rows {
		x := row.Figures["it"].Median
		row.Figures["it"] = Figure{Median: x, Low: x / spread, High: x * spread}
	}
	c.Rows = append(c.Rows, Row{Store: "own", Again: true, Figures: map[string]Figure{"it": {Median: 1e9}}})
	w.Cases = []Case{*c}
	return (&Report{Workloads: []Workload{*w}, Stores: []Store{
		{ID: "own", Name: "Own", Ours: true, Isolated: true}, {ID: "shared", Name: "Shared", Ours: true},
		{ID: "copies", Name: "Copies", Isolated: true}, {ID: "plain", Name: "Plain"}, {ID: "worse", Name: "Worse"},
	}}).Verdict()
}

func TestVerdict(t *testing.T) {
	const right = "right where nobody writes to a value that was stored or read, and nobody needs several keys as they were at one moment."
	ahead := []string{"In short (Work; rate):",
		"What isolation costs: Shared, the same store without copies, is 1.50 times as fast as Own.",
		"What cowstore saves: no time here. Copies, the best other store that is isolated too, is 1.20 times as fast as Own.",
		"Where another is better: Plain, the fastest that is not isolated, is 2.00 times as fast as Own. It is " + right,
	}
	behind := []string{"In short (Work; rate):",
		"What isolation costs: no time here. Own is 1.25 times as fast as Shared, the same store without copies.",
		"What cowstore saves: Own is 2.00 times as fast as Copies, the best other store that is isolated too.",
		"Where another is better: not for speed here. Own is 4.00 times as fast as Plain, the fastest that is not isolated. That one is " + right,
	}
	equal := []string{"In short (Work; rate):",
		"What isolation costs: nothing that shows. Own and Shared, the same store without copies, differ by 4.0 %, which may be noise.",
		"What cowstore saves: nothing that shows. Own and Copies, the best other store that is isolated too, differ by 4.2 %, which may be noise.",
		"Where another is better: hardly for speed here. Own and Plain, the fastest that is not isolated, differ by 0.0 %, which may be noise. The latter is " + right,
	}
	require.Equal(t, ahead, verdictOf(true, 0.02, 1.05, 100, 150, 120, 200))
	require.Equal(t, ahead, verdictOf(false, 0.02, 1.05, 300, 200, 250, 150))
	require.Equal(t, behind, verdictOf(true, 0.02, 1.05, 100, 80, 50, 25))
	require.Equal(t, behind, verdictOf(false, 0.02, 1.05, 100, 125, 200, 400))
	require.Equal(t, equal, verdictOf(true, 0, 1, 100, 104, 96, 100))
	loud := verdictOf(true, 0.6, 1, 100, 150, 120, 200)
	require.Contains(t, loud[1], "differ by 50.0 %, which may be noise", "what the noise is, the run says")
	require.Contains(t, loud[2], "differ by 20.0 %, which may be noise")
	require.Equal(t, ahead[3], loud[3])
	unsteady := verdictOf(true, 0.02, 1.3, 100, 150, 120, 200)
	require.Equal(t, loud, unsteady, "and so do rounds that overlap")

	number := regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)
	for _, v := range [][]string{ahead, behind, equal, loud} {
		require.Len(t, number.FindAllString(strings.Join(v, " "), -1), 3)
	}
}

func TestVerdictOfTheBestPeer(t *testing.T) {
	r := sample()
	require.Equal(t, []string{"In short (Work, 230 B; ops/s):",
		"Where another is better: peer, the fastest that is not isolated, is 2.00 times as fast as ours. It is right where nobody writes to a value " +
			"that was stored or read, and nobody needs several keys as they were at one moment."}, r.Verdict())

	// A faster one that has snapshots, and a workload with more of the stores.
	r.Stores = append(r.Stores, Store{ID: "fast", Name: "fast", Snapshots: true}, Store{ID: "slow", Name: "slow", Isolated: true}, Store{ID: "fair", Name: "fair", Isolated: true})
	more := r.Workloads[0]
	more.Name = "More"
	more.Cases = []Case{more.Cases[0]}
	for id, x := range map[string]float64{"fast": 9e6, "slow": 1e6, "fair": 2e6} {
		more.Cases[0].Rows = append(more.Cases[0].Rows, Row{Store: id, Figures: map[string]Figure{"ops": {Median: x}}})
	}
	r.Workloads = append(r.Workloads, more)
	require.Equal(t, []string{"In short (More, 230 B; ops/s):",
		"What cowstore saves: ours is 1.50 times as fast as fair, the best other store that is isolated too.",
		"Where another is better: fast, the fastest that is not isolated, is 3.00 times as fast as ours. It is right where nobody writes to a value " +
			"that was stored or read."}, r.Verdict())

	for i := range r.Workloads {
		r.Workloads[i].Columns[0].Unit = "B"
	}
	require.Empty(t, r.Verdict(), "no speed")
	require.Empty(t, new(Report).Verdict())
	r = sample()
	r.Stores = r.Stores[1:]
	require.Empty(t, r.Verdict(), "none of ours")
	r = sample()
	r.Stores = r.Stores[:1]
	require.Empty(t, r.Verdict(), "none of the others")
}
