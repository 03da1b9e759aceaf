// Package inspect shows a DB in a browser: its tables and rows, the line of its versions, what
// changed between two of them, and what keeps memory in use.
//
//	mux.Handle("/debug/cow/", http.StripPrefix("/debug/cow", inspect.Handler(db, inspect.Options{})))
//
// The address of each page has the lineage and the version in it. So somebody who is sent an
// address sees what the sender saw: the row as it was at that version. If the version is no longer
// retained, the page says so, and which one is next to it.
//
// Other packages add pages about what they keep in the tables, as package memory/inspect does: see
// [Part].
//
// The pages only read, and need no script. They show keys, types and sizes, but no values: see
// [Options].
//
// The program decides who may see the pages: put the Handler behind a handler that authenticates.
// It checks neither a token nor the host of a request. Even if it listens on the local host only, a
// web page can reach it by a name that resolves to that address (DNS rebinding), and with
// Options.Value that shows what is stored.
//
// # Addresses
//
// A page is HTML, JSON or text. The parameter ?format=html, json or text decides, or else what the
// request accepts; without either it is text, as for curl. Relative to where the Handler is, the
// pages are
//
//	                                      what there is now
//	l/LINEAGE/v/VERSION                   a version; ?with=VERSION goes to what differs in another
//	l/LINEAGE/v/VERSION/tables/TABLE      rows of a table; ?key=KEY redirects to a row, ?index=NAME: by an index
//	l/LINEAGE/v/VERSION/tables/TABLE/KEY  a row, and what it was before
//	l/LINEAGE/v/VERSION/PART/…            pages of a Part
//	l/LINEAGE/diff/FROM/TO                what differs in two versions
//
// The rows of a table are listed in an arbitrary order, which is the same on all its pages; those
// of an index are in its order.
//
// In JSON a page is an object of its sections by name: facts by name, rows by column, the address
// of each row, and links by text. Addresses are relative to where the Handler is. Numbers, also of
// bytes, are JSON numbers, and times are as in RFC 3339. History is a list, the newest first.
//
// # Reading the source
//
// From the ground up: address.go, what an address says; page.go, what a page is made of; render.go,
// how it becomes HTML, JSON or text; pages.go and rows.go, the pages; part.go, those of others.
package inspect

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cowstore/cowstore/cow"
	"github.com/cowstore/cowstore/cow/hook"
	"github.com/cowstore/cowstore/cow/internal/look"
)

// Options say what pages show. The zero Options are ready for use.
type Options struct {
	// Title is the title of the pages; "" means cowstore.
	Title string

	// Value returns what is shown of a value of a table: a string, or anything that encoding/json
	// can encode. The value is isolated, as the Options of the table say. A nil Value shows only
	// the type and the size; JSON shows all. Errors and panics may contain values and keys: they
	// are shown in full only with Value and without Digest.
	Value func(table string, value any) any

	// Digest, if it is not empty, is a secret of any length. Pages then show a digest in place of
	// each key. In addresses keys are encrypted, so that only their length can be seen. Pages do
	// not offer to look up a key then.
	Digest []byte

	// Slow is the least time that an update takes to be listed among the slow ones. Handler adds a
	// hook to the DB for the list, and never removes it. 0 means no list.
	Slow time.Duration

	// Parts add pages of other packages, such as those of memory/inspect.
	Parts []Part
}

// JSON is a function for Options.Value that shows whole values.
func JSON(_ string, value any) any { return value }

// Handler returns the pages about db. They work under any prefix that http.StripPrefix takes off.
// The Handler is safe for concurrent use, and never panics for a request. The function Handler
// panics if two Parts have the same name, or one has the name "tables".
func Handler(db *cow.DB, o Options) http.Handler {
	checkParts(o.Parts)
	h := &handler{db: db, tables: look.For(db), o: o, keys: newSealer(o.Digest)}
	h.o.Title = cmp.Or(o.Title, "cowstore")
	if o.Slow > 0 {
		h.slow = &slow{atLeast: o.Slow}
		db.AddHook(h.slow)
	}
	return h
}

type handler struct {
	db     *cow.DB
	tables look.DB
	o      Options
	keys   *sealer // nil: keys are shown
	slow   *slow   // nil: there is no list
}

// ServeHTTP answers a request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "same-origin")
	head.Set("Vary", "Accept")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		head.Set("Allow", "GET, HEAD")
		http.Error(w, "these pages only read", http.StatusMethodNotAllowed)
		return
	}
	path := strings.TrimPrefix(r.URL.Path, "/")
	switch path {
	case styleName:
		head.Set("Content-Type", "text/css; charset=utf-8")
		head.Set("Cache-Control", "public, max-age=31536000, immutable")
		_, _ = w.Write(style)
		return
	case "icon.svg":
		head.Set("Content-Type", "image/svg+xml")
		head.Set("Cache-Control", "public, max-age=86400")
		_, _ = w.Write(icon)
		return
	}
	form, err := formatOf(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	q := &request{handler: h, Request: r, now: time.Now()}
	if path != "" {
		q.segments = strings.Split(path, "/")
	}
	p, err := q.answer()
	if to := new(redirect); errors.As(err, &to) {
		head.Set("Location", to.to) // relative to the address that the browser knows
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	if err != nil {
		p = q.failure(err)
	}
	body, err := form.render(q, p)
	if err != nil {
		http.Error(w, "the page cannot be shown", http.StatusInternalServerError)
		return
	}
	head.Set("Content-Type", form.mime)
	// What a version had never changes, but it may be erased: so a browser asks each time.
	head.Set("Cache-Control", "private, no-cache")
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256(body))
	head.Set("ETag", tag)
	if p.status == 0 {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
		return
	}
	head.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(p.status)
	_, _ = w.Write(body)
}

// A request is one that is being answered.
type request struct {
	*handler
	*http.Request
	segments []string
	now      time.Time

	oldest, latest uint64          // of the versions that are retained, and the current one
	pinned         map[uint64]bool // nil: nobody has asked for any of these yet
}

// A redirect is an error that sends to another page.
type redirect struct{ to string }

func (r *redirect) Error() string { return "see " + r.to }

// A problem is an error that is shown.
type problem struct {
	status int
	text   string
	links  []link
}

func (p *problem) Error() string { return p.text }

func missing(format string, args ...any) error {
	return &problem{status: http.StatusNotFound, text: fmt.Sprintf(format, args...)}
}

// failure returns the page of an error.
func (q *request) failure(err error) *page {
	var is *problem
	if !errors.As(err, &is) {
		is = &problem{status: http.StatusInternalServerError, text: q.errorText(err)}
	}
	p := q.page(http.StatusText(is.status))
	p.status = is.status
	p.Sections = []section{{ID: "error", Notes: []string{is.text}, Links: append(is.links, link{"what there is now", q.to()})}}
	return p
}

// known are the errors that are named whatever is shown.
var known = []error{cow.ErrClosed, cow.ErrUnknownOutcome, cow.ErrSuperseded, cow.ErrTxEnded, cow.ErrConflict, cow.ErrExists,
	cow.ErrCompacted, cow.ErrLineage, cow.ErrSchema, cow.ErrTooDeep, hook.ErrPanicked, hook.ErrAborted, context.Canceled, context.DeadlineExceeded}

// A fixed error has the same text always, as those that cow/bolt declares.
type fixed interface {
	error
	Sentinel()
}

// errorText returns what is shown of an error, which may have values and keys in its text.
func (q *request) errorText(err error) string {
	if q.o.Value != nil && q.keys == nil {
		return printable(err.Error(), 1000)
	}
	for _, is := range known {
		if errors.Is(err, is) {
			return is.Error()
		}
	}
	var is fixed
	if errors.As(err, &is) {
		return printable(is.Error(), 1000)
	}
	var system syscall.Errno // such as that of a disk
	if errors.As(err, &system) {
		return printable(system.Error(), 1000)
	}
	return fmt.Sprintf("an error of type %T", err)
}

// panicked returns what is shown of a panic of a function of the program.
func (q *request) panicked(r any) string {
	const text = "a function of the program panicked"
	if q.o.Value != nil && q.keys == nil {
		return text + ": " + printable(fmt.Sprint(r), 1000)
	}
	return fmt.Sprintf("%s with a %T", text, r)
}

// answer returns the page that a request is for.
func (q *request) answer() (p *page, err error) {
	defer func() {
		if r := recover(); r != nil { // of a program's function: of an index, say
			p, err = nil, &problem{status: http.StatusInternalServerError, text: q.panicked(r)}
		}
	}()
	s := q.segments
	if len(s) == 0 {
		return q.overview()
	}
	if s[0] != "l" || len(s) < 2 {
		return nil, missing("there is no such page")
	}
	if is := q.db.Lineage().ID; s[1] != is {
		return nil, missing("this is the line of versions %s, and not %.100q", is, s[1])
	}
	switch {
	case len(s) == 2:
		return q.overview()
	case s[2] == "diff" && len(s) == 5:
		older, err := q.version(s[3])
		if err != nil {
			return nil, err
		}
		newer, err := q.version(s[4])
		if err != nil {
			return nil, err
		}
		return q.diff(older, newer)
	case s[2] != "v" || len(s) < 4:
		return nil, missing("there is no such page")
	}
	at, err := q.version(s[3])
	if err != nil {
		return nil, err
	}
	if len(s) == 4 {
		return q.snapshot(at)
	}
	if s[4] != tablesPart {
		return q.partOf(at, s[4], s[5:])
	}
	if len(s) < 6 || len(s) > 7 {
		return nil, missing("there is no such page")
	}
	name, ok := unescape(s[5])
	tables := q.tables.Tables()
	i := slices.IndexFunc(tables, func(t look.Table) bool { return t.Name() == name })
	if !ok || i < 0 {
		return nil, missing("there is no such table")
	}
	t := tables[i]
	if len(s) == 6 {
		return q.table(at, t)
	}
	return q.row(at, t, s[6])
}

// version returns the snapshot of a version, as an address has it.
func (q *request) version(text string) (*cow.Snapshot, error) {
	version, err := strconv.ParseUint(text, 10, 64)
	if err != nil || strconv.FormatUint(version, 10) != text {
		return nil, missing("%.100q is not a version", text)
	}
	s, err := q.db.At(version)
	switch {
	case err == nil:
		return s, nil
	case errors.Is(err, cow.ErrUnpublished):
		is := q.db.Load().Version()
		return nil, &problem{http.StatusNotFound, fmt.Sprintf("version %d is not there yet: the latest is %d", version, is), []link{q.versionLink(is)}}
	case errors.Is(err, cow.ErrCompacted):
		is := q.nearest(version)
		return nil, &problem{http.StatusGone, fmt.Sprintf("version %d is no longer retained: the nearest is %d", version, is), []link{q.versionLink(is)}}
	}
	return nil, err
}

// nearest returns the version that is there and nearest to one that is not.
func (q *request) nearest(version uint64) uint64 {
	nearest := q.db.Load().Version()
	closer := func(is uint64) {
		if max(is, version)-min(is, version) < max(nearest, version)-min(nearest, version) {
			nearest = is
		}
	}
	for is := range q.db.Versions() {
		closer(is)
	}
	for _, s := range q.db.Pins() {
		closer(s.Version())
	}
	return nearest
}

// A slow is a hook that keeps the slowest updates of late.
type slow struct {
	atLeast time.Duration
	mu      sync.Mutex
	all     []slowUpdate // the slowest first
}

type slowUpdate struct {
	hook.Update
	ended time.Time
	took  time.Duration
}

const (
	slowest = 20        // are kept
	late    = time.Hour // for so long
)

func (s *slow) OnUpdateEnd(_ context.Context, u hook.Update) {
	took := u.Wait + u.Run + u.Sink
	if took < s.atLeast {
		return
	}
	u.Tables = nil // which keeps two versions
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.forget(now)
	i, _ := slices.BinarySearchFunc(s.all, took, func(u slowUpdate, took time.Duration) int { return cmp.Compare(took, u.took) })
	s.all = slices.Insert(s.all, i, slowUpdate{u, now, took})
	s.all = s.all[:min(len(s.all), slowest)]
}

func (s *slow) forget(now time.Time) {
	s.all = slices.DeleteFunc(s.all, func(u slowUpdate) bool { return now.Sub(u.ended) > late })
}

// list returns the slowest updates.
func (s *slow) list() []slowUpdate {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(time.Now())
	return slices.Clone(s.all)
}
