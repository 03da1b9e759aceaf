package inspect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/internal/look"
	"github.com/cowstore/cowstore/snapshot/depth"
)

// What pages of a table show at most.
const (
	rowsShown      = 50
	rowsAtMost     = 500 // where the last ones have no address
	revisionsShown = 10
	valueShown     = 64 << 10 // bytes
	previewShown   = 120
)

// keyCell returns the key of a row, with the address of the row if it has one.
func (q *request) keyCell(s *cow.Snapshot, t look.Table, row look.Row) cell {
	is := cell{Text: q.shownKey(row.Key)}
	if segment, ok := q.keySegment(row.Key); ok && row.Keyed {
		is.To = q.to("v", versionText(s.Version()), "tables", escape(t.Name()), segment)
	}
	return is
}

// table shows rows of a table.
func (q *request) table(s *cow.Snapshot, t look.Table) (*page, error) {
	at := []string{"v", versionText(s.Version()), "tables", escape(t.Name())}
	m := t.In(s)
	find, notes := &form{Label: "Go to key", Name: "key", Action: q.to(at...)}, []string(nil)
	if q.keys != nil { // or one could ask whether a key is there
		find, notes = nil, []string{notOffered(find.Label)}
	}
	err := q.jump(find, func(text string) (string, error) {
		key, ok := m.Key(text)
		if !ok {
			return "", missing("%.100q is not a key of this table", text)
		}
		row, ok := m.Row(key)
		if !ok {
			return "", missing("there is no row of that key at this version")
		}
		c := q.keyCell(s, t, row)
		if c.To == "" {
			return "", missing("that key is too long for an address")
		}
		return c.To, nil
	})
	if err != nil {
		return nil, err
	}
	p := q.page(titleOf(t))
	p.Path = append(p.Path, q.versionLink(s.Version()))
	top := section{ID: "table", Facts: []fact{{"version", q.versionCell(s.Version())}, {"rows", number(m.Len())}, {"bytes, about", size(weigh(m))}},
		Form: find, Notes: notes}
	if len(t.Indexes()) > 0 {
		top.Links = append(top.Links, link{"in the order of the table", q.to(at...)})
	}
	for _, name := range t.Indexes() {
		top.Links = append(top.Links, link{"by index " + printable(name, 100), q.to(at...) + "?" + url.Values{"index": {name}}.Encode()})
	}
	list, err := q.rows(s, t, m, at)
	if err != nil {
		return nil, err
	}
	p.Sections = []section{top, list}
	return p, nil
}

// notOffered says why a form is not there.
func notOffered(label string) string {
	return label + ": not offered, because keys are shown as digests."
}

// rows lists a page of rows, in the order of the table or of an index.
func (q *request) rows(s *cow.Snapshot, t look.Table, m look.Map, at []string) (section, error) {
	list := section{ID: "rows", Heading: "Rows", Columns: []column{{"key", false}, {"value", false}, {"bytes", true}, {"revision", true}}}
	query := q.URL.Query()
	here := func(v url.Values) string {
		if len(v) == 0 {
			return q.to(at...)
		}
		return q.to(at...) + "?" + v.Encode()
	}
	address := func(row look.Row) (string, bool) {
		segment, ok := q.keySegment(row.Key)
		return segment, ok && row.Keyed
	}
	// A page ends with a row that has an address, from which the next one goes on: a key that is
	// too long has none.
	add := func(rows iter.Seq[look.Row], last int) (all []look.Row, more bool) {
		for row := range rows {
			if n := len(all); n >= rowsShown {
				if _, ok := address(all[n-1]); ok || !row.Keyed || n >= last {
					return all, true
				}
			}
			all = append(all, row)
		}
		return all, false
	}
	var all []look.Row
	if name := query.Get("index"); query.Has("index") {
		skip := 0
		if query.Has("skip") {
			var err error
			if skip, err = strconv.Atoi(query.Get("skip")); err != nil || skip < 0 {
				return list, missing("%.100q is not a number of rows", query.Get("skip"))
			}
		}
		rows, n, ok := m.ByIndex(name, skip)
		if !ok {
			return list, missing("there is no such index")
		}
		all, _ = add(rows, rowsShown)
		list.Notes = []string{fmt.Sprintf("By index %s, from place %s of %s.", printable(name, 100), grouped(strconv.Itoa(min(skip, n))), grouped(strconv.Itoa(n)))}
		place := func(skip int) string {
			return here(url.Values{"index": {name}, "skip": {strconv.Itoa(skip)}})
		}
		if skip > 0 {
			list.Links = append(list.Links, link{"the first", here(url.Values{"index": {name}})}, link{"back", place(max(0, min(skip, n)-rowsShown))})
		}
		if skip < n-rowsShown {
			list.Links = append(list.Links, link{"forward", place(skip + rowsShown)}, link{"the last", place(n - rowsShown)})
		}
	} else {
		var more, back bool
		var after look.Key
		for _, name := range []string{"after", "before"} {
			if !query.Has(name) {
				continue
			}
			text, ok := q.keyOf(query.Get(name))
			if ok {
				after, ok = m.Key(text)
			}
			if !ok {
				return list, missing("%.100q is not the address of a key of this table", query.Get(name))
			}
			back = name == "before"
		}
		if all, more = add(m.Rows(after, back), rowsAtMost); back {
			slices.Reverse(all)
		}
		way := func(text, name string, rows iter.Seq2[int, look.Row]) {
			for _, row := range rows {
				if segment, ok := address(row); ok {
					list.Links = append(list.Links, link{text, here(url.Values{name: {segment}})})
					return
				}
			}
			if name == "before" && query.Has("after") { // back to what is before the key that this page is after
				list.Links = append(list.Links, link{text, here(url.Values{name: {query.Get("after")}})})
				return
			}
			list.Notes = append(list.Notes, "There are more rows. No link leads to them, because the keys here have no address.")
		}
		if after != nil {
			list.Links = append(list.Links, link{"the first", here(nil)})
		}
		if len(all) > 0 && (back && more || !back && after != nil) {
			way("back", "before", slices.All(all))
		}
		if len(all) > 0 && (back || more) {
			way("forward", "after", slices.Backward(all))
		}
	}
	for _, row := range all {
		list.Rows = append(list.Rows, []cell{q.keyCell(s, t, row), text(preview(q.shown(t, row))), size(row.Bytes), q.versionCell(row.Revision)})
	}
	if len(all) == 0 {
		list.Notes = append(list.Notes, "There are no rows here.")
	}
	return list, nil
}

// shown returns a value as text, and whether that is JSON.
func (q *request) shown(t look.Table, row look.Row) (is string, isJSON bool) {
	if q.o.Value == nil {
		return row.Type(), false
	}
	defer func() {
		if r := recover(); r != nil {
			is, isJSON = row.Type()+", which is not shown: "+q.panicked(r), false
		}
	}()
	return q.encoded(row.Type, q.o.Value(t.Name(), row.Value()))
}

// encoded returns what a function returned for a value as text, and whether that is JSON.
func (q *request) encoded(kind func() string, shown any) (is string, isJSON bool) {
	if s, ok := shown.(string); ok {
		return s, false
	}
	encoded, err := depth.Marshal(0, shown)
	if err != nil {
		return kind() + ", which is not shown: " + q.errorText(err), false
	}
	return string(encoded), json.Valid(encoded)
}

// What is nested more deeply, or larger, is neither indented nor taken apart: both take time
// proportional to the size and the depth.
const (
	levelsShown = 50
	takenApart  = 1 << 20
)

// isFlat reports whether JSON is small enough for that.
func isFlat(text string) bool {
	return len(text) <= takenApart && depth.CheckText([]byte(text), levelsShown) == nil
}

// indented returns what is shown of a value as text of several lines.
func indented(is string, isJSON bool) string {
	var indented bytes.Buffer
	if isJSON && isFlat(is) && json.Indent(&indented, []byte(is), "", "  ") == nil {
		return indented.String()
	}
	return is
}

// preview returns the beginning of what is shown of a value in one line.
func preview(is string, _ bool) string {
	begin, rest := cut(is, previewShown)
	return printable(strings.Join(strings.Fields(begin), " "), previewShown) + rest
}

// row shows one row, and what it was before.
func (q *request) row(s *cow.Snapshot, t look.Table, segment string) (*page, error) {
	m := t.In(s)
	keyText, ok := q.keyOf(segment)
	var key look.Key
	if ok {
		key, ok = m.Key(keyText)
	}
	if !ok {
		return nil, missing("%.100q is not the address of a key of this table", segment)
	}
	row, ok := m.Row(key)
	if !ok {
		return nil, missing("there is no row of that key at version %d", s.Version())
	}
	p := q.page(q.shownKey(keyText))
	p.Path = append(p.Path, q.versionLink(s.Version()), link{titleOf(t), q.to("v", versionText(s.Version()), "tables", escape(t.Name()))})
	top := section{ID: "row", Facts: []fact{{"table", text(titleOf(t))}, {"at version", q.versionCell(s.Version())}, {"written by version", q.versionCell(row.Revision)}, {"bytes", size(row.Bytes)}},
		Text: block(indented(q.shown(t, row)), valueShown)}
	if now := q.db.Load(); now.Version() > s.Version() {
		switch is, ok := t.In(now).Row(key); {
		case !ok:
			top.Notes = []string{"The current version no longer has this row."}
		case is.Revision != row.Revision:
			top.Notes = []string{"The row was written again since."}
			top.Links = append(top.Links, link{"as it is now", q.keyCell(now, t, is).To})
		}
	}
	p.Sections = append([]section{top}, q.history(t, key, row)...)
	return p, nil
}

// history shows the revisions of a row, and how each differs from the one before.
func (q *request) history(t look.Table, key look.Key, row look.Row) []section {
	list := section{ID: "history", Heading: "What it was before"}
	var all []section
	for range revisionsShown {
		if row.Revision == 0 {
			break
		}
		s, err := q.db.At(row.Revision - 1)
		if err != nil {
			list.Notes = []string{fmt.Sprintf("What was before version %d is no longer retained.", row.Revision)}
			break
		}
		was, ok := t.In(s).Row(key)
		if !ok {
			list.Notes = []string{fmt.Sprintf("Before version %d it was not there.", row.Revision)}
			break
		}
		all = append(all, q.step(s, t, was, row))
		row = was
		if len(all) == revisionsShown {
			list.Notes = []string{fmt.Sprintf("The last %d are shown.", revisionsShown)}
			if to := q.keyCell(s, t, was).To; to != "" {
				list.Links = []link{{"older ones", to}}
			}
		}
	}
	return append(all, list)
}

// step shows how a row differs from what it was.
func (q *request) step(s *cow.Snapshot, t look.Table, was, is look.Row) section {
	step := section{ID: fmt.Sprintf("revision %d", is.Revision), In: "history", Heading: fmt.Sprintf("Version %d (before: %d)", is.Revision, was.Revision),
		Columns: []column{{"field", false}, {"before", false}, {"after", false}}}
	for _, d := range q.difference(t, &was, &is) {
		show := func(s string, is bool) cell {
			if !is {
				return text("")
			}
			return cell{Text: block(s, 1000), Mark: d.mark}
		}
		step.Rows = append(step.Rows, []cell{text(printable(d.name, 200)), show(d.before, d.mark != "added"), show(d.after, d.mark != "removed")})
	}
	if len(step.Rows) == 0 {
		step.Notes = []string{"Nothing of what is shown differs."}
	}
	step.Facts = []fact{{"version", number(is.Revision)}, {"version before", number(was.Revision)}, {"bytes before", size(was.Bytes)}, {"bytes", size(is.Bytes)}}
	if to := q.keyCell(s, t, was).To; to != "" {
		step.Links = []link{{"the row as it was at version " + versionText(s.Version()), to}}
	}
	return step
}

// A difference is that of one field of two values.
type difference struct {
	name          string
	mark          string // added, removed or changed
	before, after string
}

// difference returns how what is shown of two rows differs, nil for one that is not there, by field.
func (q *request) difference(t look.Table, was, is *look.Row) (all []difference) {
	older, newer := make(map[string]string), make(map[string]string)
	if was != nil {
		flatten(older, "", q.parsed(t, *was))
	}
	if is != nil {
		flatten(newer, "", q.parsed(t, *is))
	}
	names := slices.Sorted(maps.Keys(older))
	for name := range newer {
		if _, ok := older[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		a, before := older[name]
		b, after := newer[name]
		if a == b && before == after {
			continue
		}
		mark := "changed"
		switch {
		case !before:
			mark = "added"
		case !after:
			mark = "removed"
		}
		all = append(all, difference{cmp.Or(name, "value"), mark, a, b})
	}
	return all
}

// parsed returns what is shown of a row as JSON, or as one text.
func (q *request) parsed(t look.Table, row look.Row) any {
	is, isJSON := q.shown(t, row)
	switch {
	case q.o.Value != nil && !isJSON:
		return whole(strconv.Quote(is)) // as a text, and not what it may look like
	case !isJSON || !isFlat(is):
		return whole(is)
	}
	d := json.NewDecoder(strings.NewReader(is))
	d.UseNumber()
	var parsed any
	if d.Decode(&parsed) != nil {
		return whole(is)
	}
	return parsed
}

// A whole is a text that is not taken apart.
type whole string

// fieldsShown is how many fields of a value are compared.
const fieldsShown = 2000

// flatten adds the fields of a value to all, by their paths. It recurses up to levelsShown.
func flatten(all map[string]string, path string, value any) {
	if len(all) >= fieldsShown {
		return
	}
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			is := v[name]
			if name == "" || strings.ContainsAny(name, `.["`) {
				name = strconv.Quote(name)
			}
			flatten(all, strings.TrimPrefix(path+"."+name, "."), is)
		}
		if len(v) > 0 {
			return
		}
	case []any:
		for i, is := range v {
			flatten(all, fmt.Sprintf("%s[%d]", path, i), is)
		}
		if len(v) > 0 {
			return
		}
	case whole:
		all[path] = string(v) // to be compared
		return
	}
	encoded, _ := json.Marshal(value)
	all[path] = string(encoded)
}
