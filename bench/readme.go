package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/cowstore/cowstore/bench/result"
)

// updateReadmes puts the figures of the report in the folder out into files, which
// are separated by commas. If one of them cannot be filled, none is written.
func updateReadmes(files, out string) error {
	r, err := read(filepath.Join(out, reportFile), result.Read)
	if err != nil {
		return err
	}
	texts := map[string]string{}
	for file := range strings.SplitSeq(files, ",") {
		file = strings.TrimSpace(file)
		old, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if texts[file], err = filled(r, string(old)); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	for file, text := range texts {
		err := writeFile(file, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// errNoMarkers says that a file has no place for figures.
var errNoMarkers = errors.New("there are no markers for figures")

// excerpt matches the marker for some stores and columns of a workload, with what
// follows up to the end.
var excerpt = regexp.MustCompile(`(?s)<!-- figures: workload (\S+) of (\S+) with (\S+) -->\n(.*?)<!-- figures end -->`)

// filled returns text with the figures of r between its markers. These are those of
// [result.Report.Fill], and
//
//	<!-- figures: workload docs of cowstore,rwmutex-copy with ops,p50 -->
//
// for a small table: those stores and columns of the workload only, by their IDs.
func filled(r *result.Report, text string) (string, error) {
	if !strings.Contains(text, "<!-- figures: ") {
		return "", errNoMarkers
	}
	var b strings.Builder
	for {
		at := excerpt.FindStringSubmatchIndex(text)
		if at == nil {
			rest, err := r.Fill(text)
			b.WriteString(rest)
			return b.String(), err
		}
		part := func(i int) string { return text[at[2*i]:at[2*i+1]] }
		before, err := r.Fill(text[:at[0]])
		if err != nil {
			return "", err
		}
		if strings.Contains(part(4), "<!-- figures: ") {
			return "", fmt.Errorf("%w: workload %s of %s has no end", result.ErrMarkers, part(1), part(2))
		}
		table, err := excerptOf(r, part(1), strings.Split(part(2), ","), strings.Split(part(3), ","))
		if err != nil {
			return "", err
		}
		b.WriteString(before + text[at[0]:at[8]] + table + text[at[9]:at[1]])
		text = text[at[1]:]
	}
}

// excerptOf returns the table of some stores and columns of a workload.
func excerptOf(r *result.Report, id string, stores, columns []string) (string, error) {
	i := slices.IndexFunc(r.Workloads, func(w result.Workload) bool { return w.ID == id })
	if i < 0 {
		return "", fmt.Errorf("%w: the report has no workload %q", result.ErrMarkers, id)
	}
	w := r.Workloads[i]
	all := w.Columns
	w.Columns = nil
	for _, id := range columns {
		i := slices.IndexFunc(all, func(c result.Column) bool { return c.ID == id })
		if i < 0 {
			return "", fmt.Errorf("%w: workload %s has no column %q", result.ErrMarkers, w.ID, id)
		}
		w.Columns = append(w.Columns, all[i])
	}
	w.Cases = slices.Clone(w.Cases)
	for i := range w.Cases {
		c := &w.Cases[i]
		all := c.Rows
		c.Rows = nil
		for _, id := range stores {
			i := slices.IndexFunc(all, func(row result.Row) bool { return row.Store == id && !row.Again })
			if i < 0 {
				return "", fmt.Errorf("%w: workload %s has no store %q", result.ErrMarkers, w.ID, id)
			}
			c.Rows = append(c.Rows, all[i])
		}
	}
	// The marker of the whole table, of a report that has no more than the excerpt.
	begin, end := "<!-- figures: workload "+w.ID+" -->\n", "<!-- figures end -->"
	some := *r
	some.Workloads = []result.Workload{w}
	text, err := some.Fill(begin + end)
	return strings.TrimSuffix(strings.TrimPrefix(text, begin), end), err
}
