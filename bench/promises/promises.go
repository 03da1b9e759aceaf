// Package promises says of each figure that the project promises whether measurements keep it.
//
// promises.txt has a line for each: what is measured of the project, what of a peer, and
// the most that the ratio of the two may be.
package promises

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
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

// Parse reads promises, one a line: group, name, at, ours, peer, unit and limit, with |
// between them. Empty lines and those that begin with # do not count. An error names the line.
func Parse(text string) (all []Promise, err error) {
	lines := csv.NewReader(strings.NewReader(text))
	lines.Comma, lines.Comment, lines.FieldsPerRecord, lines.LazyQuotes = '|', '#', 7, true
	seen := map[string]bool{}
	for {
		f, err := lines.Read()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("promises: %w", err)
		}
		line, _ := lines.FieldPos(0)
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		p := Promise{Group: f[0], Name: f[1], At: f[2], Ours: f[3], Peer: f[4], Unit: f[5], Limited: f[6] != ""}
		if p.Limited {
			p.Limit, err = strconv.ParseFloat(f[6], 64)
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("promises: line %d: limit: %w", line, err)
		case slices.Contains([]string{p.Group, p.Name, p.Ours, p.Peer, p.Unit}, ""):
			return nil, fmt.Errorf("promises: line %d: only at and limit may be empty", line)
		case seen[p.Name+"|"+p.At]:
			return nil, fmt.Errorf("promises: line %d: %q is there twice", line, p.Name)
		}
		all = append(all, p)
		seen[p.Name+"|"+p.At] = true
	}
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
	Verdict               Verdict
}

// Judge judges promises, in their order. The ratio is the median of the ratios round by
// round if both benchmarks have equally many rounds. If not, it is the ratio of the
// medians, and Low and High are of the rounds of ours to the peer's median.
func Judge(all []Promise, lines *result.Lines) []Judgement {
	judged := make([]Judgement, len(all))
	for i, p := range all {
		peer := lines.Values(p.Peer, p.Unit)
		if x, err := strconv.ParseFloat(p.Peer, 64); err == nil {
			peer = []float64{x}
		}
		judged[i] = judge(p, lines.Values(p.Ours, p.Unit), peer)
	}
	return judged
}

func judge(p Promise, ours, peer []float64) Judgement {
	if len(ours) == 0 || len(peer) == 0 {
		return Judgement{Promise: p, Verdict: NotMeasured}
	}
	j := Judgement{Promise: p, OurFigure: result.FigureOf(ours).Median, PeerFigure: result.FigureOf(peer).Median, Verdict: Held}
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
