package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// A bar is one figure that the project promises: what it measured of itself and
// of a peer in the same run, and how far apart they may be.
type bar struct {
	Name  string  `json:"name"`
	Ours  float64 `json:"ours"`
	Peer  float64 `json:"peer"`
	Unit  string  `json:"unit"`
	Ratio float64 `json:"ratio"` // ours to peer; below 1 is better
	Bar   float64 `json:"bar"`   // the most it may be; 0: for information
	Pass  bool    `json:"pass"`
}

// runBars measures all bars, prints them as they come, and returns the exit
// code: 1 if one is missed.
func runBars(ctx context.Context, w io.Writer, asJSON bool, only string) int {
	var all []bar
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	missed := 0
	b := &bars{ctx: ctx, rounds: 9}
	b.report = func(r bar) {
		all = append(all, r)
		verdict := "pass"
		switch {
		case r.Bar == 0 && r.Pass:
			verdict = ""
		case !r.Pass:
			verdict = "MISSED"
			missed++
		}
		if asJSON {
			return
		}
		limit := ""
		if r.Bar != 0 {
			limit = fmt.Sprintf("<= %.2f", r.Bar)
		}
		fmt.Fprintf(tw, "%-58s\t%s\t%s\t%.2fx\t%s\t%s\n", r.Name, amount(r.Ours, r.Unit), amount(r.Peer, r.Unit), r.Ratio, limit, verdict)
		tw.Flush()
	}
	b.all(only)
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		_ = enc.Encode(all)
	}
	if missed > 0 {
		return 1
	}
	return 0
}

// count writes a number of keys the short way.
func count(n int) string {
	switch {
	case n%1_000_000 == 0:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n%1_000 == 0:
		return fmt.Sprintf("%dk", n/1_000)
	}
	return fmt.Sprint(n)
}

// amount writes a figure with its unit, times in what reads best.
func amount(x float64, unit string) string {
	if unit == "ns" && x >= 1000 {
		switch {
		case x >= 1e6:
			return fmt.Sprintf("%.2f ms", x/1e6)
		default:
			return fmt.Sprintf("%.2f µs", x/1e3)
		}
	}
	return strings.TrimSpace(fmt.Sprintf("%.1f %s", x, unit))
}
