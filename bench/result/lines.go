// Package result makes tables and words of the lines that Go benchmarks print.
package result

import (
	"fmt"
	"io"
	"os"
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
	Host    map[string]string // what the lines say of where they are from: go, cpu, commit
	figures map[string]map[string][]float64
	names   []string
	procs   string
}

// Read reads files of benchmark lines.
func Read(paths ...string) (*Lines, error) {
	l := new(Lines)
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		err = l.read(f, path)
		_ = f.Close()
		if err != nil {
			return nil, err
		}
	}
	if len(l.names) == 0 {
		return nil, fmt.Errorf("no benchmark is in %s", strings.Join(paths, ", "))
	}
	return l, nil
}

func (l *Lines) read(from io.Reader, path string) error {
	lines := benchfmt.NewReader(from, path)
	for lines.Scan() {
		switch line := lines.Result().(type) {
		case *benchfmt.SyntaxError:
			return line
		case *benchfmt.Result:
			if l.Host == nil {
				l.Host = map[string]string{}
			}
			for _, c := range line.Config {
				if c.File {
					l.Host[c.Key] = string(c.Value)
				}
			}
			name := string(line.Name.Full())
			if i := strings.LastIndexByte(name, '-'); i >= 0 && strings.Trim(name[i+1:], "0123456789") == "" {
				if l.procs == "" {
					l.procs = name[i:]
				}
				name = strings.TrimSuffix(name, l.procs)
			}
			for _, v := range line.Values {
				if v.OrigUnit != "" { // as it was written: ns are ns
					v.Unit, v.Value = v.OrigUnit, v.OrigValue
				}
				l.add(name, v.Unit, v.Value)
			}
		}
	}
	return lines.Err()
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
		l.names = append(l.names, name)
	}
	l.figures[name][unit] = append(l.figures[name][unit], x)
}

// Processors returns how many processors the first benchmark had.
func (l *Lines) Processors() string {
	if l.procs == "" {
		return "1"
	}
	return l.procs[1:]
}

// Names returns the names of the benchmarks, in the order of the lines.
func (l *Lines) Names() []string { return l.names }

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

// Cases returns the cases of a workload that were measured, each with the stores that
// were, in the order given.
func (l *Lines) Cases(w *Workload, infos []stores.Info) (all []Case) {
	for _, size := range l.sizes(w.ID) {
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

// sizes returns the sizes at which a workload was measured, in the order of the lines.
func (l *Lines) sizes(workload string) (all []string) {
	for _, name := range l.names {
		_, rest, ok := strings.Cut(name, "/workload="+workload+"/size=")
		size, _, _ := strings.Cut(rest, "/")
		if ok && !slices.Contains(all, size) {
			all = append(all, size)
		}
	}
	return all
}

// Name returns the name of the benchmark of a store in a workload.
func Name(workload, size, store string) string {
	of := "Store"
	if slices.ContainsFunc(Workloads, func(w Workload) bool { return w.ID == workload && w.Memories }) {
		of = "Memory"
	}
	return fmt.Sprintf("%s/workload=%s/size=%s/store=%s", of, workload, size, store)
}

// noise returns by which part the first column of a store that was measured twice
// differs; 0: it was not.
func (c *Case) noise() float64 {
	if n := len(c.Rows); n > 1 && c.Rows[n-1].Again {
		x, y := c.Rows[0].Figures[c.Columns[0].Unit].Median, c.Rows[n-1].Figures[c.Columns[0].Unit].Median
		if x > 0 && y > 0 {
			return max(x, y)/min(x, y) - 1
		}
	}
	return 0
}
