package inspect

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"mime"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

//go:embed style.css
var style []byte

//go:embed icon.svg
var icon []byte

// styleName changes with the style, so that a browser may keep it for ever.
var styleName = fmt.Sprintf("style-%x.css", sha256.Sum256(style))[:len("style-")+16] + ".css"

//go:embed page.html
var source string

var pageTemplate = template.Must(template.New("page").Parse(source))

// A format is a form that pages have.
type format struct {
	mime   string
	render func(q *request, p *page) ([]byte, error)
}

var formats = map[string]format{
	"html": {"text/html; charset=utf-8", renderHTML},
	"json": {"application/json", func(_ *request, p *page) ([]byte, error) { return json.MarshalIndent(p, "", "  ") }},
	"text": {"text/plain; charset=utf-8", renderText},
}

// formatOf returns the form that a request asks for: by the parameter format, or the first that
// it accepts. Who accepts anything, as curl does, gets text, and browsers name HTML.
func formatOf(r *http.Request) (format, error) {
	if name := r.URL.Query().Get("format"); name != "" {
		f, ok := formats[name]
		if !ok {
			return f, fmt.Errorf("the format %.100q is not one of html, json, text", name)
		}
		return f, nil
	}
	for _, part := range strings.Split(r.Header.Get("Accept"), ",") {
		switch t, _, _ := mime.ParseMediaType(part); t {
		case "text/html", "application/xhtml+xml":
			return formats["html"], nil
		case "application/json":
			return formats["json"], nil
		}
	}
	return formats["text"], nil
}

// up returns how the root of the pages is reached from the address of a request.
func (q *request) up() string {
	if n := len(q.segments); n > 1 {
		return strings.Repeat("../", n-1)
	}
	return "./"
}

func renderHTML(q *request, p *page) ([]byte, error) {
	var b bytes.Buffer
	err := pageTemplate.Execute(&b, struct {
		*page
		Up, Site, Style string
	}{p, q.up(), q.o.Title, styleName})
	return b.Bytes(), err
}

// X returns where bar i of a chart begins.
func (s section) X(i int) int { return i * 8 }

// Width returns how wide a chart is.
func (s section) Width() int { return max(1, len(s.Chart)) * 8 }

// Width returns the class of a cell that must not become too narrow for its text: a time takes two
// lines at most.
func (c cell) Width() string {
	switch n := utf8.RuneCountInString(c.Text); {
	case n > 32:
		return "long"
	case n > 10:
		return "middle"
	}
	return ""
}

// Up and Down return how far a bar goes from the middle, in percent.
func (b bar) Up() int { return high(b.Changes, 16) }

func (b bar) Down() int { return high(b.Bytes, 10) }

// Y returns where the bar begins, from above.
func (b bar) Y() int { return 100 - b.Up() }

// high returns the height of a bar, which grows so much for each digit of n.
func high(n, digit int) int { return min(100, 5+int(float64(digit)*math.Log10(float64(n+1)))) }

// Label says what a bar is.
func (b bar) Label() string {
	return fmt.Sprintf("version %d, %s, %d rows changed, %s held", b.Version, moment(b.At).Text, b.Changes, size(b.Bytes).Text)
}

// Label says what a chart shows.
func (s section) Label() string {
	if len(s.Chart) == 0 {
		return ""
	}
	return fmt.Sprintf("rows changed by versions %d to %d, and below them the bytes of the past that these hold", s.Chart[0].Version, s.Chart[len(s.Chart)-1].Version)
}

// Anchor returns the id of a section in HTML, which has no spaces.
func (s section) Anchor() string {
	kind, name, ok := strings.Cut(s.ID, " ")
	if !ok {
		return s.ID
	}
	return kind + "-" + escape(name)
}

// of returns what JSON has of a cell.
func (c cell) of() any {
	if c.value == nil {
		return c.Text
	}
	return c.value
}

// MarshalJSON returns the sections by their names, those that are in another in a list.
func (p *page) MarshalJSON() ([]byte, error) {
	sections, lists := make(map[string]any), make(map[string][]any)
	for _, s := range p.Sections {
		if s.In != "" {
			lists[s.In] = append(lists[s.In], s.fields())
		}
	}
	for _, s := range p.Sections {
		if s.In != "" {
			continue
		}
		is := s.fields()
		if list := lists[s.ID]; list != nil {
			is["list"] = list
		}
		sections[s.ID] = is
	}
	return json.Marshal(map[string]any{"title": p.Title, "sections": sections})
}

// fields returns what JSON has of a section, with facts by name, and rows by column.
func (s section) fields() map[string]any {
	is := make(map[string]any)
	if len(s.Notes) > 0 {
		is["notes"] = s.Notes
	}
	if len(s.Facts) > 0 {
		facts := make(map[string]any)
		for _, f := range s.Facts {
			facts[f.Name] = f.of()
		}
		is["facts"] = facts
	}
	if s.Columns != nil {
		rows := make([]map[string]any, len(s.Rows))
		for i, row := range s.Rows {
			rows[i] = make(map[string]any)
			for j, c := range row {
				rows[i][s.Columns[j].Name] = c.of()
			}
			if len(row) > 0 && row[0].To != "" {
				rows[i]["address"] = row[0].To
			}
		}
		is["rows"] = rows
	}
	if s.Chart != nil {
		versions := make([]map[string]any, len(s.Chart))
		for i, b := range s.Chart {
			versions[i] = map[string]any{"version": b.Version, "time": b.At, "changes": b.Changes, "bytes": b.Bytes}
		}
		is["versions"] = versions
	}
	if s.Text != "" {
		is["text"] = s.Text
	}
	if len(s.Links) > 0 {
		links := make(map[string]string)
		for _, l := range s.Links {
			links[l.Text] = l.To
		}
		is["links"] = links
	}
	return is
}

// lead reports whether rows of a section lead to pages of their own.
func (s section) lead() bool {
	return slices.ContainsFunc(s.Rows, func(row []cell) bool { return len(row) > 0 && row[0].To != "" })
}

func renderText(_ *request, p *page) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintln(&b, p.Title)
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	for _, s := range p.Sections {
		fmt.Fprintln(w)
		if s.Heading != "" {
			fmt.Fprintf(w, "%s\n", strings.ToUpper(s.Heading))
		}
		for _, n := range s.Notes {
			fmt.Fprintln(w, n)
		}
		for _, f := range s.Facts {
			fmt.Fprintf(w, "%s\t%s\n", f.Name, f.Text)
		}
		lead := s.lead()
		if len(s.Rows) > 0 {
			for i, c := range s.Columns {
				if i > 0 {
					fmt.Fprint(w, "\t")
				}
				fmt.Fprint(w, c.Name)
			}
			if lead {
				fmt.Fprint(w, "\taddress")
			}
			fmt.Fprintln(w)
		}
		for _, row := range s.Rows {
			for i, c := range row {
				if i > 0 {
					fmt.Fprint(w, "\t")
				}
				fmt.Fprint(w, strings.ReplaceAll(c.Text, "\n", " "))
			}
			if lead {
				fmt.Fprint(w, "\t", row[0].To)
			}
			fmt.Fprintln(w)
		}
		if s.Text != "" {
			fmt.Fprintln(w, s.Text)
		}
		for _, l := range s.Links {
			fmt.Fprintf(w, "%s\t%s\n", l.Text, l.To)
		}
		if err := w.Flush(); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}
