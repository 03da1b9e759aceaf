package page

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/cowstore/cowstore/bench/result"
)

// A shade is a colour on a light page and what it becomes on a dark one.
type shade struct {
	name        string // of the custom property that has it
	light, dark string
}

// series are the colours of stores. Each can be read as text on both pages.
var series = []shade{
	{"s1", "#0a5fd0", "#62a8ff"},
	{"s2", "#00776e", "#2bc4b6"},
	{"s3", "#bd5206", "#f0904a"},
	{"s4", "#7b45c9", "#b794f6"},
	{"s5", "#c2286f", "#f27fb2"},
	{"s6", "#776700", "#cdb838"},
	{"s7", "#2c7a36", "#6cc274"},
	{"s8", "#8c3b2a", "#e09a87"},
}

// The shades that are no colour.
var (
	other = shade{"other", "#8a8f98", "#747a83"} // the stores without a colour
	muted = shade{"muted", "#5c626b", "#9aa1ab"} // text beside the point
	rule  = shade{"rule", "#e1e4e8", "#2c3138"}
)

// shades are all that a chart is drawn in, but for black.
var shades = append([]shade{other, muted, rule}, series...)

// rgb returns the shade on a light page.
func (s shade) rgb() color.Color {
	c := color.RGBA{A: 255}
	_, _ = fmt.Sscanf(s.light, "#%02x%02x%02x", &c.R, &c.G, &c.B) // which are constants
	return c
}

// reference returns the shade as CSS: that of the page it is on, or that of a
// light page.
func (s shade) reference() string { return "var(--" + s.name + "," + s.light + ")" }

// properties returns the custom properties of a light or a dark page.
func properties(dark bool) string {
	var b strings.Builder
	for _, s := range shades {
		value := s.light
		if dark {
			value = s.dark
		}
		fmt.Fprintf(&b, "--%s:%s;", s.name, value)
	}
	return b.String()
}

// A mark is how a store is shown wherever it is shown.
type mark struct {
	Name   string
	Ours   bool
	Dagger bool // it is not isolated
	Colour int  // counted from 1 in series; 0: it has none
}

// label returns the name as it stands in a chart.
func (m mark) label() string {
	name := strings.Join(strings.Fields(m.Name), " ")
	if m.Dagger {
		name += " †"
	}
	return name
}

// line and text return the colours of the store and of its name.
func (m mark) line() color.Color {
	if m.Colour == 0 {
		return other.rgb()
	}
	return series[m.Colour-1].rgb()
}

func (m mark) text() color.Color {
	if m.Colour == 0 {
		return muted.rgb()
	}
	return series[m.Colour-1].rgb()
}

// marks returns the mark of each store, by ID. A store has the same colour
// everywhere and shares it with none that it is in a workload with. This project
// is served first and then the stores by their order; those for which no colour
// is left have none.
func marks(r *result.Report) map[string]mark {
	together := map[string]map[string]bool{}
	var ids []string
	seen := map[string]bool{}
	add := func(id string) {
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	for _, ours := range []bool{true, false} {
		for _, s := range r.Stores {
			if s.Ours == ours {
				add(s.ID)
			}
		}
	}
	for _, w := range r.Workloads {
		within := map[string]bool{}
		for _, c := range w.Cases {
			for _, row := range c.Rows {
				within[row.Store] = true
				add(row.Store)
			}
		}
		for id := range within {
			if together[id] == nil {
				together[id] = map[string]bool{}
			}
			for peer := range within {
				together[id][peer] = true
			}
		}
	}

	all := make(map[string]mark, len(ids))
	for _, id := range ids {
		s, known := r.StoreOf(id)
		m := mark{Name: s.Name, Ours: s.Ours, Dagger: !s.Isolated}
		if !known || s.Name == "" {
			m.Name = id
		}
		taken := make([]bool, len(series)+1)
		for peer := range together[id] {
			taken[all[peer].Colour] = true
		}
		for i := 1; i < len(taken) && m.Colour == 0; i++ {
			if !taken[i] {
				m.Colour = i
			}
		}
		all[id] = m
	}
	return all
}
