// Package result makes tables and words of the lines that Go benchmarks print.
package result

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/cowstore/cowstore/bench/stores"
)

// Lines are what benchmarks reported, by name and unit, in the order of the rounds. A name
// is without "Benchmark" before it, and without the number of processors behind it where
// that is the one of the first line.
type Lines struct {
	Names []string          // in the order of the lines
	Host  map[string]string // what the lines say of where they are from: go, cpu, commit; and procs, the processors of the first

	figures map[string]map[string][]float64
}

// and joins what lines say that differ.
const and = " and "

// Read reads files of benchmark lines.
func Read(paths ...string) (*Lines, error) {
	l := &Lines{Host: map[string]string{}}
	files := benchfmt.Files{Paths: paths}
	for files.Scan() {
		switch line := files.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, line
		case *benchfmt.Result:
			for _, c := range line.Config {
				switch was, is := l.Host[c.Key], strings.TrimSpace(string(c.Value)); {
				case !c.File:
				case was == "":
					l.Host[c.Key] = is
				case !slices.Contains(strings.Split(was, and), is): // some lines are older, or of another machine
					l.Host[c.Key] = was + and + is
				}
			}
			base, parts := line.Name.Parts()
			name := string(base) + string(bytes.Join(parts, nil))
			procs := "1"
			if n := len(parts); n > 0 && parts[n-1][0] == '-' {
				procs = string(parts[n-1][1:])
			}
			if l.Host["procs"] == "" {
				l.Host["procs"] = procs
			}
			name = strings.TrimSuffix(name, "-"+l.Host["procs"])
			for _, v := range line.Values {
				if v.OrigUnit != "" { // as it was written: ns are ns
					v.Unit, v.Value = v.OrigUnit, v.OrigValue
				}
				l.add(name, v.Unit, v.Value)
			}
		}
	}
	if err := files.Err(); err != nil {
		return nil, err
	}
	if len(l.Names) == 0 {
		return nil, fmt.Errorf("no benchmark is in %s", strings.Join(paths, ", "))
	}
	return l, nil
}

// Add adds what one run of a benchmark reported.
func (l *Lines) Add(name string, r testing.BenchmarkResult) {
	for unit, x := range r.Extra {
		l.add(name, unit, x)
	}
}

func (l *Lines) add(name, unit string, x float64) {
	if l.figures == nil {
		l.figures = map[string]map[string][]float64{}
	}
	if l.figures[name] == nil {
		l.figures[name] = map[string][]float64{}
		l.Names = append(l.Names, name)
	}
	l.figures[name][unit] = append(l.figures[name][unit], x)
}

// Values returns what a benchmark reported in a unit, round by round.
func (l *Lines) Values(name, unit string) []float64 { return l.figures[name][unit] }

// A Figure is the median of the rounds, and the least and the most of them.
type Figure struct{ Median, Low, High float64 }

// FigureOf returns the Figure of values, of which there must be one at least.
func FigureOf(values []float64) Figure {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return Figure{(v[(n-1)/2] + v[n/2]) / 2, v[0], v[n-1]}
}

// A Row is one store in one case.
type Row struct {
	Store   stores.Info
	Again   bool              // the first store once more, which is the noise
	Figures map[string]Figure // by unit; what was not measured is not there
}

// A Case is a workload at one size: a row a store.
type Case struct {
	*Workload
	Size string
	Rows []Row
}

// Again is the ID of the first store when it is measured once more.
const Again = "again"

// Cases returns the cases of a workload that were measured, in the order of the lines, each
// with the stores that were, in the order given.
func (l *Lines) Cases(w *Workload, infos []stores.Info) (all []Case) {
	var sizes []string
	for _, name := range l.Names {
		_, rest, ok := strings.Cut(name, "/workload="+w.ID+"/size=")
		size, _, _ := strings.Cut(rest, "/")
		if ok && !slices.Contains(sizes, size) {
			sizes = append(sizes, size)
		}
	}
	for _, size := range sizes {
		c := Case{Workload: w, Size: size}
		for _, info := range append(slices.Clone(infos), stores.Info{ID: Again}) {
			figures := l.figures[Name(w.ID, size, info.ID)]
			if figures == nil {
				continue
			}
			r := Row{Store: info, Again: info.ID == Again, Figures: map[string]Figure{}}
			if r.Again && len(c.Rows) > 0 {
				r.Store = c.Rows[0].Store
			}
			for unit, values := range figures {
				r.Figures[unit] = FigureOf(values)
			}
			c.Rows = append(c.Rows, r)
		}
		all = append(all, c)
	}
	return all
}

// Name returns the name of the benchmark of a store in a workload.
func Name(workload, size, store string) string {
	of := "Store"
	if w := WorkloadOf(workload); w != nil && w.Memories {
		of = "Memory"
	}
	return fmt.Sprintf("%s/workload=%s/size=%s/store=%s", of, workload, size, store)
}
