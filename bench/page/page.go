// Package page shows a report of the benchmarks: as one HTML file, which needs
// nothing but itself, and as charts.
package page

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"github.com/cowstore/cowstore/bench/result"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// styles returns the style sheet with the colours of stores in it.
func styles() template.CSS {
	var b strings.Builder
	b.WriteString(":root{" + properties(false) + "}\n")
	b.WriteString("@media (prefers-color-scheme:dark){:root{" + properties(true) + "}}\n")
	b.WriteString(pageCSS)
	for i, s := range series {
		fmt.Fprintf(&b, ".k%d{background:var(--%s)}\n", i+1, s.name)
	}
	return template.CSS(b.String())
}

// A view is what the template is filled with.
type view struct {
	CSS         template.CSS
	Intro       string
	Verdict     []string
	Interrupted bool
	Facts       []fact
	Command     string
	Stores      []storeView
	Daggers     bool
	Workloads   []workloadView
	Promises    []promiseGroup
	Kept        string
	Method      method
	DaggerNote  string
}

type fact struct{ Name, Value string }

type storeView struct {
	mark
	Module                               string
	Isolated, Snapshots, Atomic, Ordered bool
	Lacks                                string
}

type workloadView struct {
	Anchor, Name, What string
	Commit             string // where it is not that of the report
	Charts             []chartView
	Tables             []table
	Last               int // of the tables
	Daggers            bool
	Unable             []mark
}

type chartView struct {
	Subject, Remark string
	SVG             template.HTML
}

// A method has what the text about it says of this run. What is empty was not
// recorded.
type method struct {
	Rounds, Round, Clock string
}

// Write writes r as one page of HTML. It is complete in itself: it loads nothing
// and runs nothing.
func Write(w io.Writer, r *result.Report) error {
	v, err := newView(r)
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	if err := pageTemplate.Execute(&buf, v); err != nil {
		return err
	}
	_, err = w.Write(buf.Bytes())
	return err
}

func newView(r *result.Report) (*view, error) {
	all := marks(r)
	v := &view{
		CSS:         styles(),
		Intro:       count(len(r.Stores), "store") + " and " + count(len(r.Workloads), "workload"),
		Verdict:     r.Verdict(),
		Interrupted: r.Interrupted,
		Facts:       facts(r),
		Command:     r.Command,
		Promises:    promises(r.Bars),
		Kept:        kept(r.Bars),
		DaggerNote:  daggerNote,
	}
	for _, s := range r.Stores {
		v.Stores = append(v.Stores, storeView{all[s.ID], s.Module, s.Isolated, s.Snapshots, s.Atomic, s.Ordered, s.Lacks})
		v.Daggers = v.Daggers || !s.Isolated
	}
	if r.Rounds > 0 {
		v.Method.Rounds = count(r.Rounds, "round")
	}
	if r.RoundNS > 0 {
		v.Method.Round = time.Duration(r.RoundNS).String()
	}
	if r.ClockNS > 0 {
		v.Method.Clock = format(float64(r.ClockNS), "ns")
	}

	charts := chartBuilder{marks: all, names: names{}}
	anchors := names{}
	for _, w := range r.Workloads {
		shown := workloadView{Anchor: anchors.unique("w " + w.ID), Name: cmp.Or(w.Name, w.ID), What: w.What, Commit: w.Commit}
		for _, c := range w.Cases {
			t := newTable(w, c, r.Stores, all)
			shown.Tables = append(shown.Tables, t)
			shown.Daggers = shown.Daggers || t.Daggers
		}
		shown.Last = len(shown.Tables) - 1
		for _, id := range w.Unable {
			m, known := all[id]
			if !known {
				m = mark{Name: id}
			}
			shown.Unable = append(shown.Unable, m)
			shown.Daggers = shown.Daggers || m.Dagger
		}
		before := len(charts.charts)
		charts.workload(w)
		for _, c := range charts.charts[before:] {
			var buf bytes.Buffer
			if err := c.SVG(&buf); err != nil {
				return nil, err
			}
			shown.Charts = append(shown.Charts, chartView{c.Subject, c.Remark, template.HTML(buf.String())})
		}
		v.Workloads = append(v.Workloads, shown)
	}
	return v, nil
}

// facts returns what the figures depend on, and what repeats them.
func facts(r *result.Report) []fact {
	var all []fact
	add := func(name string, parts ...string) {
		var known []string
		for _, p := range parts {
			if strings.TrimSpace(p) != "" {
				known = append(known, p)
			}
		}
		if len(known) > 0 {
			all = append(all, fact{name, strings.Join(known, ", ")})
		}
	}
	h := r.Host
	cpus, commit, rounds, seed := "", "", "", ""
	if h.GOMAXPROCS > 0 {
		cpus = fmt.Sprintf("GOMAXPROCS %d", h.GOMAXPROCS)
	}
	if h.Commit != "" {
		commit = h.CommitText()
	}
	if r.Rounds > 0 {
		rounds = count(r.Rounds, "round")
		if r.RoundNS > 0 {
			rounds += " of " + time.Duration(r.RoundNS).String()
		}
		rounds += " of each store in each case"
		seed = fmt.Sprintf("seed %d", r.Seed)
	}
	add("Machine", h.CPU, cpus)
	add("Go", strings.TrimSpace(h.Go+" "+strings.Trim(h.OS+"/"+h.Arch, "/")))
	add("Commit", commit)
	add("Measured", rounds, seed)
	return all
}
