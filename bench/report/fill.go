package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/cowstore/cowstore/bench/promises"
	"github.com/cowstore/cowstore/bench/result"
	"github.com/cowstore/cowstore/bench/stores"
)

// figures are all there is to say.
type figures struct {
	lines  *result.Lines
	judged []promises.Judgement
}

// errMarkers says that the markers in a text are not what filled understands.
var errMarkers = errors.New("figures cannot be put in")

// marked is a comment that says which figures, those, and a comment that ends them.
var marked = regexp.MustCompile(`(?s)<!-- figures: ([^\n]*) -->\n.*?<!-- figures end -->`)

// fillFiles puts figures into files: into all of them or none.
func (f *figures) fillFiles(names []string) error {
	texts := make([]string, len(names))
	for i, name := range names {
		old, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if texts[i], err = f.filled(string(old)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for i, name := range names {
		if err := os.WriteFile(name, []byte(texts[i]), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// filled returns a text in Markdown with figures between its markers, in place of what is
// there:
//
//	<!-- figures: host -->
//	<!-- figures: verdict docs -->
//	<!-- figures: promises reads commits -->
//	<!-- figures: workload docs -->
//	<!-- figures: workload docs of cowstore,rwmutex with op/s,p50-ns -->
//	<!-- figures: table docs of cowstore,rwmutex with op/s,p50-ns -->
//
// each up to the next <!-- figures end -->. They are where the lines are from, the verdict of
// a workload, a table of the promises of those groups, and the tables of a workload: of all
// stores and figures, or of some, with remarks on the noise and on what loses, or without.
func (f *figures) filled(text string) (string, error) {
	var errs []error
	filled := marked.ReplaceAllStringFunc(text, func(part string) string {
		marker := marked.FindStringSubmatch(part)[1]
		what, of, _ := strings.Cut(marker, " ")
		figures, err := f.of(what, strings.Fields(of))
		if err != nil {
			errs = append(errs, fmt.Errorf("%w: %q: %w", errMarkers, marker, err))
		}
		return "<!-- figures: " + marker + " -->\n" + figures + "<!-- figures end -->"
	})
	if n := len(marked.FindAllString(text, -1)); n == 0 || strings.Count(text, "<!-- figures") != 2*n {
		errs = append(errs, fmt.Errorf("%w: not all markers end, or there are none", errMarkers))
	}
	return filled, errors.Join(errs...)
}

// of returns the figures that a marker asks for.
func (f *figures) of(what string, words []string) (string, error) {
	switch {
	case what == "host" && len(words) == 0:
		h := f.lines.Host
		commits := regexp.MustCompile(`\S{7}\S*`).ReplaceAllStringFunc(h["commit"], func(id string) string { return id[:7] })
		return fmt.Sprintf("Commit %s, %s %s/%s, %s, GOMAXPROCS=%s.\n", commits, h["go"], h["goos"], h["goarch"], h["cpu"], h["procs"]), nil
	case what == "promises" && len(words) > 0:
		return f.promises(words)
	case what == "verdict" && len(words) == 1:
		cases, err := f.cases(words[0], nil, nil)
		if err != nil {
			return "", err
		}
		return strings.Join(cases[0].Verdict(), "\n- ") + "\n", nil
	case (what == "workload" || what == "table") && (len(words) == 1 || len(words) == 5 && words[1] == "of" && words[3] == "with"):
		var ids, units []string
		if len(words) > 1 {
			ids, units = strings.Split(words[2], ","), strings.Split(words[4], ",")
		}
		cases, err := f.cases(words[0], ids, units)
		var tables []string
		for _, c := range cases {
			text := c.Markdown()
			if table, _, ok := strings.Cut(text, "\n\n"); ok && what == "table" {
				text = table + "\n"
			}
			tables = append(tables, text)
		}
		return strings.Join(tables, "\n"), err
	}
	return "", errors.New("it is none of host, verdict, promises, workload and table")
}

// cases returns the cases of a workload with those stores and columns; nil: all.
func (f *figures) cases(workload string, ids, units []string) ([]result.Case, error) {
	w := result.WorkloadOf(workload)
	if w == nil {
		return nil, errors.New("there is no such workload")
	}
	some, part := infos(w), *w
	if ids != nil {
		known := some
		some = nil
		for _, id := range ids {
			i := slices.IndexFunc(known, func(s stores.Info) bool { return s.ID == id })
			if i < 0 {
				return nil, fmt.Errorf("there is no store %q", id)
			}
			some = append(some, known[i])
		}
	}
	if units != nil {
		part.Columns = nil
		for _, unit := range units {
			i := slices.IndexFunc(w.Columns, func(c result.Column) bool { return c.Unit == unit })
			if i < 0 {
				return nil, fmt.Errorf("it has no figure %q", unit)
			}
			part.Columns = append(part.Columns, w.Columns[i])
		}
	}
	all := f.lines.Cases(&part, some)
	if len(all) == 0 {
		return nil, errors.New("it was not measured")
	}
	return all, nil
}

// promises returns a table of the promises of some groups: those that are the same but for
// the size share a line.
func (f *figures) promises(groups []string) (string, error) {
	var b strings.Builder
	b.WriteString("| | cowstore | peer | ratio | at most |\n|---|---|---|---|---|\n")
	for _, group := range groups {
		var names []string
		same := map[string][]promises.Judgement{}
		for _, j := range f.judged {
			if j.Group != group {
				continue
			}
			if same[j.Name] == nil {
				names = append(names, j.Name)
			}
			same[j.Name] = append(same[j.Name], j)
		}
		if names == nil {
			return "", fmt.Errorf("there are no promises of %s", group)
		}
		for _, name := range names {
			all := same[name]
			title := name
			if all[0].At != "" {
				title += " at " + joined(all, func(j promises.Judgement) string { return j.At })
			}
			fmt.Fprintf(&b, "| %s | %s | %s | **%s** | %s |\n", title,
				joined(all, func(j promises.Judgement) string { return amount(j.OurFigure, j.Unit) }),
				joined(all, func(j promises.Judgement) string { return amount(j.PeerFigure, j.Unit) }),
				joined(all, func(j promises.Judgement) string {
					switch j.Verdict {
					case promises.Held:
						return result.Amount(j.Ratio, "")
					case promises.Missed:
						return result.Amount(j.Ratio, "") + " missed"
					}
					return string(j.Verdict)
				}),
				joined(all, func(j promises.Judgement) string {
					if !j.Limited {
						return ""
					}
					return result.Amount(j.Limit, "")
				}))
		}
	}
	return b.String(), nil
}

// joined joins what differs, or says once what does not.
func joined(all []promises.Judgement, text func(promises.Judgement) string) string {
	var texts []string
	for _, j := range all {
		texts = append(texts, text(j))
	}
	if all[0].At != text(all[0]) && len(slices.Compact(slices.Clone(texts))) == 1 {
		return texts[0]
	}
	return strings.Join(texts, " / ")
}
