// Package promises says of each figure that the project promises whether measurements keep it.
//
// promises.txt has a line for each: what is measured of the project, what of a peer, and
// the most that the ratio of the two may be.
package promises

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cowstore/cowstore/bench/result"
)

// A Promise is the most that the ratio of two figures may be.
type Promise struct {
	Group, Name, At string  // At: the size, if the same is promised of several
	Ours, Peer      string  // benchmarks, named as in result.Lines; Peer may be a number
	Unit            string  // of both figures
	Limit           float64 // the most that the ratio may be
	Limited         bool    // whether there is a Limit; if not, the ratio is for information
}

//go:embed promises.txt
var text string

// All returns the promises of this project.
func All() []Promise {
	all, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return all
}

var columns = []string{"group", "name", "at", "ours", "peer", "unit", "limit"}

// Parse reads promises, one a line, with | between the columns that the first line
// names. Empty lines and those that begin with # do not count. An error names the line.
func Parse(text string) (all []Promise, err error) {
	header, seen := false, map[[2]string]bool{}
	for i, line := range strings.Split(text, "\n") {
		fail := func(format string, args ...any) ([]Promise, error) {
			return nil, fmt.Errorf("promises: line %d: "+format, append([]any{i + 1}, args...)...)
		}
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, "|")
		for j := range f {
			f[j] = strings.TrimSpace(f[j])
		}
		if len(f) != len(columns) {
			return fail("%d columns, want %d", len(f), len(columns))
		}
		if !header {
			for j, name := range f {
				if name != columns[j] {
					return fail("column %q, want %q", name, columns[j])
				}
			}
			header = true
			continue
		}
		p := Promise{Group: f[0], Name: f[1], At: f[2], Ours: f[3], Peer: f[4], Unit: f[5], Limited: f[6] != ""}
		if slices.Contains([]string{p.Group, p.Name, p.Ours, p.Peer, p.Unit}, "") {
			return fail("only at and limit may be empty")
		}
		if p.Limited {
			if p.Limit, err = strconv.ParseFloat(f[6], 64); err != nil {
				return fail("limit: %w", err)
			}
		}
		if seen[[2]string{p.Name, p.At}] {
			return fail("%q is there twice", p.Name)
		}
		seen[[2]string{p.Name, p.At}] = true
		all = append(all, p)
	}
	return all, nil
}

// A Verdict says whether a promise is kept.
type Verdict string

// The Verdicts. What has no limit is Held if it was measured.
const (
	Held        Verdict = "held"
	Missed      Verdict = "MISSED"
	NotMeasured Verdict = "not measured"
)

// A Judgement is a promise with its figures. They are 0 if it is NotMeasured.
type Judgement struct {
	Promise
	OurFigure, PeerFigure float64 // the medians of the rounds
	Ratio                 float64
	Low, High             float64 // the least and the most that the ratio was in a round
	Rounds                int     // of ours
	Verdict               Verdict
}

// Judge judges promises, in their order. The ratio is the median of the ratios round by
// round if both benchmarks have equally many rounds. If not, it is the ratio of the
// medians, and Low and High are of the rounds of ours to the peer's median.
func Judge(all []Promise, lines *result.Lines) []Judgement {
	judged := make([]Judgement, len(all))
	for i, p := range all {
		judged[i] = judge(p, lines.Values(p.Ours, p.Unit), peer(p, lines))
	}
	return judged
}

func peer(p Promise, lines *result.Lines) []float64 {
	if x, err := strconv.ParseFloat(p.Peer, 64); err == nil {
		return []float64{x}
	}
	return lines.Values(p.Peer, p.Unit)
}

func judge(p Promise, ours, peer []float64) Judgement {
	if len(ours) == 0 || len(peer) == 0 {
		return Judgement{Promise: p, Verdict: NotMeasured}
	}
	j := Judgement{Promise: p, OurFigure: result.FigureOf(ours).Median, PeerFigure: result.FigureOf(peer).Median, Rounds: len(ours), Verdict: Held}
	ratios := make([]float64, len(ours))
	for i := range ours {
		of := j.PeerFigure
		if len(ours) == len(peer) {
			of = peer[i]
		}
		ratios[i] = ratio(ours[i], of)
	}
	// Against one figure the median of the ratios is the ratio of the medians.
	of := result.FigureOf(ratios)
	j.Ratio, j.Low, j.High = of.Median, of.Low, of.High
	if p.Limited && !(j.Ratio <= p.Limit) {
		j.Verdict = Missed
	}
	return j
}

// ratio returns the ratio of two figures; of none to none it is 0.
func ratio(ours, peer float64) float64 {
	if ours == 0 {
		return 0
	}
	return ours / peer
}
