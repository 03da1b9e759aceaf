package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/cowstore/cowstore/bench/result"
)

// heading says where and how the figures below it were measured.
func heading(r *result.Report) string {
	var b strings.Builder
	h := r.Host
	fmt.Fprintf(&b, "%s %s/%s, %s, GOMAXPROCS %d\n", h.Go, h.OS, h.Arch, h.CPU, h.GOMAXPROCS)
	fmt.Fprintf(&b, "each store %d times for %v in each case, in turn with the others; seed %d\n",
		r.Rounds, time.Duration(r.RoundNS).Round(time.Millisecond), r.Seed)
	return b.String()
}

// legend says what the tables mean, what the stores promise, and what follows.
func legend(r *result.Report) string {
	var b strings.Builder
	if len(r.Workloads) > 0 {
		fmt.Fprintf(&b, "%-*s%10s%10s%8s%9s\n", nameWidth, "what they promise", "isolated", "snapshots", "atomic", "ordered")
		mark := func(promised bool) string {
			if promised {
				return "yes"
			}
			return "-"
		}
		for _, s := range r.Stores {
			if !r.Measured(s.ID) {
				continue
			}
			fmt.Fprintf(&b, "%s%10s%10s%8s%9s", padded(s.Marked(), nameWidth), mark(s.Isolated), mark(s.Snapshots), mark(s.Atomic), mark(s.Ordered))
			if s.Lacks != "" {
				fmt.Fprintf(&b, "  %s", s.Lacks)
			}
			b.WriteByte('\n')
		}
		b.WriteByte('\n')
		for _, text := range r.Method() {
			writeWrapped(&b, text)
		}
	}
	if text := busy(r); text != "" {
		writeWrapped(&b, text)
	}
	if r.Interrupted {
		b.WriteString("Interrupted: figures are of what was measured until then.\n")
	}
	for i, text := range r.Verdict() {
		if i == 0 {
			b.WriteByte('\n')
		}
		writeWrapped(&b, text)
	}
	return b.String()
}

// busy says so if other programs took the processors that clients wanted.
func busy(r *result.Report) string {
	most := 0.0
	for _, w := range r.Workloads {
		for _, c := range w.Cases {
			for _, row := range c.Rows {
				most = max(most, row.Figures["cpus"].Median)
			}
		}
	}
	could := float64(r.Host.GOMAXPROCS)
	if most == 0 || most > 0.9*could {
		return ""
	}
	return fmt.Sprintf("Other programs may have been at work, or fewer goroutines than processors: at most %.1f of %.0f processors were used. "+
		"Threads that do not run do not contend, so this flatters the stores with locks.", most, could)
}

// broken says which store broke its promise, if one did.
func broken(r *result.Report) string {
	for _, w := range r.Workloads {
		for _, c := range w.Cases {
			for _, row := range c.Rows {
				s, _ := r.StoreOf(row.Store)
				if row.Torn > 0 && promised(w.ID, s) {
					return fmt.Sprintf("%s broke its promise in %s: %d of %d were torn", s.Name, w.ID, row.Torn, row.Checked)
				}
			}
		}
	}
	return ""
}

// promised reports whether nothing may tear with a store in a workload.
func promised(workload string, s result.Store) bool {
	if workload == "scan" {
		return s.Atomic
	}
	return s.Isolated
}
