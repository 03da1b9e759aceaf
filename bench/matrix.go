package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/cowstore/cowstore/bench/result"
	"github.com/cowstore/cowstore/bench/stores"
)

// A contender is a store in one case, and what was measured of it there.
type contender struct {
	stores.Kind
	again   bool // the first store once more, to show how much two runs of one store differ
	samples []sample
}

// A matrix runs every store through every case of every workload.
type matrix struct {
	env
	plan *plan
	done func(w *result.Workload, c *result.Case) // a case is done
}

// run returns the workloads with all that was measured until ctx ended. A case that
// cannot be made ends it too.
func (m *matrix) run() (all []result.Workload, err error) {
	for i, w := range m.settings.workloads {
		r := result.Workload{ID: w.id, Name: w.name, What: w.what + m.changes(w.id), Axis: w.axis, Columns: w.columns}
		for _, k := range m.kinds {
			if !w.able(k) {
				r.Unable = append(r.Unable, k.ID)
			}
		}
		cases := w.cases(m.settings)
		for j := range cases {
			if m.Err() != nil {
				break
			}
			m.plan.at(i, j)
			var c *result.Case
			if c, err = m.runCase(w, &cases[j]); err != nil {
				err = fmt.Errorf("%s: %w", w.id, err)
				break
			}
			if c != nil {
				r.Cases = append(r.Cases, *c)
				m.done(&r, c)
			}
		}
		if len(r.Cases) > 0 {
			all = append(all, r)
		}
		if err != nil {
			break
		}
	}
	return all, err
}

// contenders returns the stores of a case. The first is there twice: in front and
// at the end, as far apart as can be.
func contenders(kinds []stores.Kind, w *workload, c *benchCase) (all []*contender) {
	for _, k := range kinds {
		if w.able(k) && (c.able == nil || c.able(k)) {
			all = append(all, &contender{Kind: k})
		}
	}
	if len(all) > 0 {
		all = append(all, &contender{Kind: all[0].Kind, again: true})
	}
	return all
}

// runCase runs one case: all stores in turn, and that several times. It returns nil
// if nothing was measured.
func (m *matrix) runCase(w workload, c *benchCase) (*result.Case, error) {
	all := contenders(m.kinds, &w, c)
	if len(all) == 0 {
		return nil, nil
	}
	t, err := c.make(m.env)
	if err != nil || m.Err() != nil {
		return nil, err
	}
	if c.takes != nil {
		m.plan.expect(c.takes, all)
	}
	m.progress.step("%s: %s", strings.TrimSpace(w.id+" "+c.name), m.plan.left())
	turns := c.turns(m.settings)
	for round := range turns {
		for _, one := range all {
			if m.Err() != nil {
				break
			}
			m.progress.live("%s %s: %s, round %d of %d; %s", w.id, c.name, one.Name, round+1, turns, m.plan.left())
			start := time.Now()
			s := t(m.Context, one.Kind)
			if m.Err() == nil {
				// What was interrupted is not a turn like the others.
				one.samples = append(one.samples, s)
				m.plan.took(time.Since(start))
			}
		}
		if round == 0 && turns > 1 && m.Err() == nil {
			m.progress.step("%s: %s", strings.TrimSpace(w.id+" "+c.name), m.plan.left()) // as measured
		}
	}
	m.progress.clear()
	return summary(c, w.columns[0].ID, all), nil
}

// summary makes a case of what was measured, nil if that is nothing.
func summary(c *benchCase, first string, all []*contender) *result.Case {
	r := &result.Case{Name: c.name, X: c.x}
	for _, one := range all {
		if len(one.samples) > 0 {
			r.Rows = append(r.Rows, one.row())
		}
	}
	if len(r.Rows) == 0 {
		return nil
	}
	if a, b := r.Rows[0], r.Rows[len(r.Rows)-1]; b.Again {
		x, y := a.Figures[first].Median, b.Figures[first].Median
		if x > 0 && y > 0 {
			r.Noise = max(x, y)/min(x, y) - 1
		}
	}
	return r
}

// row returns the medians of what was measured of c.
func (c *contender) row() result.Row {
	r := result.Row{Store: c.ID, Again: c.again, Figures: map[string]result.Figure{}}
	values := map[string][]float64{}
	var latency *hdrhistogram.Histogram
	for _, s := range c.samples {
		for id, x := range s.figures {
			values[id] = append(values[id], x)
		}
		r.Checked += s.checked
		r.Torn += s.torn
		if s.latency != nil {
			if latency == nil {
				latency = newHistogram()
			}
			latency.Merge(s.latency)
		}
	}
	for id, all := range values {
		r.Figures[id] = result.Figure{Median: median(all), Low: slices.Min(all), High: slices.Max(all)}
	}
	if latency != nil {
		r.Latency = distribution(latency)
	}
	return r
}

// A plan knows how many turns there will be, and guesses how long they take.
type plan struct {
	turns    [][]int // by workload and case
	i, j     int     // where the matrix is
	done     int     // turns, in that case
	guess    time.Duration
	guesses  map[int]time.Duration // by workload, where something is known
	spent    map[int]time.Duration // by workload
	finished map[int]int
}

func newPlan(s *settings) *plan {
	p := &plan{guess: s.turn() + time.Second/2, spent: map[int]time.Duration{}, finished: map[int]int{}, guesses: map[int]time.Duration{}}
	for _, w := range s.workloads {
		var turns []int
		for _, c := range w.cases(s) {
			turns = append(turns, c.turns(s)*len(contenders(s.kinds, &w, &c)))
		}
		p.turns = append(p.turns, turns)
	}
	return p
}

// at says that the case begins.
func (p *plan) at(i, j int) { p.i, p.j, p.done = i, j, 0 }

// expect says how long the turns of this workload will take, until one was measured.
func (p *plan) expect(takes func(stores.Kind) time.Duration, all []*contender) {
	var sum time.Duration
	for _, one := range all {
		sum += takes(one.Kind)
	}
	p.guesses[p.i] = sum / time.Duration(len(all))
}

// took says how long a turn took.
func (p *plan) took(d time.Duration) {
	p.done++
	p.finished[p.i]++
	p.spent[p.i] += d
}

// left tells people how much longer it takes, by what turns of the same workload
// took, or else a guess.
func (p *plan) left() string {
	var left time.Duration
	for i := p.i; i < len(p.turns); i++ {
		each := cmp.Or(p.guesses[i], p.guess)
		if p.finished[i] > 0 {
			each = p.spent[i] / time.Duration(p.finished[i])
		}
		for j, n := range p.turns[i] {
			switch {
			case i > p.i || j > p.j:
				left += each * time.Duration(n)
			case j == p.j:
				left += each * time.Duration(n-p.done)
			}
		}
	}
	if left < 90*time.Second {
		return fmt.Sprintf("about %.0f s to go", left.Seconds())
	}
	return fmt.Sprintf("about %.0f min to go", left.Minutes())
}

// summarised returns what the report says of each store.
func summarised(kinds []stores.Kind) (all []result.Store) {
	for _, k := range kinds {
		all = append(all, result.Store{
			ID: k.ID, Name: k.Name, Module: moduleVersion(k.Module), Ours: k.Ours,
			Isolated: k.Isolated, Snapshots: k.Snapshots, Atomic: k.Atomic, Ordered: k.Ordered, Lacks: k.Lacks,
		})
	}
	return all
}
