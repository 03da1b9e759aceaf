package page

import (
	"slices"
	"strings"

	"github.com/cowstore/cowstore/bench/result"
)

// A promiseGroup is promises of speed about one thing.
type promiseGroup struct {
	Name string
	Rows []promise
}

// A promise is one bar, or the same one at several sizes: then each text has
// them in the order of At.
type promise struct {
	Name                        string
	At, Ours, Peer, Ratio, Most string
	Verdicts                    []verdict
}

type verdict struct {
	Text   string
	Missed bool
}

// promises merges bars that differ only in where they were measured.
func promises(bars []result.Bar) (groups []promiseGroup) {
	for _, same := range result.Same(bars) {
		i := slices.IndexFunc(groups, func(g promiseGroup) bool { return g.Name == same[0].Group })
		if i < 0 {
			i = len(groups)
			groups = append(groups, promiseGroup{Name: same[0].Group})
		}
		groups[i].Rows = append(groups[i].Rows, newPromise(same))
	}
	return groups
}

func newPromise(bars []result.Bar) promise {
	most := func(b result.Bar) string {
		if b.Bar == 0 {
			return result.Missing
		}
		return format(b.Bar, "x")
	}
	p := promise{
		Name:  bars[0].Name,
		At:    joined(bars, func(b result.Bar) string { return b.At }),
		Ours:  joined(bars, func(b result.Bar) string { return format(b.Ours, b.Unit) }),
		Peer:  joined(bars, func(b result.Bar) string { return format(b.Peer, b.Unit) }),
		Ratio: joined(bars, func(b result.Bar) string { return format(b.Ratio, "x") }),
		Most:  joined(bars, most),
	}
	// One bar that is the same everywhere is said once.
	if !slices.ContainsFunc(bars, func(b result.Bar) bool { return b.Bar != bars[0].Bar }) {
		p.Most = most(bars[0])
	}
	for _, b := range bars {
		p.Verdicts = append(p.Verdicts, newVerdict(b))
	}
	if slices.Equal(p.Verdicts, slices.Repeat(p.Verdicts[:1], len(p.Verdicts))) {
		p.Verdicts = p.Verdicts[:1]
	}
	return p
}

func newVerdict(b result.Bar) verdict {
	switch {
	case !b.Pass:
		return verdict{"MISSED", true}
	case b.Bar == 0:
		return verdict{Text: result.Missing}
	}
	return verdict{Text: "pass"}
}

func joined(bars []result.Bar, text func(result.Bar) string) string {
	texts := make([]string, len(bars))
	for i, b := range bars {
		texts[i] = text(b)
	}
	return strings.Join(texts, " / ")
}

// kept says how many of the bars that promise anything were kept.
func kept(bars []result.Bar) string {
	all, missed := 0, 0
	for _, b := range bars {
		if b.Bar != 0 || !b.Pass {
			all++
		}
		if !b.Pass {
			missed++
		}
	}
	if missed > 0 {
		return count(missed, "promise") + " of " + result.Thousands(all) + " MISSED."
	}
	return count(all, "promise") + ", all kept."
}
