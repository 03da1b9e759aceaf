package inspect

import (
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/hook"
	"github.com/cowstore/cowstore/cow/internal/line"
	"github.com/cowstore/cowstore/cow/internal/look"
)

// page returns a page without a section.
func (q *request) page(title string) *page {
	return &page{Title: title, Path: []link{{q.o.Title, ""}}}
}

// to returns an address of this line of versions, of these segments.
func (q *request) to(segments ...string) string {
	return strings.Join(append([]string{"l", q.db.Lineage().ID}, segments...), "/")
}

func versionText(version uint64) string { return strconv.FormatUint(version, 10) }

func (q *request) versionLink(version uint64) link {
	return link{"version " + versionText(version), q.to("v", versionText(version))}
}

// versionCell returns a version, with its address if it is there.
func (q *request) versionCell(version uint64) cell {
	is := cell{Text: versionText(version), value: version}
	if q.has(version) {
		is.To = q.to("v", versionText(version))
	}
	return is
}

// has reports whether a version was there when it was first asked.
func (q *request) has(version uint64) bool {
	if q.pinned == nil {
		q.latest, q.pinned = q.db.Load().Version(), make(map[uint64]bool)
		for oldest := range q.db.Versions() {
			q.oldest = oldest
			break
		}
		for _, s := range q.db.Pins() {
			q.pinned[s.Version()] = true
		}
	}
	return q.oldest <= version && version <= q.latest || q.pinned[version]
}

// jump redirects to the page that a form asks for, nil for no form, if it was sent.
func (q *request) jump(f *form, to func(text string) (string, error)) error {
	if f == nil || !q.URL.Query().Has(f.Name) {
		return nil
	}
	address, err := to(q.URL.Query().Get(f.Name))
	if err != nil {
		return err
	}
	if format := q.URL.Query().Get("format"); format != "" {
		address += "?" + url.Values{"format": {format}}.Encode()
	}
	return &redirect{q.up() + address}
}

// asVersion returns the segment of a version that somebody has written.
func asVersion(text string) (string, error) {
	version, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return "", missing("%.100q is not a version", text)
	}
	return versionText(version), nil
}

// What pages show at most.
const (
	commitsShown = 25
	barsShown    = 150
	sampled      = 100 // rows of a table that are weighed, for all of them
)

// overview shows what there is now.
func (q *request) overview() (*page, error) {
	find := &form{Label: "Go to version", Name: "version"}
	err := q.jump(find, func(text string) (string, error) {
		version, err := asVersion(text)
		return q.to("v", version), err
	})
	if err != nil {
		return nil, err
	}
	now, stats := q.db.Load(), q.db.Stats()
	p := q.page(q.o.Title)
	p.Path = nil
	p.Sections = []section{
		{ID: "now", Facts: q.facts(now, stats), Form: find, Links: q.parts(now)},
		q.tablesOf(now),
	}
	p.Sections = append(p.Sections, q.line(now)...)
	p.Sections = append(p.Sections, q.pins(now), q.feeds(stats), q.held(stats), q.slowest())
	p.Sections = slices.DeleteFunc(p.Sections, func(s section) bool { return s.Columns != nil && len(s.Rows) == 0 })
	return p, nil
}

func (q *request) facts(now *cow.Snapshot, stats cow.Stats) []fact {
	is := q.db.Lineage()
	facts := []fact{
		{"version", q.versionCell(now.Version())},
		{"rows", number(now.Len())},
		{"lineage", text(is.ID)},
	}
	if is.Parent != "" {
		facts = append(facts, fact{"forked from", text(fmt.Sprintf("%s at version %d", is.Parent, is.Forked))})
	}
	facts = append(facts,
		fact{"versions retained", number(stats.Retained)},
		fact{"pins", number(stats.Pins)},
		fact{"past rows held", number(stats.HeldRows)},
		fact{"past bytes held, with records", size(stats.HeldBytes)},
		fact{"calls that wait for a version", number(stats.Waiting)})
	if s := stats.Sink; s.State != "" {
		state := string(s.State)
		if s.State == hook.Connected {
			state = "no error" // which is true of one that takes no commits too, before there is one
		}
		facts = append(facts, fact{"sink", text(state)}, fact{"sink in this state for", age(s.Since, q.now)})
		if s.Err != nil {
			facts = append(facts, fact{"sink error", text(q.errorText(s.Err))})
		}
	}
	if !stats.Begun.IsZero() {
		by, _, _ := strings.Cut(stats.BegunBy, "\n")
		facts = append(facts, fact{"transaction open for", age(stats.Begun, q.now)}, fact{"transaction begun by", text(by)})
	}
	if stats.Dropped > 0 {
		by, _, _ := strings.Cut(stats.DroppedBy, "\n")
		facts = append(facts, fact{"transactions dropped without an end", number(stats.Dropped)}, fact{"last dropped transaction begun by", text(by)})
	}
	return facts
}

// titleOf returns what a table is called.
func titleOf(t look.Table) string {
	if t.Name() == "" {
		return "(the table)"
	}
	return printable(t.Name(), 200)
}

// tablesOf lists the tables in a snapshot.
func (q *request) tablesOf(s *cow.Snapshot) section {
	list := section{ID: "tables", Heading: "Tables", Columns: []column{{"table", false}, {"rows", true}, {"bytes, about", true}, {"indexes", false}}}
	for _, t := range q.tables.Tables() {
		m := t.In(s)
		var indexes []string
		for _, name := range t.Indexes() {
			indexes = append(indexes, printable(name, 100))
		}
		list.Rows = append(list.Rows, []cell{
			{Text: titleOf(t), To: q.to("v", versionText(s.Version()), "tables", escape(t.Name()))},
			number(m.Len()), size(weigh(m)), text(strings.Join(indexes, ", ")),
		})
	}
	return list
}

// weigh returns about how many bytes the rows of a table take, after a look at some.
func weigh(m look.Map) int {
	n, bytes := 0, 0
	for row := range m.Rows(nil, false) {
		if n == sampled {
			break
		}
		n, bytes = n+1, bytes+row.Bytes
	}
	if n == 0 {
		return 0
	}
	return int(float64(bytes) / float64(n) * float64(m.Len()))
}

// line shows the last versions.
func (q *request) line(now *cow.Snapshot) []section {
	picture := section{ID: "line", Heading: "Versions"}
	list := section{ID: "commits", Columns: []column{{"version", false}, {"time", false}, {"rows changed", true}, {"bytes held, about", true}}}
	since := now.Version() - min(now.Version(), barsShown)
	for is := range q.db.Versions() {
		since = max(since, is)
		break
	}
	var bars []bar
	for c, err := range q.db.Commits(since) {
		if err != nil { // it was compacted meanwhile
			bars = nil
			break
		}
		n := (*line.Commit)(c).Len()
		bars = append(bars, bar{c.Version(), c.Time(), n, q.tables.Held(c.Version())})
	}
	if len(bars) == 0 {
		picture.Notes = []string{"No version before this one is retained: DB.Retain keeps some."}
		if now.Version() == 0 {
			picture.Notes = []string{"There is no earlier version."}
		}
		return []section{picture}
	}
	picture.Chart = bars
	for _, b := range slices.Backward(bars[max(0, len(bars)-commitsShown):]) {
		list.Rows = append(list.Rows, []cell{q.versionCell(b.Version), moment(b.At), number(b.Changes), size(b.Bytes)})
	}
	for oldest, at := range q.db.Versions() {
		picture.Facts = []fact{{"oldest version", q.versionCell(oldest)}}
		if !at.IsZero() {
			picture.Facts = append(picture.Facts, fact{"time of the oldest", moment(at)})
		}
		break
	}
	return []section{picture, list}
}

func (q *request) pins(now *cow.Snapshot) section {
	list := section{ID: "pins", Heading: "Pins", Columns: []column{{"name", false}, {"version", true}, {"versions since", true}}}
	for name, s := range q.db.Pins() {
		list.Rows = append(list.Rows, []cell{text(printable(name, 200)), q.versionCell(s.Version()), number(now.Version() - min(now.Version(), s.Version()))})
	}
	return list
}

func (q *request) held(stats cow.Stats) section {
	list := section{ID: "held", Heading: "Held snapshots", Columns: []column{{"version", true}, {"old for", false}, {"rows held", true}, {"bytes, about", true}}}
	for _, h := range stats.HeldSnapshots {
		list.Rows = append(list.Rows, []cell{number(h.Version), age(h.Replaced, q.now), number(h.Rows), size(h.Bytes)})
	}
	return list
}

func (q *request) feeds(stats cow.Stats) section {
	list := section{ID: "feeds", Heading: "Who follows", Columns: []column{{"for", false}, {"is at version", true}, {"versions behind", true}}}
	for _, f := range stats.Feeds {
		list.Rows = append(list.Rows, []cell{age(f.Since, q.now), q.versionCell(f.Version), number(f.Latest - f.Version)})
	}
	return list
}

func (q *request) slowest() section {
	list := section{ID: "slow", Heading: "Slow updates of the last hour", Columns: []column{
		{"took", true}, {"waited", true}, {"ran", true}, {"sink", true}, {"ended", false}, {"version", true}, {"error", false}}}
	for _, u := range q.slow.list() {
		took := func(d time.Duration) cell { return text(d.Round(time.Microsecond).String()) }
		row := []cell{took(u.took), took(u.Wait), took(u.Run), took(u.Sink), moment(u.ended), text(""), text("")}
		if u.Version > 0 {
			row[5] = q.versionCell(u.Version)
		}
		if u.Err != nil {
			row[6] = text(q.errorText(u.Err))
		}
		list.Rows = append(list.Rows, row)
	}
	return list
}

// snapshot shows one version.
func (q *request) snapshot(s *cow.Snapshot) (*page, error) {
	version := s.Version()
	compare := &form{Label: "Compare with version", Name: "with", Action: q.to("v", versionText(version))}
	err := q.jump(compare, func(text string) (string, error) {
		other, err := asVersion(text)
		return q.to("diff", other, versionText(version)), err
	})
	if err != nil {
		return nil, err
	}
	p := q.page("Version " + versionText(version))
	now := q.db.Load().Version()
	top := section{ID: "version", Facts: []fact{{"rows", number(s.Len())}, {"versions since", number(now - min(now, version))}},
		Form: compare, Links: q.parts(s)}
	if version > 0 {
		for c, err := range q.db.Commits(version - 1) {
			if err == nil {
				top.Facts = append(top.Facts, fact{"published", moment(c.Time())}, fact{"rows changed", number((*line.Commit)(c).Len())})
			}
			break
		}
		if _, err := q.db.At(version - 1); err == nil {
			top.Links = append(top.Links, link{"what it changed", q.to("diff", versionText(version-1), versionText(version))},
				link{"the version before", q.to("v", versionText(version-1))})
		}
	}
	if version < now {
		top.Links = append(top.Links, link{"the version after", q.to("v", versionText(version+1))}, link{"compare with the current one", q.to("diff", versionText(version), versionText(now))})
	}
	p.Sections = []section{top, q.tablesOf(s)}
	return p, nil
}

// diffShown is how many rows of each table a comparison lists, and diffCounted how many it counts.
const (
	diffShown   = 100
	diffCounted = 100_000
)

// diff shows what differs in two versions.
func (q *request) diff(older, newer *cow.Snapshot) (*page, error) {
	a, b := versionText(older.Version()), versionText(newer.Version())
	p := q.page("From version " + a + " to " + b)
	p.Path = append(p.Path, q.versionLink(newer.Version()))
	p.Sections = []section{{ID: "versions", Links: []link{
		q.versionLink(older.Version()), q.versionLink(newer.Version()), {"the other way around", q.to("diff", b, a)}}}}
	same := true
	for i, t := range q.tables.Tables() {
		list := q.changes(t, older, newer)
		if len(list.Rows) == 0 {
			continue
		}
		same = false
		list.ID = "table " + t.Name()
		list.Heading = titleOf(t)
		if t.Name() == "" {
			list.ID = fmt.Sprint("table ", i)
		}
		p.Sections = append(p.Sections, list)
	}
	if same {
		p.Sections[0].Notes = []string{"Both have the same rows."}
	}
	return p, nil
}

// differencesShown is how many fields of a row a comparison lists.
const differencesShown = 20

// differenceCell returns what a comparison shows of a row: its fields, or a value that has none.
func differenceCell(fields []difference) cell {
	type field struct {
		Field  string `json:"field,omitempty"`
		Before string `json:"before,omitempty"`
		After  string `json:"after,omitempty"`
	}
	var lines []string
	list := []field{}
	for i, d := range fields {
		if i == differencesShown {
			lines = append(lines, fmt.Sprintf("and %d more", len(fields)-i))
			break
		}
		var f field
		f.Field = printable(d.name, 200)
		if d.mark != "added" {
			f.Before = block(d.before, previewShown)
		}
		if d.mark != "removed" {
			f.After = block(d.after, previewShown)
		}
		list = append(list, f)
		is := f.Field + ": "
		switch d.mark {
		case "added":
			is += f.After
		case "removed":
			is += f.Before + " is gone"
		default:
			is += f.Before + " → " + f.After
		}
		lines = append(lines, is)
	}
	return cell{Text: strings.Join(lines, "\n"), value: list}
}

func (q *request) changes(t look.Table, older, newer *cow.Snapshot) section {
	list := section{Columns: []column{{"key", false}, {"what", false}, {"revision before", true}, {"revision", true}, {"bytes before", true}, {"bytes", true}}}
	if q.o.Value != nil {
		list.Columns = append(list.Columns, column{"difference", false})
	}
	was, is := t.In(older), t.In(newer)
	n := 0
	next, stop := iter.Pull2(is.Diff(was))
	defer stop()
	for n < diffCounted {
		old, row, ok := next()
		if !ok {
			break
		}
		if n++; n > diffShown {
			continue
		}
		cells := make([]cell, len(list.Columns))
		at, some := newer, row
		switch {
		case old == nil:
			cells[1] = cell{Text: "added", Mark: "added"}
		case row == nil:
			cells[1] = cell{Text: "removed", Mark: "removed"}
			at, some = older, old
		default:
			cells[1] = cell{Text: "changed", Mark: "changed"}
		}
		cells[0] = q.keyCell(at, t, *some)
		if old != nil {
			cells[2], cells[4] = q.versionCell(old.Revision), size(old.Bytes)
		}
		if row != nil {
			cells[3], cells[5] = q.versionCell(row.Revision), size(row.Bytes)
		}
		if q.o.Value != nil {
			cells[6] = differenceCell(q.difference(t, old, row))
		}
		list.Rows = append(list.Rows, cells)
	}
	switch {
	case n == diffCounted:
		list.Notes = []string{fmt.Sprintf("The first %d rows of %s or more.", diffShown, grouped(strconv.Itoa(n)))}
	case n > diffShown:
		list.Notes = []string{fmt.Sprintf("The first %d rows of %s.", diffShown, grouped(strconv.Itoa(n)))}
	}
	return list
}
