// Package records reads what a benchmark is to be run on: the memories of an
// agent, in the format of memory.Snapshot.Export, and queries for them, with what
// they have to find.
package records

import (
	"bufio"
	"bytes"
	_ "embed" // the example
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/cowstore/cowstore/memory"
)

// Record is an entry of a memory.
type Record struct {
	Space  []string
	Key    string
	Value  any       // as memory.Memory.Import has it; nil if there is none, too
	Vector []float32 // as it was written, of whatever length; nil: none
}

// Query is a question to one space: for what is under a key, or which texts match.
type Query struct {
	Space    []string
	Key      string   // if Text is empty
	Text     string   // to be searched for; empty: a lookup of Key
	Relevant []string // the keys of what a search for Text has to find
}

// The errors, to be tested with errors.Is.
var (
	ErrEmpty     = errors.New("no records")
	ErrNoQueries = errors.New("no queries")

	// ErrMalformed says that a line is no query. The error says which one and why.
	ErrMalformed = errors.New("malformed query")
)

// Load returns the records that r has, as JSON Lines, ordered by space and key.
// Of several with one key the last counts. What has expired is left out. It
// returns the errors of memory.Memory.Import, which say in which line they are,
// those of r, and ErrEmpty.
func Load(r io.Reader) ([]Record, error) {
	m := memory.New(memory.Options{NoText: true})
	if _, err := m.Import(r); err != nil {
		return nil, err
	}
	var all []Record
	s := m.Load()
	for path := range s.Spaces(memory.SpacesOptions{}) {
		view := s.Space(path...)
		for e := range view.List(memory.ListOptions{}) {
			v, _ := view.Vector(e.Key)
			all = append(all, Record{path, e.Key, e.Value.Any(), v})
		}
	}
	if len(all) == 0 {
		return nil, ErrEmpty
	}
	return all, nil
}

// maxLine is how long a line may be.
const maxLine = 1 << 20

// Queries returns the queries that r has, as JSON Lines, in their order:
//
//	{"space":["user","42"],"key":"name"}
//	{"space":["user","42"],"text":"train to Lyon","relevant":["trip","seat"]}
//
// Empty lines are skipped. A line that is not such a query, has other members, or is longer
// than 1 MiB, is an error that wraps ErrMalformed. So is a query for what is not among the
// records: a space, a key, or a relevant one. Queries also returns the errors of r, and
// ErrNoQueries.
func Queries(r io.Reader, records []Record) (all []Query, err error) {
	known := map[string]bool{}
	for _, r := range records {
		known[id(r.Space, r.Key)] = true
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		q, err := parse(lines.Bytes())
		if err == nil {
			for _, key := range q.wanted() {
				if !known[id(q.Space, key)] {
					err = fmt.Errorf("no record of space %q has key %q", q.Space, key)
				}
			}
		}
		if err != nil {
			return nil, fmt.Errorf("records: line %d: %w: %w", n, ErrMalformed, err)
		}
		all = append(all, q)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("records: %w: a line is longer than %d bytes", ErrMalformed, maxLine)
	case err != nil:
		return nil, fmt.Errorf("records: %w", err)
	case len(all) == 0:
		return nil, ErrNoQueries
	}
	return all, nil
}

func id(space []string, key string) string { return fmt.Sprintf("%q %q", space, key) }

// wanted returns the keys that q has to find.
func (q *Query) wanted() []string {
	if q.Text == "" {
		return []string{q.Key}
	}
	return q.Relevant
}

// parse returns the query in a line.
func parse(line []byte) (Query, error) {
	var has struct {
		Space     *[]string
		Key, Text *string
		Relevant  []string
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&has); err != nil {
		return Query{}, err
	}
	switch {
	case d.More():
		return Query{}, errors.New("more than one value")
	case has.Space == nil:
		return Query{}, errors.New("no space")
	case (has.Key == nil) == (has.Text == nil):
		return Query{}, errors.New("either key or text must be there")
	case has.Key != nil && has.Relevant != nil:
		return Query{}, errors.New("relevant without text")
	case has.Key != nil:
		return Query{Space: *has.Space, Key: *has.Key}, nil
	case strings.TrimSpace(*has.Text) == "":
		return Query{}, errors.New("text is empty")
	case len(has.Relevant) == 0:
		return Query{}, errors.New("nothing is relevant to text")
	}
	return Query{Space: *has.Space, Text: *has.Text, Relevant: has.Relevant}, nil
}

var (
	//go:embed testdata/assistant.jsonl
	exampleRecords []byte
	//go:embed testdata/assistant.queries.jsonl
	exampleQueries []byte
)

// Example returns the records and queries of a small example: what an assistant
// knows of a few people.
func Example() ([]Record, []Query, error) { return read(exampleRecords, exampleQueries) }

// Read returns the records and queries of two files, or the example if both names are
// empty. Its errors name the file.
func Read(records, queries string) ([]Record, []Query, error) {
	if records == "" && queries == "" {
		return Example()
	}
	r, err := os.ReadFile(records)
	if err != nil {
		return nil, nil, err
	}
	q, err := os.ReadFile(queries)
	if err != nil {
		return nil, nil, err
	}
	all, asked, err := read(r, q)
	if err != nil {
		err = fmt.Errorf("%s, %s: %w", records, queries, err)
	}
	return all, asked, err
}

func read(records, queries []byte) ([]Record, []Query, error) {
	all, err := Load(bytes.NewReader(records))
	if err != nil {
		return nil, nil, err
	}
	asked, err := Queries(bytes.NewReader(queries), all)
	return all, asked, err
}

// Recall returns which part of the relevant keys is among those found, from 0 to 1.
// There must be some.
func Recall(found, relevant []string) float64 {
	n := 0
	for _, key := range relevant {
		if slices.Contains(found, key) {
			n++
		}
	}
	return float64(n) / float64(len(relevant))
}
