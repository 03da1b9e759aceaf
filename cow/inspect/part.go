package inspect

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cowstore/cowstore/cow"
)

// A Part adds pages about what a package keeps in the tables of a DB. They look like the other
// pages, and there is one for each version: lineage and version are in their addresses.
type Part struct {
	// Name is the title of the first page, and stands in the addresses. It must not be "tables".
	Name string

	// Show fills in the page of an address, or returns an error: that of Page.Missing if there is no
	// such page. The time that it takes must not grow with the DB. It is called from any number of
	// goroutines at once. A panic is shown as an error of the page.
	Show func(p *Page) error
}

// A Page is what the function Show of a Part fills in. It begins with a section without a heading,
// and each method adds to the last section. It must not be used after Show has returned, nor by two
// goroutines at once.
//
// Everything is shown as text, and never as HTML. A value to show is a string, an int, a uint64, a
// float64, a time.Time, a [Link], or anything else that encoding/json can encode. The zero time is
// shown as an empty text.
type Page struct {
	q    *request
	s    *cow.Snapshot
	name string
	path []string
	is   *page
}

// A Link is a text that leads to the address To, which Page.To, Page.At or Page.Version returned.
// If To is empty, it is only a text.
type Link struct{ Text, To string }

// labelShown is how many bytes of a title or the text of a link are shown at most.
const labelShown = 1 << 10

// tablesPart is the segment of addresses where a Part has its name, of the tables.
const tablesPart = "tables"

func checkParts(all []Part) {
	names := map[string]bool{tablesPart: true}
	for _, p := range all {
		if names[p.Name] {
			panic(fmt.Sprintf("cow/inspect: a second part %q: give it another name", p.Name))
		}
		names[p.Name] = true
	}
}

// parts returns links to the first pages of all parts at a version.
func (q *request) parts(s *cow.Snapshot) (all []link) {
	for _, p := range q.o.Parts {
		all = append(all, link{printable(p.Name, 100), q.to("v", versionText(s.Version()), escape(p.Name))})
	}
	return all
}

// partOf returns a page of a part.
func (q *request) partOf(s *cow.Snapshot, segment string, segments []string) (*page, error) {
	name, ok := unescape(segment)
	i := slices.IndexFunc(q.o.Parts, func(p Part) bool { return p.Name == name })
	if !ok || i < 0 {
		return nil, missing("there is no such page")
	}
	p := &Page{q: q, s: s, name: name, is: q.page(printable(name, 100))}
	p.is.Path = append(p.is.Path, q.versionLink(s.Version()))
	for i, segment := range segments {
		text, ok := unescape(segment)
		if i > 0 {
			text, ok = q.keyOf(segment)
		}
		if !ok {
			return nil, missing("%.100q is not part of an address", segment)
		}
		p.path = append(p.path, text)
	}
	p.is.Sections = []section{{ID: name}}
	if err := q.o.Parts[i].Show(p); err != nil {
		return nil, partError(err)
	}
	return p.is, nil
}

// partError returns the error of a part, as the page of an error has it.
func partError(err error) error {
	if errors.Is(err, cow.ErrCompacted) {
		return &problem{status: http.StatusGone, text: "this version is no longer retained"}
	}
	return err
}

// Snapshot returns the snapshot of the version in the address.
func (p *Page) Snapshot() *cow.Snapshot { return p.s }

// Path returns the path that To was given for this address; nothing for the first page of the Part.
func (p *Page) Path() []string { return p.path }

// Query returns the parameters of the request.
func (p *Page) Query() url.Values { return p.q.URL.Query() }

// To returns the address of a page of the Part at the same version, with parameters, or "" if it
// would be too long. The first element of path is a word of the Part's choice. Those after it are
// keys: with Options.Digest they are encrypted.
func (p *Page) To(query url.Values, path ...string) string {
	segments := []string{"v", versionText(p.s.Version()), escape(p.name)}
	length := 0
	for i, text := range path {
		segment, ok := escape(text), true
		if i > 0 {
			segment, ok = p.q.keySegment(text)
		}
		if length += len(segment); !ok || length > 4*longest {
			return ""
		}
		segments = append(segments, segment)
	}
	to := p.q.to(segments...)
	if len(query) > 0 {
		to += "?" + query.Encode()
	}
	return to
}

// At returns the address of the same page at another version, or "" if that is not retained.
func (p *Page) At(version uint64) string {
	if !p.q.has(version) {
		return ""
	}
	is := *p
	var err error
	if is.s, err = p.q.db.At(version); err != nil {
		return ""
	}
	return is.To(nil, p.path...)
}

// Key returns a key as pages show it, for a title or a Link: in quotes where it would be unclear
// without them, and as a digest with Options.Digest.
func (p *Page) Key(key string) string { return p.q.shownKey(key) }

// Sealed returns a key as it stands in addresses, for use in a parameter: encrypted with
// Options.Digest. It returns false if that would be too long.
func (p *Page) Sealed(key string) (string, bool) { return p.q.keySegment(key) }

// Opened returns the key that Sealed was given, or false if the text is not one of Sealed.
func (p *Page) Opened(sealed string) (key string, ok bool) { return p.q.keyOf(sealed) }

// Version returns a Link to the page of a version. If that is not retained, it is only a text.
func (p *Page) Version(version uint64) Link {
	is := p.q.versionCell(version)
	return Link{is.Text, is.To}
}

// Missing returns an error for Show to return: there is no such page. The text says why.
func (p *Page) Missing(format string, args ...any) error { return missing(format, args...) }

// Title sets the title of the page, and adds links to the pages above it.
func (p *Page) Title(title string, above ...Link) {
	p.is.Title = block(title, labelShown)
	for _, l := range above {
		p.is.Path = append(p.is.Path, link{block(l.Text, labelShown), l.To})
	}
}

// Section begins a section with a heading. In JSON the heading, in lower case, is its name.
func (p *Page) Section(heading string) {
	p.is.Sections = append(p.is.Sections, section{ID: strings.ToLower(heading), Heading: heading})
}

func (p *Page) last() *section { return &p.is.Sections[len(p.is.Sections)-1] }

// Note adds a sentence to the section.
func (p *Page) Note(format string, args ...any) {
	s := p.last()
	s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
}

// Fact adds a named value to the section.
func (p *Page) Fact(name string, value any) {
	s := p.last()
	s.Facts = append(s.Facts, fact{name, p.cell(value)})
}

// Columns begins a table in the section, and names its columns.
func (p *Page) Columns(names ...string) {
	s := p.last()
	s.Columns = []column{}
	for _, name := range names {
		s.Columns = append(s.Columns, column{Name: name})
	}
}

// Row adds a row to the table of the section, with a value for each column. It panics if there are
// fewer.
func (p *Page) Row(values ...any) {
	s := p.last()
	row := make([]cell, len(s.Columns))
	for i := range row {
		row[i] = p.cell(values[i])
		switch values[i].(type) {
		case int, uint64, float64:
			s.Columns[i].Numeric = true
		}
	}
	s.Rows = append(s.Rows, row)
}

// Text shows a value whole in the section, in several lines.
func (p *Page) Text(value any) {
	p.last().Text = block(indented(p.q.encoded(kindOf(value), value)), valueShown)
}

// Link adds a link to the section. If To is empty, it adds nothing.
func (p *Page) Link(l Link) {
	if l.To != "" {
		s := p.last()
		s.Links = append(s.Links, link{block(l.Text, labelShown), l.To})
	}
}

// Form adds a form to the section that asks for a text. It returns the text that was sent with it,
// in the parameter name, and whether one was sent. With Options.Digest there is a note in place of
// the form, and nothing is returned: with a form one could ask which keys there are.
func (p *Page) Form(label, name string) (sent string, ok bool) {
	if p.q.keys != nil {
		p.Note("%s", notOffered(label))
		return "", false
	}
	sent, ok = p.Query().Get(name), p.Query().Has(name)
	p.last().Form = &form{label, name, p.To(nil, p.path...), block(sent, labelShown)}
	return sent, ok
}

// cell returns what is shown of a value in one line.
func (p *Page) cell(value any) cell {
	switch v := value.(type) {
	case string:
		if v == "" {
			return text("")
		}
		return text(preview(v, false))
	case Link:
		return cell{Text: block(v.Text, labelShown), To: v.To}
	case int:
		return number(v)
	case uint64:
		return cell{Text: grouped(strconv.FormatUint(v, 10)), value: v}
	case float64:
		is := text(strconv.FormatFloat(v, 'g', 4, 64))
		if !math.IsNaN(v) && !math.IsInf(v, 0) { // which JSON has not
			is.value = v
		}
		return is
	case time.Time:
		if v.IsZero() {
			return text("")
		}
		return moment(v)
	}
	return text(preview(p.q.encoded(kindOf(value), value)))
}

func kindOf(value any) func() string { return func() string { return fmt.Sprintf("%T", value) } }
