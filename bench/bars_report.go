package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/cowstore/cowstore/bench/result"
)

// measureBars measures all bars, or those of one group, prints them as they come,
// and returns them.
func measureBars(ctx context.Context, w io.Writer, p *progress, only string) (all []result.Bar) {
	b := &bars{ctx: ctx, rounds: 9}
	b.emit = func(r result.Bar) {
		if ctx.Err() != nil {
			return // measured in part only
		}
		all = append(all, r)
		p.clear()
		fmt.Fprint(w, barLine(r))
		p.live("bars: %s", r.Group)
	}
	b.all(only)
	fmt.Fprintln(w)
	return all
}

// barLine writes a bar for people.
func barLine(r result.Bar) string {
	name, limit, verdict := r.Name, "", "pass"
	if r.At != "" {
		name += " at " + r.At
	}
	if r.Bar != 0 {
		limit = fmt.Sprintf("<= %.2f", r.Bar)
	}
	switch {
	case !r.Pass:
		verdict = "MISSED"
	case r.Bar == 0:
		verdict = ""
	}
	return strings.TrimRight(fmt.Sprintf("%s %10s %10s %7.2fx %8s  %s",
		padded(name, 58), result.Amount(r.Ours, r.Unit), result.Amount(r.Peer, r.Unit), r.Ratio, limit, verdict), " ") + "\n"
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
